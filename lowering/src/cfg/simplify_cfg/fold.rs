//! Folding of branches that decide less than they could.

use hashbrown::HashMap;
use loomir_dialects::llvm;
use loomir_ir::rewrite::is_trivially_dead;
use loomir_ir::{Block, Body, Builder, Op, Type, Value};

use crate::cfg::branch::{Ending, Target, case_values, targets};
use crate::cfg::conditions::{constant_bits, constant_condition};

/// The maximal number of selections for one branch.
const MAX_SELECTS: usize = 4;

/// The predicate of `llvm.icmp` for equality.
const EQUAL: i128 = 0;

/// The replacement of a branch. Required computations come before it.
pub(super) enum Folded {
    /// Without computations.
    As(Ending),
    /// A plain branch with operands selected by a condition from two targets, which are one block.
    Select(Value, [Target; 2]),
    /// A conditional branch on the equality of a value and a number.
    Equal(Value, u128, [Target; 2]),
}

impl Folded {
    /// Returns the simplification of a branch, if there is one. Linear.
    pub(super) fn of(function: &Body, op: Op) -> Option<Folded> {
        if function.is(op, llvm::CondBrOp::DEF) {
            return Folded::of_conditional(
                function.operand(op, 0),
                constant_condition(function, function.operand(op, 0)),
                targets(function, op),
            );
        }
        if function.is(op, llvm::SwitchOp::DEF) {
            return Folded::of_switch(function, op);
        }
        None
    }

    fn of_conditional(condition: Value, known: Option<bool>, ways: Vec<Target>) -> Option<Folded> {
        let [yes, no] = <[Target; 2]>::try_from(ways).ok()?;
        if let Some(known) = known {
            return Some(Folded::As(Ending::Branch(if known { yes } else { no })));
        }
        match differing(&yes, &no) {
            _ if yes.block != no.block => None,
            0 => Some(Folded::As(Ending::Branch(yes))),
            1..=MAX_SELECTS => Some(Folded::Select(condition, [yes, no])),
            _ => None,
        }
    }

    fn of_switch(function: &Body, op: Op) -> Option<Folded> {
        let value = function.operand(op, 0);
        let mut ways = targets(function, op).into_iter();
        let default = ways.next()?;
        let all: Vec<(u128, Target)> = case_values(function, op).into_iter().zip(ways).collect();
        if let Some((bits, _)) = constant_bits(function, value) {
            let taken = all.into_iter().find(|(case, _)| *case == bits).map_or(default, |(_, to)| to);
            return Some(Folded::As(Ending::Branch(taken)));
        }
        let before = all.len();
        let mut cases: Vec<(u128, Target)> = all.into_iter().filter(|(_, to)| *to != default).collect();
        match cases.len() {
            0 => Some(Folded::As(Ending::Branch(default))),
            1 => cases.pop().map(|(bits, to)| Folded::Equal(value, bits, [to, default])),
            left if left < before => Some(Folded::As(Ending::Switch(value, default, cases))),
            _ => None,
        }
    }

    /// Returns the successors.
    pub(super) fn blocks(&self) -> Vec<Block> {
        match self {
            Folded::As(Ending::Unreachable) => Vec::new(),
            Folded::As(Ending::Branch(to)) => vec![to.block],
            Folded::As(Ending::Switch(_, default, cases)) => {
                std::iter::once(default).chain(cases.iter().map(|(_, to)| to)).map(|to| to.block).collect()
            }
            Folded::As(Ending::Conditional(_, ways))
            | Folded::Select(_, ways)
            | Folded::Equal(_, _, ways) => ways.iter().map(|to| to.block).collect(),
        }
    }

    /// Writes the required computations before a branch, and returns its replacement.
    pub(super) fn build(self, function: &mut Body, before: Op) -> Ending {
        let mut builder = Builder::before(function, before);
        let ctx = builder.ctx();
        match self {
            Folded::As(ending) => ending,
            Folded::Select(condition, [yes, no]) => {
                let pairs = yes.operands.iter().zip(&no.operands);
                let operands = pairs.map(|(yes, no)| match yes == no {
                    true => *yes,
                    false => {
                        let state = builder.state(llvm::SelectOp::DEF).operands(&[condition, *yes, *no]);
                        let ty = builder.type_of(*yes);
                        builder.value(state.results(&[ty]))
                    }
                });
                Ending::Branch(Target { operands: operands.collect(), block: yes.block })
            }
            Folded::Equal(value, bits, ways) => {
                let ty = builder.type_of(value);
                let number = ctx.int_attr(ty, bits as i128);
                let state = builder.state(llvm::ConstantOp::DEF).attr(&ctx, "value", number);
                let number = builder.value(state.results(&[ty]));
                let predicate = ctx.int_attr(Type::I64, EQUAL);
                let state = builder.state(llvm::ICmpOp::DEF).attr(&ctx, "predicate", predicate);
                let condition = builder.value(state.operands(&[value, number]).results(&[Type::I1]));
                Ending::Conditional(condition, ways)
            }
        }
    }
}

/// Returns the number of operands in which two targets differ.
fn differing(a: &Target, b: &Target) -> usize {
    a.operands.iter().zip(&b.operands).filter(|(a, b)| a != b).count()
}

/// The current targets of a branch, indexed by their blocks.
pub(super) struct Ways {
    targets: Vec<Target>,
    /// The latest known target that leads to each block.
    leads_to: HashMap<Block, usize>,
    is_conditional: bool,
}

impl Ways {
    pub(super) fn of(function: &Body, op: Op) -> Ways {
        let targets = targets(function, op);
        let leads_to = targets.iter().enumerate().map(|(index, to)| (to.block, index)).collect();
        Ways { targets, leads_to, is_conditional: function.is(op, llvm::CondBrOp::DEF) }
    }

    pub(super) fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Redirects one target, unless another target has the same block with different operands that
    /// could not be selected. Returns true if it was redirected.
    pub(super) fn lead(&mut self, index: usize, to: Target) -> bool {
        let other = self.leads_to.get(&to.block).map(|other| (*other, &self.targets[*other]));
        let other = other.filter(|(other, target)| *other != index && target.block == to.block);
        let differs = other.map_or(0, |(_, other)| differing(other, &to));
        if differs > if self.is_conditional { MAX_SELECTS } else { 0 } {
            return false;
        }
        self.leads_to.insert(to.block, index);
        self.targets[index] = to;
        true
    }
}

/// Erases the computation of an unused value, and operands that only it used.
pub(super) fn erase_unused(function: &mut Body, value: Value) {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        if let Some(op) = function.defining_op(value).filter(|op| is_trivially_dead(function, *op)) {
            let mut operands: Vec<Value> = function.operands(op).collect();
            operands.dedup();
            pending.retain(|other| function.defining_op(*other) != Some(op));
            function.erase(op);
            pending.extend(
                operands.into_iter().filter(|operand| !pending.contains(operand)).collect::<Vec<_>>(),
            );
        }
    }
}
