//! Passes that simplify preserve the behaviour of random programs, alone and in random pipelines.

use loomir_tests::everyday::{PASSES, Tally, run};

#[test]
fn simplified_programs_do_the_same() {
    let mut tally = Tally::default();
    run(5, (0, 40), &mut tally).unwrap_or_else(|error| panic!("{error}"));
    assert!(tally.compared > 200 && tally.proved > 0, "{tally:?}");
    assert!(PASSES.iter().all(|pass| tally.changed.contains_key(*pass)), "{tally:?}");
}

mod elsewhere {
    //! A dialect of another crate, which declares what inlining asks for.

    use loomir::dialects::cf::BranchOp;
    use loomir::dialects::interfaces::{CallLike, FunctionLike, ReturnAsBranch};
    use loomir::ir::{Attr, Block, OpRef, OperationState, Region, Registry, Type, Value, dialect};

    dialect! {
        /// Functions of a toy.
        pub TOY = "toy" {}

        /// A function.
        FnOp = "fn" {
            attrs { sym_name: Required String, sym_visibility: Optional String }
            regions { body: Any }
            traits [IsolatedFromAbove, Symbol]
        }

        /// A call.
        RunOp = "run" {
            operands { inputs: Variadic Any }
            results { outputs: Variadic Any }
            attrs { callee: Required FlatSymbol }
        }

        /// The end of a function.
        GiveOp = "give" {
            operands { values: Variadic Any }
            traits [Pure, ReturnLike, Terminator]
        }

        /// Says nothing about itself.
        SilentOp = "silent" {}
    }

    struct Fn;

    impl FunctionLike for Fn {
        fn signature(&self, op: OpRef<'_>) -> (Vec<Type>, Vec<Type>) {
            let body = op.body();
            let entry = body.entry_block(op.region(0));
            let types = entry.into_iter().flat_map(|block| body.arguments(block));
            (types.map(|value| body.value_type(value)).collect(), Vec::new())
        }

        fn body(&self, op: OpRef<'_>) -> Region {
            op.region(0)
        }
    }

    struct Run;

    impl CallLike for Run {
        fn callee(&self, op: OpRef<'_>) -> Option<Attr> {
            op.attr("callee")
        }

        fn arguments(&self, op: OpRef<'_>) -> Vec<Value> {
            op.operands().collect()
        }
    }

    struct Give;

    impl ReturnAsBranch for Give {
        fn branch(&self, op: OpRef<'_>, target: Block, operands: &[Value]) -> OperationState {
            OperationState::of(op.ctx(), BranchOp::DEF, op.loc()).operands(operands).successors(&[target])
        }
    }

    /// Registers the dialect.
    pub(crate) fn register(registry: &mut Registry) {
        registry.dialect(&TOY);
        registry.attach_to::<dyn FunctionLike>(FnOp::DEF, Box::new(Fn));
        registry.attach_to::<dyn CallLike>(RunOp::DEF, Box::new(Run));
        registry.attach_to::<dyn ReturnAsBranch>(GiveOp::DEF, Box::new(Give));
    }
}

/// A function of another crate's dialect is inlined into a function of `func`. An operation that
/// declares nothing keeps its function.
#[test]
fn a_dialect_elsewhere_is_inlined_by_what_it_declares() {
    let source = r#"
"toy.fn"() ({
^bb0(%x: i32, %c: i1):
  cf.cond_br %c, ^one, ^two
^one:
  %0 = arith.addi %x, %x : i32
  "toy.give"(%0) : (i32) -> ()
^two:
  "toy.give"(%x) : (i32) -> ()
}) {sym_name = "choose", sym_visibility = "private"} : () -> ()
"toy.fn"() ({
  "toy.silent"() : () -> ()
  "toy.give"() : () -> ()
}) {sym_name = "quiet", sym_visibility = "private"} : () -> ()
func.func @entry(%x: i32, %c: i1) -> i32 {
  %0 = "toy.run"(%x, %c) {callee = @choose} : (i32, i1) -> i32
  "toy.run"() {callee = @quiet} : () -> ()
  return %0 : i32
}"#;
    let pipeline = loomir::Pipeline::new().dialect(elsewhere::register);
    let program = pipeline.passes("inline{default-pipeline=none}").run(source, "toy.mlir");
    let program = program.unwrap_or_else(|failed| panic!("{failed}"));
    insta::assert_snapshot!(program.to_mlir(), @r#"
    module {
      "toy.fn"() <{sym_name = "quiet", sym_visibility = "private"}> ({
        "toy.silent"() : () -> ()
        "toy.give"() : () -> ()
      }) : () -> ()
      func.func @entry(%arg0: i32, %arg1: i1) -> i32 {
        cf.cond_br %arg1, ^bb1, ^bb2
      ^bb1:  // pred: ^bb0
        %0 = arith.addi %arg0, %arg0 : i32
        cf.br ^bb3(%0 : i32)
      ^bb2:  // pred: ^bb0
        cf.br ^bb3(%arg0 : i32)
      ^bb3(%1: i32):  // 2 preds: ^bb1, ^bb2
        "toy.run"() <{callee = @quiet}> : () -> ()
        return %1 : i32
      }
    }
    "#);
}

/// Functions that call the one before them twice would grow without end.
#[test]
fn inlining_stops_at_a_limit() {
    let mut source =
        "func.func @f0(%x: i32) -> i32 {\n  %0 = arith.addi %x, %x : i32\n  return %0 : i32\n}\n".to_owned();
    for number in 1..40 {
        let before = number - 1;
        source += &format!(
            "func.func @f{number}(%x: i32) -> i32 {{
  %0 = call @f{before}(%x) : (i32) -> i32
  %1 = call @f{before}(%0) : (i32) -> i32
  return %1 : i32\n}}\n"
        );
    }
    let program = loomir::Pipeline::new().passes("inline{max-callee-ops=100000}").run(&source, "grows.mlir");
    let program = program.unwrap_or_else(|failed| panic!("{failed}"));
    let text = program.to_mlir();
    assert!((1_000..30_000).contains(&text.lines().count()), "{}", text.lines().count());
    assert!(text.contains("call @f"));
}
