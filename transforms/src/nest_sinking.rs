//! Sinking into nests: a loop around one other loop becomes a perfect nest.
//!
//! ```text
//!     for i {                       for i {
//!       x = i * n                     for j {
//!       for j { a[x + j] = 0 }  ──>     x = i * n
//!     }                                 a[x + j] = 0
//!                                     } }
//! ```
//!
//! Compilers compute what an inner loop does not change before that loop. Interchange and fusion of
//! both levels want all statements in the innermost loop. The bounds of the inner loop cannot move
//! into it. Their operations move before the nest, if they are the same in each iteration. All this
//! happens only if nothing else is left beside the inner loop.
//!
//! **Assumptions.**
//! - An operation that may run speculatively has no effect but its results, however often it runs.
//!   A freeze may be another number each time, so it stays. Tried in
//!   `fixtures/simplify/nest_sinking.mlir`.
//!
//! **Cost.** Each operation of a loop body moves at most once a loop inside it; linear in that and
//! in the uses.
//!
//! **Never illegal.** The order of iterations stays.
//!
//! **Never conditional.** Nothing is assumed of memory, because the order of iterations stays.
//!
//! **Not in `affine`.** Subscripts are computed by the accesses themselves there.
//!
//! **Not in `.ll`.** `loomir fuse` and `loomir optimize` do this while they raise LLVM IR.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<16xf32>, %x: f32) {
//!   %c0 = arith.constant 0 : index
//!   %c1 = arith.constant 1 : index
//!   %c4 = arith.constant 4 : index
//!   scf.for %i = %c0 to %c4 step %c1 {
//!     %row = arith.muli %i, %c4 : index
//!     scf.for %j = %c0 to %c4 step %c1 {
//!       %k = arith.addi %row, %j : index
//!       memref.store %x, %a[%k] : memref<16xf32>
//!     }
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-nest-sink --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=1 --order=images/loop-nest-sink-0.svg
//! ```
//!
//! The order of stores stays:
//!
//! ![The order of stores before](images/loop-nest-sink-0.svg)

use loomir_dialects::interfaces::{LoopLike, is_speculatable};
use loomir_dialects::llvm;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Block, Body, Diagnostics, Op, Trait};

/// The pass `loop-nest-sink`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "loop-nest-sink",
    anchor: None,
    summary: "Move computations beside an inner loop into it, if the nest is perfect then",
    options: &[],
    make: |_| Ok(Box::new(LoopNestSink)),
};

/// The maximal number of operations that move into a loop. They run once an iteration there.
const MAX_OPS: usize = 16;

struct LoopNestSink;

impl Pass for LoopNestSink {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        body.for_each_body(&mut |body| cx.count("Operations moved", sink_into_nests(body) as u64));
        Ok(())
    }
}

/// Makes nests of a body perfect, without the bodies nested in it. Returns the number of moved
/// operations.
pub fn sink_into_nests(body: &mut Body) -> usize {
    // Outer loops come first: what moves into an inner loop may move on.
    let loops: Vec<Op> = body.all_ops().filter(|op| iterated(body, *op).is_some()).collect();
    let mut moved = 0;
    for outer in loops {
        let Some(block) = iterated(body, outer) else { continue };
        let Some(Between { bounds, rest, into }) = Between::of(body, block) else { continue };
        let Some(first) = body.first_op(into) else { continue };
        moved += bounds.len() + rest.len();
        let nest = outermost(body, outer, &bounds);
        bounds.into_iter().for_each(|op| body.move_before(op, nest));
        rest.into_iter().for_each(|op| body.move_before(op, first));
    }
    moved
}

/// Returns the outermost loop around a loop before which these operations may run. Only loops are
/// in between.
fn outermost(body: &Body, outer: Op, ops: &[Op]) -> Op {
    let mut nest = outer;
    while let Some(around) = body.parent_op(nest)
        && let Some(block) = iterated(body, around).filter(|block| body.block_of(nest) == Some(*block))
        && !ops.iter().any(|op| uses_of_iteration(body, *op, block, ops))
    {
        nest = around;
    }
    nest
}

/// True if an operation uses a value that a block computes, but for the results of `others`.
fn uses_of_iteration(body: &Body, op: Op, block: Block, others: &[Op]) -> bool {
    body.operands(op).any(|value| match body.defining_op(value) {
        Some(by) => !others.contains(&by) && body.block_of(by) == Some(block),
        None => body.arguments(block).any(|argument| argument == value),
    })
}

/// Returns the block that each iteration of a counted loop runs.
fn iterated(body: &Body, op: Op) -> Option<Block> {
    let view = body.op_ref(op);
    let model = view.info().interface::<dyn LoopLike>()?;
    body.entry_block(model.body(view))
}

/// The operations of a block beside its only loop, all of which may move.
struct Between {
    /// The operations that the bounds of the loop need. They are the same in each iteration, and
    /// move outwards.
    bounds: Vec<Op>,
    /// The others move inwards.
    rest: Vec<Op>,
    /// The block of the inner loop.
    into: Block,
}

impl Between {
    fn of(body: &Body, block: Block) -> Option<Between> {
        let mut inner = None;
        let mut ops = Vec::new();
        for op in body.ops(block).filter(|op| !body.has_trait(*op, Trait::Terminator)) {
            match iterated(body, op) {
                // A loop that hands values on is used behind it.
                Some(of) if inner.is_none() && body.num_results(op) == 0 => inner = Some((op, of)),
                None if inner.is_none() && ops.len() < MAX_OPS && may_move(body, op) => ops.push(op),
                _ => return None,
            }
        }
        let (inner, into) = inner.filter(|_| !ops.is_empty())?;
        let (mut bounds, mut rest) = (Vec::new(), Vec::new());
        for op in ops.into_iter().rev() {
            let mut uses = body.results(op).flat_map(|value| body.uses(value));
            let is_bound = uses.any(|used| used.op == inner || bounds.contains(&used.op));
            if is_bound { bounds.push(op) } else { rest.push(op) }
        }
        bounds.reverse();
        rest.reverse();
        let is_fixed = |op: &Op| !uses_of_iteration(body, *op, block, &bounds);
        let is_inside = |used: Op| used != inner && body.ancestor_in_block(used, block) == Some(inner);
        let mut uses = rest.iter().flat_map(|op| body.results(*op)).flat_map(|value| body.uses(value));
        let may_move =
            bounds.iter().all(is_fixed) && uses.all(|used| rest.contains(&used.op) || is_inside(used.op));
        may_move.then_some(Between { bounds, rest, into })
    }
}

/// True if an operation may run any number of times.
fn may_move(body: &Body, op: Op) -> bool {
    let view = body.op_ref(op);
    body.has_trait(op, Trait::Pure)
        && is_speculatable(view)
        && !view.is(llvm::FreezeOp::DEF)
        && body.own_regions(op).next().is_none()
}
