//! `lift-cf-to-scf`: branches between blocks as structured control flow.
//!
//! The body of an `llvm.func` becomes one block of `scf.if`, `scf.index_switch`, `scf.while` and
//! `scf.for`. Other operations stay as they are. Loops that scalar evolution counts become
//! `scf.for`, all others `scf.while`. `convert-scf-to-cf` goes the other way.
//!
//! Control flow that no nest of these constructs expresses becomes data: a construct tells by a
//! result which of its targets was taken, and a test follows. Cycles with several entries get one
//! entry first, by the same means. `unreachable` is an assumption that is false.
//!
//! | module | holds |
//! | --- | --- |
//! | `structure` | blocks become regions |
//! | `regions` | parts of a function that need no branches on data |
//! | `exits` | the ways out of a region |
//! | `bounded` | loops that are certain to end in time |
//! | `counted` | loops that count, and their variables |
//! | `for_loop` | such a loop as `scf.for` |
//! | `extensions` | extensions of numbers that are not negative in a loop |
//! | `reasons` | the reasons why functions stay, and loops do not count |
//!
//! The method follows H. Bahmann et al., *Perfect Reconstructability of Control Flow from Demand
//! Dependence Graphs*, ACM TACO 11, 2015, without its copies of code.
//!
//! **Assumptions.**
//! - A branch on poison is undefined, and so is `scf.if` on poison.
//! - Values that leave a loop are arguments of the block behind it (loop-closed SSA).
//!
//! **Cost.** Linear in the operations and in the values that regions pass on.
//!
//! # Limits
//!
//! - A function stays as it is if it branches in other ways than `br`, `cond_br` and `switch`, if a
//!   `switch` is on more than 64 bits, or if a call is bound to the control flow around it. Of one
//!   with calls that may unwind, parts are lifted.
//! - Regions nest at most 200 deep, and a construct passes on at most a million values.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::llvm;
use loomir_dialects::llvm::types::LlvmType;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Body, Diagnostics, Op, Value};

use crate::cfg::Analysis;
use crate::cfg::branch::{Ending, Target, all_known, end_block, has_unwinding};
use crate::cfg::calls::{is_deoptimize, keeps_its_control};
use crate::cfg::scev::ScalarEvolution;
use crate::cfg::{fix_irreducible, lcssa, loop_rotate, loop_simplify, place_of, scopes};
use counted::Counted;
use regions::Part;
use structure::Structure;

mod bounded;
mod counted;
mod exits;
mod extensions;
mod for_loop;
mod reasons;
mod regions;
mod structure;

pub use reasons::{Lifted, Opaque, Uncounted};

/// The greatest number of regions in each other.
const MAX_DEPTH: usize = 200;
/// The greatest number of values that the regions of one construct pass on.
const MAX_PASSED: usize = 1_000_000;
/// The attribute of a structured loop with the annotation of the original one.
const ANNOTATION: &str = "loop_annotation";

/// Writes the body of an `llvm.func` with structured control flow. The symbols are those of its
/// module. A function of one block stays the same. Returns the loops.
///
/// # Errors
/// The reason why the function has no such form here. It is unchanged then.
pub fn lift_cf_to_scf(function: &mut Body, symbols: &SymbolTable) -> Result<Lifted, Opaque> {
    let region = function.region(function.root(), 0);
    if function.blocks(region).nth(1).is_none() {
        return Ok(Lifted::as_read(function));
    }
    let Prepared { function: mut copy, analysis, counted, uncounted } =
        Prepared::of(function, symbols, true)?;
    let place = |of| place_of(&copy, analysis.block(analysis.loops().get(of).header()));
    let uncounted = uncounted.into_iter().map(|(of, why)| (place(of), why)).collect();
    let lifted = Lifted { counted: counted.len(), uncounted };
    Structure::new(&mut copy, &analysis, counted).run()?;
    *function = copy;
    Ok(lifted)
}

/// Writes only those parts of an `llvm.func` with structured control flow that need no branches on
/// data and have two counted loops side by side. Everything else keeps its blocks, such as loops
/// with calls that may unwind. Returns the number of parts, and the loops in them. Without any part
/// the function is unchanged.
///
/// # Errors
/// The reason why a part has no such form here. The function is unchanged then.
pub fn lift_parts_to_scf(function: &mut Body, symbols: &SymbolTable) -> Result<(usize, Lifted), Opaque> {
    let region = function.region(function.root(), 0);
    if function.blocks(region).nth(1).is_none() {
        return Ok((0, Lifted::default()));
    }
    let prepared = Prepared::of(function, symbols, false)?;
    let Prepared { function: mut copy, analysis, counted, uncounted } = prepared;
    let structure = Structure::new(&mut copy, &analysis, counted);
    let parts = structure.parts();
    let lifted = in_parts(structure.body, &analysis, &parts, &structure.counted, &uncounted);
    if !parts.is_empty() {
        structure.run_parts(&parts)?;
        *function = copy;
    }
    Ok((parts.len(), lifted))
}

