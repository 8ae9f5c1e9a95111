//! The ways out of a piece of structured code.

use loomir_dialects::llvm;
use loomir_ir::{Builder, Type, Value};
use loomir_transforms::affine::operation::Predicate;

use crate::cfg::arithmetic;

/// The place where control goes on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Target {
    /// A block, by its place in reverse postorder.
    Block(u32),
    /// The end of the function.
    Return,
}

impl Target {
    /// Returns the number that selects the target.
    fn number(self) -> u128 {
        match self {
            Target::Block(order) => u128::from(order),
            Target::Return => u128::from(u32::MAX >> 1),
        }
    }
}

/// The value that tells which of several targets was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Selector {
    /// There is at most one target.
    Certain,
    /// A truth value: the targets if it is true and if it is false.
    Choice(Value, Target, Target),
    /// The number of the target.
    Number(Value),
}

/// The targets of a piece of code, with the values passed to each. Without a target the code never
/// ends.
#[derive(Clone, Debug)]
pub(super) struct Exits {
    /// The targets in order.
    targets: Vec<(Target, Vec<Value>)>,
    selector: Selector,
}

impl Exits {
    /// Code that never ends.
    pub(super) fn none() -> Exits {
        Exits { targets: Vec::new(), selector: Selector::Certain }
    }

    /// Code that always goes on at one place.
    pub(super) fn one(target: Target, values: Vec<Value>) -> Exits {
        Exits { targets: vec![(target, values)], selector: Selector::Certain }
    }

    /// Code that goes on at one of two different places, as a truth value says.
    pub(super) fn choice(value: Value, yes: (Target, Vec<Value>), no: (Target, Vec<Value>)) -> Exits {
        Exits::several(Selector::Choice(value, yes.0, no.0), vec![yes, no])
    }

    /// Code that goes on where the selector says.
    pub(super) fn several(selector: Selector, mut targets: Vec<(Target, Vec<Value>)>) -> Exits {
        targets.sort_by_key(|(target, _)| *target);
        Exits { targets, selector }
    }

    /// Returns the targets in order.
    pub(super) fn targets(&self) -> impl Iterator<Item = Target> + '_ {
        self.targets.iter().map(|(target, _)| *target)
    }

    /// Returns the number of targets.
    pub(super) fn len(&self) -> usize {
        self.targets.len()
    }

    /// Returns the values passed to a target.
    pub(super) fn values(&self, of: Target) -> Option<&[Value]> {
        let at = self.targets.binary_search_by_key(&of, |(target, _)| *target).ok()?;
        Some(&self.targets[at].1)
    }

    /// Returns all passed values, target after target.
    pub(super) fn all_values(&self) -> impl Iterator<Item = Value> + '_ {
        self.targets.iter().flat_map(|(_, values)| values.iter().copied())
    }

    /// Removes a target. The selector stays valid for the others.
    pub(super) fn without(mut self, gone: Target) -> Exits {
        self.targets.retain(|(target, _)| *target != gone);
        if self.targets.len() <= 1 {
            self.selector = Selector::Certain;
        }
        self
    }

    /// Writes the truth value "this target is taken". There must be other targets.
    pub(super) fn is_taken(&self, target: Target, builder: &mut Builder<'_>) -> Value {
        match self.selector {
            Selector::Choice(value, yes, _) if yes == target => value,
            Selector::Choice(value, ..) => {
                let one = arithmetic::constant(builder, 1, 1);
                arithmetic::binary(builder, llvm::XOrOp::DEF, value, one)
            }
            Selector::Number(value) => {
                let number = arithmetic::constant(builder, 32, target.number());
                arithmetic::compare(builder, Predicate::Eq, value, number)
            }
            Selector::Certain => {
                let is_taken = self.targets.iter().any(|(own, _)| *own == target);
                arithmetic::constant(builder, 1, u128::from(is_taken))
            }
        }
    }

    /// Writes the selector of a construct with these targets. Two targets are selected by a truth
    /// value, which is true for the first.
    pub(super) fn selector_among(&self, all: &[Target], builder: &mut Builder<'_>) -> Value {
        if let [first, _] = all[..] {
            return self.is_taken(first, builder);
        }
        let number =
            |builder: &mut Builder<'_>, target: Target| arithmetic::constant(builder, 32, target.number());
        match self.selector {
            Selector::Number(value) => value,
            Selector::Choice(value, yes, no) => {
                let operands = [value, number(builder, yes), number(builder, no)];
                let state = builder.state(llvm::SelectOp::DEF).operands(&operands).results(&[Type::I32]);
                builder.value(state)
            }
            Selector::Certain => {
                let only = self.targets.first().map_or(all[0], |(target, _)| *target);
                number(builder, only)
            }
        }
    }
}

/// Returns the type of the selector among some targets, if one is needed.
pub(super) fn selector_type(targets: &[Target]) -> Option<Type> {
    match targets.len() {
        0 | 1 => None,
        2 => Some(Type::I1),
        _ => Some(Type::I32),
    }
}

/// Returns the selector of a construct with these targets, whose result tells which one is taken.
pub(super) fn selector_of(targets: &[Target], result: Option<Value>) -> Selector {
    match (targets, result) {
        ([yes, no], Some(value)) => Selector::Choice(value, *yes, *no),
        (_, Some(value)) => Selector::Number(value),
        (_, None) => Selector::Certain,
    }
}
