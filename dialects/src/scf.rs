//! The `scf` dialect: loops and branches as operations with regions.
//!
//! Values flow into a region as block arguments (`iter_args`) and out of it through the operands of
//! its terminator. `scf.for` counts in the integers: its induction variable takes
//! `lower, lower + step, …` while below `upper`. A step that is not positive, or a sum that
//! overflows, is undefined behaviour.

use loomir_ir::{Builder, InsertPoint, Registry, Type, Value, dialect};

pub(crate) mod evaluate;
pub mod forall;
mod interfaces;
pub(crate) mod patterns;
mod syntax;
mod verify;

dialect! {
    /// Structured control flow: loops and branches as operations with regions.
    pub SCF = "scf" {}

    /// Ends the first region of `scf.while`. The loop continues with its second region if the
    /// condition is true, else it ends. The other operands are passed on in both cases.
    ConditionOp = "condition" {
        operands { condition: One I1, args: Variadic Any }
        traits [Pure, Terminator]
        format "`(` $condition `)` attr-dict ($args^ `:` type($args))?"
        verify verify::verify_condition;
    }

    /// Executes its region once; the region may hold any number of blocks.
    ExecuteRegionOp = "execute_region" {
        results { results: Variadic Any }
        attrs { no_inline: Optional Unit }
        regions { region: Any }
        traits [RecursiveMemoryEffects]
        syntax (syntax::parse_execute_region, syntax::print_execute_region);
        verify verify::verify_execute_region;
    }

    /// A counted loop. The first argument of its body is the induction variable, the others are
    /// carried: they start as `initArgs`, `scf.yield` gives their next values, and the last ones
    /// are the results.
    ForOp = "for" {
        operands {
            lowerBound: One SignlessIntegerOrIndex,
            upperBound: One SameAs("lowerBound"),
            step: One SameAs("lowerBound"),
            initArgs: Variadic Any,
        }
        results { results: Variadic Any }
        attrs { unsignedCmp: Optional Unit }
        regions { region: SingleBlock }
        traits [AutomaticAllocationScope, RecursiveMemoryEffects]
        syntax (syntax::parse_for, syntax::print_for);
        verify verify::verify_for;
    }

    /// A parallel loop of any number of dimensions whose iterations may run in any order. Bounds
    /// are constants or values; a static entry of [`DYNAMIC`](loomir_ir::DYNAMIC) stands for the
    /// next value. Tensors in `outputs` are shared and combined by `scf.forall.in_parallel`.
    ForallOp = "forall" {
        operands {
            dynamicLowerBound: Variadic Index,
            dynamicUpperBound: Variadic Index,
            dynamicStep: Variadic Index,
            outputs: Variadic Tensor,
        }
        results { results: Variadic Any }
        attrs {
            staticLowerBound: Required DenseArray(Type::I64),
            staticUpperBound: Required DenseArray(Type::I64),
            staticStep: Required DenseArray(Type::I64),
            mapping: Optional Array,
        }
        regions { region: SingleBlock }
        traits [AttrSizedOperandSegments, AutomaticAllocationScope, RecursiveMemoryEffects]
        syntax (syntax::parse_forall, syntax::print_forall);
        verify verify::verify_forall;
    }

    /// Ends the body of `scf.forall`. Its region combines the results of the iterations.
    InParallelOp = "forall.in_parallel" {
        regions { region: SingleBlock }
        traits [Pure, Terminator, NoTerminator, GraphRegion]
        syntax (syntax::parse_in_parallel, syntax::print_in_parallel);
        verify verify::verify_in_parallel;
    }

    /// Executes its first region if the condition is true, else its second, which may be missing if
    /// there are no results.
    IfOp = "if" {
        operands { condition: One I1 }
        results { results: Variadic Any }
        regions { thenRegion: SingleBlock, elseRegion: AtMostOneBlock }
        traits [RecursiveMemoryEffects]
        syntax (syntax::parse_if, syntax::print_if);
        verify verify::verify_if;
    }

    /// A parallel loop of any number of dimensions with reductions. Iterations may run in any
    /// order. `scf.reduce` combines their yielded values with `initVals`.
    ParallelOp = "parallel" {
        operands {
            lowerBound: Variadic Index,
            upperBound: Variadic Index,
            step: Variadic Index,
            initVals: Variadic Any,
        }
        results { results: Variadic Any }
        regions { region: SingleBlock }
        traits [AutomaticAllocationScope, AttrSizedOperandSegments, RecursiveMemoryEffects]
        syntax (syntax::parse_parallel, syntax::print_parallel);
        verify verify::verify_parallel;
    }

    /// Ends the body of `scf.parallel`. Each operand has a region that combines two partial
    /// results.
    ReduceOp = "reduce" {
        operands { operands: Variadic Any }
        regions { reductions: SingleBlock variadic }
        traits [Terminator, RecursiveMemoryEffects]
        syntax (syntax::parse_reduce, syntax::print_reduce);
        verify verify::verify_reduce;
    }

    /// Ends a region of `scf.reduce` with the combined value.
    ReduceReturnOp = "reduce.return" {
        operands { result: One Any }
        traits [Pure, Terminator]
        format "$result attr-dict `:` type($result)"
        verify verify::verify_reduce_return;
    }

    /// A loop of two regions. The first computes the condition (`scf.condition`). The second is the
    /// body and yields the arguments of the first.
    WhileOp = "while" {
        operands { inits: Variadic Any }
        results { results: Variadic Any }
        regions { before: SingleBlock, after: SingleBlock }
        traits [RecursiveMemoryEffects]
        syntax (syntax::parse_while, syntax::print_while);
        verify verify::verify_while;
    }

    /// Executes the region of the case that equals its operand, or the default region.
    IndexSwitchOp = "index_switch" {
        operands { arg: One Index }
        results { results: Variadic Any }
        attrs { cases: Required DenseArray(Type::I64) }
        regions { defaultRegion: SingleBlock, caseRegions: SingleBlock variadic }
        traits [RecursiveMemoryEffects]
        syntax (syntax::parse_index_switch, syntax::print_index_switch);
        verify verify::verify_index_switch;
    }

    /// Ends a region, handing its operands to the operation around it.
    YieldOp = "yield" {
        operands { results: Variadic Any }
        traits [Pure, ReturnLike, Terminator]
        format "attr-dict ($results^ `:` type($results))?"
        verify verify::verify_yield;
    }
}