/// Returns the loops of a function of which only parts are lifted. The others are kept.
fn in_parts(
    function: &Body,
    analysis: &Analysis,
    parts: &[Part],
    counted: &HashMap<LoopId, Counted>,
    uncounted: &[(LoopId, Uncounted)],
) -> Lifted {
    let nodes: HashSet<u32> = parts.iter().flat_map(|part| &part.nodes).copied().collect();
    let mut lifted = Lifted::default();
    let all = Analysis::with_all_loops(function);
    for id in all.loops().outer_first() {
        let header = all.block(all.loops().get(id).header());
        let node = analysis.number(header);
        let own = analysis.loops().innermost(node).filter(|_| nodes.contains(&node));
        if own.is_some_and(|own| counted.contains_key(&own)) {
            lifted.counted += 1;
            continue;
        }
        let known = uncounted.iter().find(|(of, _)| Some(*of) == own).map(|(_, why)| *why);
        lifted
            .uncounted
            .push((place_of(function, header), known.unwrap_or(Uncounted::Kept(Opaque::Unwinding))));
    }
    lifted
}

/// A copy of a function in the form that lifting needs, with its loops.
struct Prepared {
    function: Body,
    analysis: Analysis,
    counted: HashMap<LoopId, Counted>,
    uncounted: Vec<(LoopId, Uncounted)>,
}

impl Prepared {
    /// Prepares a function. Cycles with several entries get one entry if `whole` is set.
    fn of(function: &Body, symbols: &SymbolTable, whole: bool) -> Result<Prepared, Opaque> {
        if all_known(function).is_err() || !ends_are_known(function) {
            return Err(Opaque::Branch);
        }
        if function.all_ops().any(|op| is_bound(function, op, symbols)) {
            return Err(Opaque::Bound);
        }
        if whole && has_unwinding(function) {
            return Err(Opaque::Unwinding);
        }
        let mut copy = function.duplicate();
        match whole {
            true => drop(fix_irreducible::fix_irreducible(&mut copy, false)),
            false => part_landing_pads(&mut copy),
        }
        let (mut analysis, _) = loop_simplify::loop_simplify(&mut copy, symbols, false);
        scopes::forget_in_loops(&mut copy, &analysis, symbols);
        lcssa::lcssa(&mut copy, &analysis);
        loop_rotate::loop_rotate(&mut copy, &mut analysis, symbols, loop_rotate::MAX_HEADER_SIZE);
        let (analysis, _) = loop_simplify::loop_simplify(&mut copy, symbols, false);
        lcssa::lcssa(&mut copy, &analysis);
        let layout = DataLayout::of_symbols(copy.ctx(), symbols);
        let ((counted, uncounted), extended) = {
            let mut scev = ScalarEvolution::new(&copy, &analysis, &layout);
            (counted::counted_loops(&mut scev), extensions::find(&mut scev))
        };
        extensions::replace(&mut copy, &extended);
        Ok(Prepared { function: copy, analysis, counted, uncounted })
    }
}

/// Gives each landing pad a block of its own, so that loops behind it may become regions.
fn part_landing_pads(function: &mut Body) {
    let blocks = function.blocks(function.region(function.root(), 0));
    let first = blocks.filter_map(|block| function.first_op(block));
    let pads: Vec<Op> = first.filter(|op| function.is(*op, llvm::LandingpadOp::DEF)).collect();
    for pad in pads {
        let block = function.block_of(pad);
        let tail = function.next_op(pad).and_then(|next| function.split_block(next));
        if let (Some(block), Some(to)) = (block, tail) {
            end_block(function, block, &Ending::Branch(Target { block: to, operands: Vec::new() }));
        }
    }
}

/// True if each block without a successor returns, goes on with an exception, or is never left.
fn ends_are_known(function: &Body) -> bool {
    let region = function.region(function.root(), 0);
    let mut ends = function.blocks(region).filter_map(|block| function.last_op(block));
    ends.all(|op| {
        let known = [llvm::ReturnOp::DEF, llvm::UnreachableOp::DEF, llvm::ResumeOp::DEF];
        let is_end = known.iter().any(|def| function.is(op, def));
        function.successors(op).len() > 0 || is_end
    })
}

/// True if an operation depends on the control flow around it: calls that return twice or are
/// convergent, tail calls that must stay such, the stack pointer, and tokens.
pub(crate) fn is_bound(function: &Body, op: Op, symbols: &SymbolTable) -> bool {
    let view = function.op_ref(op);
    let is_token = |value: Value| LlvmType::of(view.ctx(), view.type_of(value)) == Some(LlvmType::Token);
    keeps_its_control(function, op, symbols)
        || is_deoptimize(function, op)
        || llvm::is_must_tail(view)
        || view.is(llvm::StackSaveOp::DEF)
        || view.is(llvm::StackRestoreOp::DEF)
        || view.results().any(is_token)
}

/// The pass `lift-cf-to-scf` on `llvm.func`.
pub const PASS: PassInfo = PassInfo {
    name: "lift-cf-to-scf",
    anchor: Some("llvm.func"),
    summary: "Replaces branches by structured control flow",
    options: &[("parts", "false", "lift only neighbouring counted loops that need no branches on data")],
    make: |options| Ok(Box::new(LiftCfToScf { parts: options.parse("parts", false)? })),
};

struct LiftCfToScf {
    parts: bool,
}

impl Pass for LiftCfToScf {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let parts = match self.parts {
            true => lift_parts_to_scf(body, cx.symbols).map(|(parts, _)| parts),
            false => lift_cf_to_scf(body, cx.symbols).map(|_| 1),
        };
        match parts {
            Ok(1..) => cx.count("Functions lifted", 1),
            Ok(0) | Err(_) => cx.count("Functions left alone", 1),
        }
        Ok(())
    }
}
