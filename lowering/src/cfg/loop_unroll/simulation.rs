//! The cost of a loop unrolled completely: its iterations are run on what is known.
//!
//! In each iteration, values are known that depend on constants alone: by their recurrences, by
//! arithmetic, and by loads from constant memory. Operations that are known cost nothing, and
//! neither do operations that only they need; blocks that are not reached are not counted. The
//! rules are those of LLVM's `LoopUnrollAnalyzer`.
//!
//! **Cost.** Linear in the loop, times the number of iterations, which a preference bounds.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::arith::constant::Numbers;
use loomir_dialects::interp::integer::mask;
use loomir_dialects::llvm;
use loomir_dialects::llvm::types::LlvmType;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::symbols::{Symbol, SymbolTable};
use loomir_ir::text::attr_to_string;
use loomir_ir::{Block, Body, Context, Op, OpDef, Trait, Type, Value};
use loomir_transforms::unrolling::Cost;

use super::shape::Shape;
use super::size;
use crate::cfg::branch::{successor_operands, taken_edge};
use crate::cfg::effects::is_seen;
use crate::cfg::scev::ScalarEvolution;
use crate::cfg::scev::expr::Expr;

/// Simulates a loop. `None` if nothing is saved, the cost exceeds `budget`, or there are calls.
pub(super) fn simulate(
    scev: &mut ScalarEvolution<'_>,
    id: LoopId,
    shape: &Shape,
    symbols: &SymbolTable,
    trip_count: u64,
    budget: u64,
) -> Option<Cost> {
    let function = scev.function();
    let mut run = Run {
        scev,
        function,
        id,
        shape,
        symbols,
        known: HashMap::new(),
        states: HashMap::new(),
        ephemeral: size::ephemeral(function, &shape.blocks),
        unrolled: 0,
        rolled: 0,
    };
    let mut leaving = Vec::new();
    for iteration in 0..trip_count {
        run.iterate(iteration, budget, &mut leaving)?;
        if run.unrolled == run.rolled {
            return None;
        }
    }
    for value in leaving {
        let sources = run.sources(value, trip_count - 1);
        sources.into_iter().for_each(|(op, iteration)| run.count(op, iteration));
    }
    Some(Cost { unrolled: run.unrolled, rolled: run.rolled })
}

/// An operation in an iteration.
#[derive(Clone, Copy)]
struct State {
    is_free: bool,
    is_counted: bool,
}

struct Run<'s, 'f> {
    scev: &'s mut ScalarEvolution<'f>,
    function: &'f Body,
    id: LoopId,
    shape: &'s Shape,
    symbols: &'s SymbolTable,
    /// The values known in this iteration.
    known: HashMap<Value, u128>,
    states: HashMap<(Op, u64), State>,
    /// Operations that are no code.
    ephemeral: HashSet<Op>,
    unrolled: u64,
    rolled: u64,
}

impl Run<'_, '_> {
    /// Runs one iteration. Adds the values that leave the loop to `leaving`.
    fn iterate(&mut self, iteration: u64, budget: u64, leaving: &mut Vec<Value>) -> Option<()> {
        self.enter(iteration);
        let mut order = vec![self.shape.header];
        let mut reached: HashSet<Block> = order.iter().copied().collect();
        let mut at = 0;
        while let Some(block) = order.get(at).copied() {
            at += 1;
            let branch = self.function.terminator(block)?;
            for op in self.function.ops(block).filter(|op| *op != branch) {
                self.visit(op, iteration)?;
                if self.unrolled > budget {
                    return None;
                }
            }
            self.rolled += self.size(branch);
            let way = self.way(branch);
            self.states.insert((branch, iteration), State { is_free: way.is_some(), is_counted: false });
            let blocks: Vec<Block> = self.function.successors(branch).collect();
            let operands = successor_operands(self.function, branch);
            for (index, to) in blocks.iter().enumerate() {
                if way.is_some_and(|way| way != index) || *to == self.shape.header {
                    continue;
                }
                if !self.is_inside(*to) {
                    leaving.extend(&operands[index]);
                } else if reached.insert(*to) {
                    order.push(*to);
                }
            }
            if way.is_none() {
                self.count(branch, iteration);
            }
        }
        Some(())
    }

    /// Finds out what is known of the header's arguments.
    fn enter(&mut self, iteration: u64) {
        let mut known = HashMap::new();
        let edge = match iteration {
            0 => super::shape::edge_to(self.function, self.shape.preheader, self.shape.header),
            _ => self.shape.backedge(self.function),
        };
        if let Some((branch, index)) = edge {
            let operands = successor_operands(self.function, branch).swap_remove(index);
            let arguments = self.function.arguments(self.shape.header);
            for (argument, operand) in arguments.zip(operands) {
                if let Some(bits) = self.value(operand) {
                    known.insert(argument, bits);
                }
            }
        }
        self.known = known;
    }

