//! `scf-parallel-to-threads`: runs parallel loops on the threads of an OpenMP run-time.
//!
//! The body of a loop moves to a private function over a range of iterations, and a call of the
//! whole range takes the place of the loop. The call is marked: threads may share its range. That
//! is a permission, so the program means the same without it, and the interpreter runs the call as
//! it stands. The [conversion to LLVM](crate::to_llvm::threads) makes the threads.
//!
//! | module | holds |
//! | --- | --- |
//! | `range` | one counter for several dimensions, and loops over a part of its range |
//! | `reduction` | loops with results as loops over chunks of iterations |
//! | `outline` | the function of a loop, and the call |
//!
//! Only outermost parallel loops are taken. A parallel loop inside of another one stays in the
//! function, where it becomes sequential.
//!
//! **Assumptions.**
//! - Iterations of `scf.parallel` and `scf.forall` may run at the same time: that is their meaning.
//! - A loop uses thread-local variables of the thread that reaches it, as it does when one thread
//!   runs it. Tried in `fixtures/threads/thread_local.mlir`.
//! - A reduction may be combined in another order only if its operation is associative and
//!   commutative. Otherwise the loop stays. Tried in `fixtures/threads/refused.mlir`.
//! - Counters are 64 bits wide. Dimensions share a counter only if all but the first have a
//!   constant trip count, and the product is constant and fits. Tried in
//!   `fixtures/threads/extremes.mlir`.
//!
//! **Cost.** Linear in the operations.

use hashbrown::HashSet;
use loomir_dialects::scf::forall::{self, Number};
use loomir_dialects::{func, scf};
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::symbols::symbol_name;
use loomir_ir::{Body, Diagnostic, Diagnostics, Name, Op, Trait};
use loomir_transforms::remark::Remarks;

use crate::scf_to_cf::parallel::forall_to_parallel;
use range::Counter;
use reduction::Combination;

mod outline;
mod range;
mod reduction;

/// The pass `scf-parallel-to-threads`.
pub const PASS: PassInfo = PassInfo {
    name: "scf-parallel-to-threads",
    anchor: Some("builtin.module"),
    summary: "Runs parallel loops on the threads of an OpenMP run-time",
    options: &[],
    make: |_| Ok(Box::new(ToThreads)),
};

struct ToThreads;

impl Pass for ToThreads {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        body.for_each_body(&mut |body| {
            if body.has_trait(body.root(), Trait::SymbolTable) {
                parallel_to_threads(body).into_iter().for_each(|remark| cx.remark(remark));
            }
        });
        Ok(())
    }
}

/// Runs the parallel loops in the functions of a symbol table on threads. Returns a remark about
/// each loop. The result computes the same.
pub fn parallel_to_threads(table: &mut Body) -> Diagnostics {
    let mut remarks = Diagnostics::new();
    let blocks = table.own_regions(table.root()).flat_map(|region| table.blocks(region));
    let ops: Vec<Op> = blocks.flat_map(|block| table.ops(block)).collect();
    let mut names = Names {
        taken: ops
            .iter()
            .filter_map(|op| symbol_name(table, *op))
            .map(|n| table.ctx().str(n).into())
            .collect(),
    };
    let of_threads = OfThreads::of(table, &ops);
    for op in ops.into_iter().filter(|op| table.is(*op, func::FuncOp::DEF)).collect::<Vec<_>>() {
        let Some(body) = table.nested_mut(op) else { continue };
        let functions = in_function(body, &mut names, &of_threads, &mut remarks);
        let mut last = op;
        for function in functions {
            let function = table.adopt(function);
            table.insert_after(last, function);
            last = function;
        }
    }
    remarks
}

/// Things that each thread has of its own.
struct OfThreads {
    /// The thread-local variables.
    variables: HashSet<Name>,
    /// The functions that use them, or call such functions.
    functions: HashSet<Name>,
}

impl OfThreads {
    /// Finds them in the operations of a symbol table. Linear in the operations for each call on
    /// the longest way to a variable.
    fn of(table: &Body, ops: &[Op]) -> OfThreads {
        let is_own = |op: &&Op| table.attr(**op, "thread_local_").is_some();
        let variables: HashSet<Name> =
            ops.iter().filter(is_own).filter_map(|op| symbol_name(table, *op)).collect();
        let mut own = OfThreads { variables, functions: HashSet::new() };
        while !own.variables.is_empty() {
            let uses = |op: &&Op| {
                let body = table.nested(**op);
                body.is_some_and(|body| body.all_ops().any(|inside| own.is_named(body, inside)))
            };
            let found = ops.iter().filter(uses).filter_map(|op| symbol_name(table, *op));
            let found: Vec<Name> = found.filter(|name| !own.functions.contains(name)).collect();
            if found.is_empty() {
                break;
            }
            own.functions.extend(found);
        }
        own
    }

    /// True if an operation names one of the variables or functions.
    fn is_named(&self, body: &Body, op: Op) -> bool {
        let named = |attr| body.attr(op, attr).and_then(|own| own.as_flat_symbol(body.ctx()));
        let names = ["global_name", "callee", "value"].map(named);
        names.iter().flatten().any(|name| self.variables.contains(name) || self.functions.contains(name))
    }