impl ForOp {
    /// Makes a loop from `lower` to `upper`, which is not reached. `fill` makes its body: it gets
    /// the induction variable and the carried values, and returns the next carried values.
    pub fn build_with(
        builder: &mut Builder<'_>,
        [lower, upper, step]: [Value; 3],
        inits: &[Value],
        fill: impl FnOnce(&mut Builder<'_>, Value, &[Value]) -> Vec<Value>,
    ) -> ForOp {
        let mut arguments = vec![builder.type_of(lower)];
        arguments.extend(inits.iter().map(|init| builder.type_of(*init)));
        let operands = [&[lower, upper, step], inits].concat();
        let state = builder.state(Self::DEF).operands(&operands).results(&arguments[1..]);
        let target = ForOp(builder.insert(state));
        let body = builder.body();
        let block = body.append_block(target.region(body), &arguments);
        let values: Vec<Value> = body.arguments(block).collect();
        let around = builder.set_point(InsertPoint::End(block));
        let next = fill(builder, values[0], &values[1..]);
        YieldOp::build(builder, &next);
        builder.set_point(around);
        target
    }
}

/// Registers the dialect and its interfaces.
pub fn register(registry: &mut Registry) {
    registry.dialect(&SCF);
    evaluate::register(registry);
    interfaces::register(registry);
    registry.patterns(patterns::PATTERNS);
}