    /// Returns the number that a value is known to be.
    fn value(&self, value: Value) -> Option<u128> {
        self.known.get(&value).copied().or_else(|| self.scev.number(value))
    }

    fn size(&self, op: Op) -> u64 {
        size::of(self.function, op, self.scev.data_layout(), self.symbols)
    }

    fn is_inside(&self, block: Block) -> bool {
        let analysis = self.scev.analysis();
        analysis.loops().contains(self.id, analysis.number(block))
    }

    fn visit(&mut self, op: Op, iteration: u64) -> Option<()> {
        let function = self.function;
        if self.ephemeral.contains(&op) {
            return Some(());
        }
        self.rolled += self.size(op);
        let is_free = function.has_trait(op, Trait::ConstantLike) || self.is_known(op, iteration);
        self.states.insert((op, iteration), State { is_free, is_counted: false });
        if !is_free {
            if function.is(op, llvm::CallOp::DEF) {
                return None;
            }
            if is_seen(function, op) {
                self.count(op, iteration);
            }
        }
        Some(())
    }

    /// True if an operation's result is known, or the same in all iterations but the first.
    fn is_known(&mut self, op: Op, iteration: u64) -> bool {
        let function = self.function;
        let mut results = function.results(op);
        let (Some(result), None) = (results.next(), results.next()) else { return false };
        if self.scev.expr_type(result).is_some() {
            let id = self.scev.expr(result);
            let number = match self.scev.get(id).clone() {
                Expr::Constant(_, bits) => Some(bits),
                Expr::AddRec(of, _) if of == self.id => {
                    let iteration = self.scev.constant(64, u128::from(iteration));
                    let at = self.scev.at_iteration(id, iteration);
                    at.and_then(|at| self.scev.as_constant(at))
                }
                _ => None,
            };
            if let Some(bits) = number {
                self.known.insert(result, bits);
                return true;
            }
            let is_number = !matches!(self.scev.get(id), Expr::Unknown(_));
            if iteration > 0 && is_number && self.scev.is_invariant(id, self.id) {
                return true;
            }
        }
        if function.is(op, llvm::LoadOp::DEF) {
            let bits = self.loaded(op, iteration);
            return bits.is_some_and(|bits| self.known.insert(result, bits).is_none());
        }
        let operands: Vec<Option<u128>> = function.operands(op).map(|value| self.value(value)).collect();
        let all: Option<Vec<u128>> = operands.iter().copied().collect();
        if let Some(bits) = all.and_then(|all| self.scev.result_of(op, &all)) {
            return self.known.insert(result, bits).is_none();
        }
        let width = function.value_type(result).integer_width(function.ctx());
        match width.and_then(|width| simplified(function, op, &operands, width)) {
            Some(Simpler::Number(bits)) => self.known.insert(result, bits).is_none(),
            Some(Simpler::Operand) => true,
            None => false,
        }
    }

    /// Returns the only successor of a branch, if it is known.
    fn way(&self, branch: Op) -> Option<usize> {
        let condition = self.function.operands(branch).next()?;
        taken_edge(self.function, branch, self.value(condition)?)
    }

    /// Counts an operation in an iteration, with what it needs.
    fn count(&mut self, root: Op, iteration: u64) {
        let mut pending = vec![(root, iteration)];
        while let Some((op, iteration)) = pending.pop() {
            let Some(state) = self.states.get_mut(&(op, iteration)).filter(|state| !state.is_counted) else {
                continue;
            };
            state.is_counted = true;
            if !state.is_free {
                self.unrolled += self.size(op);
            }
            for operand in self.function.operands(op) {
                pending.extend(self.sources(operand, iteration));
            }
        }
    }

    /// Returns the operations that compute a value in an iteration: of an argument of the header,
    /// one of the iteration before.
    fn sources(&self, value: Value, iteration: u64) -> Vec<(Op, u64)> {
        let function = self.function;
        if let Some(op) = function.defining_op(value) {
            return vec![(op, iteration)];
        }
        let Some(block) = function.value_block(value).filter(|block| self.is_inside(*block)) else {
            return Vec::new();
        };
        let place = function.arguments(block).position(|own| own == value).unwrap_or_default();
        let (edges, iteration) = if block != self.shape.header {
            (function.predecessor_edges(block).collect::<Vec<_>>(), iteration)
        } else if let (Some(before), Some(edge)) = (iteration.checked_sub(1), self.shape.backedge(function)) {
            (vec![edge], before)
        } else {
            return Vec::new();
        };
        let mut sources = Vec::new();
        for (branch, index) in edges {
            let operand = successor_operands(function, branch).swap_remove(index).get(place).copied();
            // An argument that passes on another one is followed once only.
            sources.extend(operand.and_then(|own| function.defining_op(own)).map(|op| (op, iteration)));
        }
        sources
    }