    /// Refuses a loop that uses such a function. Addresses of variables are taken before the loop.
    fn is_unused(&self, body: &Body, op: Op) -> Result<(), &'static str> {
        let is_used =
            |inside| self.is_named(body, inside) && !outline::is_address_of(body, inside, &self.variables);
        match body.preorder(op).any(is_used) {
            true => Err("a function that it uses has thread-local variables"),
            false => Ok(()),
        }
    }
}

/// The names of a symbol table.
struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// Returns a new name for loop `number` of a function.
    fn fresh(&mut self, function: &str, number: usize) -> String {
        let base = match number {
            0 => format!("{function}_parallel"),
            _ => format!("{function}_parallel_{number}"),
        };
        let mut name = base.clone();
        // There are fewer symbols than numbers.
        for number in 0..=self.taken.len() {
            if self.taken.insert(name.clone()) {
                break;
            }
            name = format!("{base}_{number}");
        }
        name
    }
}

/// A loop that goes to threads.
struct Loop {
    counter: Counter,
    combinations: Vec<Combination>,
}

/// Takes the outermost parallel loops of a function. Returns the new functions.
fn in_function(
    body: &mut Body,
    names: &mut Names,
    of_threads: &OfThreads,
    remarks: &mut Diagnostics,
) -> Vec<Body> {
    let loops = outermost(body, of_threads, remarks);
    if loops.is_empty() {
        return Vec::new();
    }
    let function = body.attr(body.root(), "sym_name").and_then(|name| name.as_str(body.ctx()));
    let function = function.unwrap_or_default().to_owned();
    let mut calls = Vec::with_capacity(loops.len());
    for (number, op) in loops.into_iter().enumerate() {
        // A loop before may have changed the values that bound this one.
        let Ok(Loop { counter, combinations }) = examined(body, op) else { continue };
        let is_forall = body.is(op, scf::ForallOp::DEF);
        let own = if is_forall { forall_to_parallel(body, op).ok() } else { Some(op) };
        let own = own.and_then(|op| reduction::in_chunks(body, op, counter, &combinations));
        if let Some((op, counter)) = own {
            outline::hoist_addresses(body, op, &of_threads.variables);
            calls.push((op, counter, names.fresh(&function, number)));
        }
    }
    let functions = outline::functions(body, &calls, &of_threads.variables);
    for ((op, counter, name), function) in calls.iter().zip(&functions) {
        outline::call(body, *op, counter, name, &function.captured);
    }
    functions.into_iter().map(|own| own.body).collect()
}

/// Returns the parallel loops of a function that go to threads: those outside of all others.
fn outermost(body: &Body, of_threads: &OfThreads, remarks: &mut Diagnostics) -> Vec<Op> {
    let said = Remarks { body, pass: PASS.name };
    let mut found = Vec::new();
    let mut open = vec![body.root()];
    while let Some(op) = open.pop() {
        if body.is(op, scf::ParallelOp::DEF) || body.is(op, scf::ForallOp::DEF) {
            match examined(body, op).and_then(|own| of_threads.is_unused(body, op).map(|()| own)) {
                Ok(own) => {
                    let text = match own.counter.dimensions() {
                        1 => "Iterations of the loop are shared among threads".to_owned(),
                        more => format!("Iterations of {more} dimensions are shared among threads"),
                    };
                    remarks.push(said.passed("Threaded", body.loc(op), &text));
                    found.push(op);
                    continue;
                }
                Err(why) => remarks.push(refusal(said, op, why)),
            }
        }
        let is_open = op == body.root() || matches!(dialect(body, op), "scf" | "affine" | "memref");
        if is_open && !body.is(op, scf::ReduceOp::DEF) {
            let regions = body.own_regions(op).flat_map(|region| body.blocks(region));
            let inside: Vec<Op> = regions.flat_map(|block| body.ops(block)).collect();
            open.extend(inside.into_iter().rev().filter(|op| body.own_regions(*op).len() > 0));
        }
    }
    found
}

fn dialect(body: &Body, op: Op) -> &str {
    body.ctx().str(body.info(op).dialect())
}

fn refusal(said: Remarks<'_>, op: Op, why: &'static str) -> Diagnostic {
    let loc = said.body.loc(op);
    said.missed("NotThreaded", loc, "Loop stays on one thread", why)
}

/// Returns a loop with its counter, or the reason why it cannot go to threads.
fn examined(body: &Body, op: Op) -> Result<Loop, &'static str> {
    let view = body.op_ref(op);
    let block = body.single_block(body.region(op, 0)).ok_or("its body is no single block")?;
    let end = body.last_op(block).ok_or("its body is empty")?;
    let (dimensions, combinations) = if body.is(op, scf::ForallOp::DEF) {
        let mut inside = body.own_regions(end).flat_map(|region| body.blocks(region));
        if body.num_results(op) > 0 || inside.any(|block| body.first_op(block).is_some()) {
            return Err("it makes tensors; bufferize the program first");
        }
        (forall::dimensions(view), Vec::new())
    } else {
        let groups = ["lowerBound", "upperBound", "step"].map(|name| view.operand_group(name));
        let [lowers, uppers, steps] = groups.map(|own| own.into_iter().map(Number::Value));
        let dimensions = lowers.zip(uppers).zip(steps).map(|((lower, upper), step)| [lower, upper, step]);
        (dimensions.collect(), Combination::all(body, op, end)?)
    };
    if dimensions.is_empty() || dimensions.len() != body.num_arguments(block) {
        return Err("its bounds do not match its variables");
    }
    Ok(Loop { counter: Counter::of(body, dimensions)?, combinations })
}
