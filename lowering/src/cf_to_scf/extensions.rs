//! Unsigned extensions of numbers that are not negative where a loop runs become signed ones.
//!
//! A size of 32 bits is often extended as unsigned, while the counter below it is bounded by the
//! signed number. In a loop that runs only if the size is positive, both are one number, and
//! analyses of the loop tree see that if it has one name. Sums and products of extensions before
//! the loop get a twin of signed ones, for uses in the loop alone.
//!
//! **Assumptions.**
//! - Ranges in a loop hold wherever it is entered.
//! - A twin is the same number where it is used. Elsewhere it may be poison, which nothing sees: no
//!   operation with a twin is undefined for any operand.
//!
//! **Cost.** For each use of such a value the loops around it.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Body, Builder, InsertPoint, Mapping, Op, OpDef, Value};

use super::structure::reverse_postorder;
use crate::cfg::scev::ScalarEvolution;

/// Operations that get a twin if an operand has one.
const COPIED: &[&OpDef] =
    &[llvm::AddOp::DEF, llvm::SubOp::DEF, llvm::MulOp::DEF, llvm::ShlOp::DEF, llvm::GEPOp::DEF];
/// The maximal number of extensions that one value may depend on.
const MAX_SOURCES: usize = 8;

/// The values that get twins, and the operands that become twins.
#[derive(Default)]
pub(super) struct Extensions {
    /// The operations to copy, each behind those that it uses.
    ops: Vec<Op>,
    /// The operands that become twins, by operation and place.
    uses: Vec<(Op, usize)>,
}

/// Finds the extensions that are signed ones in loops.
pub(super) fn find(scev: &mut ScalarEvolution<'_>) -> Extensions {
    let (function, analysis) = (scev.function(), scev.analysis());
    // For each value the numbers that are extended for it.
    let mut sources: HashMap<Value, Vec<Value>> = HashMap::new();
    let mut found = Extensions::default();
    let mut facts = Facts::default();
    let mut wanted: HashSet<Op> = HashSet::new();
    for node in reverse_postorder(analysis) {
        for op in function.ops(analysis.block(node)) {
            for (at, value) in function.operands(op).enumerate() {
                let Some(numbers) = sources.get(&value) else { continue };
                if facts.are_natural(scev, value, numbers, node) {
                    found.uses.push((op, at));
                    wanted.extend(function.defining_op(value));
                }
            }
            let own = own_sources(scev, op, &sources);
            if !own.is_empty() {
                sources.insert(function.result(op, 0), own);
                found.ops.push(op);
            }
        }
    }
    // The operands of a copied operation are copied too.
    for op in found.ops.iter().rev() {
        if wanted.contains(op) && COPIED.iter().any(|def| function.is(*op, def)) {
            let used = function.operands(*op).filter(|value| sources.contains_key(value));
            wanted.extend(used.filter_map(|value| function.defining_op(value)));
        }
    }
    found.ops.retain(|op| wanted.contains(op));
    found
}

/// Returns the numbers that are extended for the result of an operation that may get a twin.
fn own_sources(scev: &ScalarEvolution<'_>, op: Op, sources: &HashMap<Value, Vec<Value>>) -> Vec<Value> {
    let function = scev.function();
    if function.is(op, llvm::ZExtOp::DEF) {
        let number = function.operand(op, 0);
        let is_number = scev.expr_type(number).is_some_and(|ty| !ty.is_pointer() && ty.width() > 1);
        return if is_number { vec![number] } else { Vec::new() };
    }
    let mut own: Vec<Value> = Vec::new();
    if COPIED.iter().any(|def| function.is(op, def)) {
        for number in function.operands(op).filter_map(|value| sources.get(&value)).flatten() {
            if !own.contains(number) {
                own.push(*number);
            }
        }
    }
    if own.len() > MAX_SOURCES { Vec::new() } else { own }
}

/// Answers about numbers in loops.
#[derive(Default)]
struct Facts(HashMap<(Value, LoopId), bool>);

impl Facts {
    /// True if numbers are not negative in a loop around a block, which a value is defined before.
    fn are_natural(
        &mut self,
        scev: &mut ScalarEvolution<'_>,
        value: Value,
        numbers: &[Value],
        node: u32,
    ) -> bool {
        let (function, analysis) = (scev.function(), scev.analysis());
        let Some(block) = function.value_block(value) else { return false };
        let defined = analysis.number(block);
        let mut around = analysis.loops().innermost(node);
        while let Some(of) = around.filter(|of| !analysis.loops().contains(*of, defined)) {
            let is_natural = |number: &Value| {
                *self.0.entry((*number, of)).or_insert_with(|| {
                    let id = scev.expr(*number);
                    scev.is_invariant(id, of) && scev.range_in(id, Some(of)).signed.0 >= 0
                })
            };
            if numbers.iter().all(is_natural) {
                return true;
            }
            around = analysis.loops().get(of).parent;
        }
        false
    }
}

/// Writes the twins, and uses them in the loops.
pub(super) fn replace(function: &mut Body, found: &Extensions) {
    let mut twins = Mapping::default();
    for op in &found.ops {
        let own = function.result(*op, 0);
        if !function.is(*op, llvm::ZExtOp::DEF) {
            let copy = function.copy_op(*op, &mut twins);
            function.insert_after(*op, copy);
            continue;
        }
        let (number, ty, loc) = (function.operand(*op, 0), function.value_type(own), function.loc(*op));
        let mut builder = Builder::new(function, InsertPoint::After(*op));
        builder.set_loc(loc);
        let state = builder.state(llvm::SExtOp::DEF).operands(&[number]).results(&[ty]);
        twins.map(own, builder.value(state));
    }
    for (op, at) in &found.uses {
        let twin = twins.value(function.operand(*op, *at));
        function.set_operand(*op, *at, twin);
    }
}