    /// Returns the number that a load reads from a constant variable in an iteration.
    fn loaded(&mut self, op: Op, iteration: u64) -> Option<u128> {
        let function = self.function;
        let ctx = function.ctx();
        let address = function.operand(op, 0);
        self.scev.expr_type(address)?;
        let address = self.scev.expr(address);
        let iteration = self.scev.constant(64, u128::from(iteration));
        let address = self.scev.at_iteration(address, iteration)?;
        let of_global = |value: &Value| {
            let base = function.defining_op(*value)?;
            let name = function.is(base, llvm::AddressOfOp::DEF).then(|| function.attr(base, "global_name"));
            Some((*value, name??.as_flat_symbol(ctx)?))
        };
        let (base, name) = self.scev.leaves(address).iter().find_map(of_global)?;
        let global = self.symbols.get(name).filter(|own| ctx.op_info(own.name).is(llvm::GlobalOp::DEF))?;
        let ty = function.value_type(function.results(op).next()?);
        let (elements, length) = constant_elements(ctx, global, ty)?;
        let base = self.scev.expr(base);
        let offset = self.scev.minus(address, base);
        let offset = u64::try_from(self.scev.as_constant(offset)?).ok()?;
        let size = u64::from(ty.integer_width(ctx)?.div_ceil(8));
        let index = usize::try_from(offset / size).ok().filter(|_| offset.is_multiple_of(size))?;
        match elements {
            Numbers::One(bits) => ((index as u64) < length).then_some(bits),
            Numbers::Many(all) => all.get(index).copied(),
        }
    }
}

/// The result of an operation of which one operand is known.
enum Simpler {
    Number(u128),
    /// The other operand.
    Operand,
}

/// Simplifies an operation on integers of `width` bits of which at most one operand is known.
fn simplified(function: &Body, op: Op, operands: &[Option<u128>], width: u32) -> Option<Simpler> {
    let [a, b] = *operands else { return None };
    let is = |defs: &[&'static OpDef]| defs.iter().any(|def| function.is(op, def));
    let either = |bits: u128| a == Some(bits) || b == Some(bits);
    let ones = mask(width);
    let shifts = [llvm::ShlOp::DEF, llvm::LShrOp::DEF, llvm::AShrOp::DEF];
    if is(&[llvm::MulOp::DEF, llvm::AndOp::DEF]) && either(0) || is(&shifts) && a == Some(0) {
        return Some(Simpler::Number(0));
    }
    if is(&[llvm::OrOp::DEF]) && either(ones) {
        return Some(Simpler::Number(ones));
    }
    let is_other = is(&[llvm::AddOp::DEF, llvm::OrOp::DEF, llvm::XOrOp::DEF]) && either(0)
        || is(&[llvm::MulOp::DEF]) && either(1)
        || is(&[llvm::AndOp::DEF]) && either(ones)
        || (is(&shifts) || is(&[llvm::SubOp::DEF])) && b == Some(0)
        || is(&[llvm::UDivOp::DEF, llvm::SDivOp::DEF]) && b == Some(1);
    is_other.then_some(Simpler::Operand)
}

/// Returns the elements of type `ty` of a variable that is constant and can't be replaced, and
/// their number.
fn constant_elements(ctx: &Context, global: &Symbol, ty: Type) -> Option<(Numbers, u64)> {
    let linkage = global.attr(ctx, "linkage").map(|linkage| attr_to_string(ctx, linkage))?;
    let is_final = ["external", "internal", "private", "linkonce_odr", "weak_odr"]
        .iter()
        .any(|own| linkage.contains(&format!("<{own}>")));
    let is_constant =
        global.attr(ctx, "constant").is_some() && global.attr(ctx, "externally_initialized").is_none();
    let value = global.attr(ctx, "value").filter(|_| is_final && is_constant)?;
    let whole = global.attr(ctx, "global_type").and_then(|own| own.as_type(ctx))?;
    let (element, length) = match LlvmType::of(ctx, whole) {
        Some(LlvmType::Array { element, length }) => (element, length),
        _ => (whole, 1),
    };
    let is_byte_sized = ty.integer_width(ctx).is_some_and(|width| width.is_multiple_of(8));
    if element != ty || !is_byte_sized {
        return None;
    }
    Some((Numbers::of(ctx, value)?, length))
}
