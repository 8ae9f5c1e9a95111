//! Conditions as affine constraints, for the case that they hold and for the case that they fail.
//!
//! Each of the two [`Outcome`]s has constraints that are *necessary* for it; it is exact if they
//! are sufficient too. A partly affine condition therefore still contributes, and negation costs
//! nothing. Followed are comparisons of affine forms, `and`, `or`, also as selections, `xor` with
//! true, constants, and integer sets.
//!
//! **Assumptions.**
//! - A comparison is of numbers of 2 to 64 bits. Tried with `tests/tests/all/forms.rs` and
//!   `fixtures/fusion/symbolic_guards.mlir`.
//!
//! Cost: each value is visited once a [`Forms`], with at most sixteen constraints an outcome.

use loomir_dialects::interfaces::{Decision, Subscripts};
use loomir_ir::rewrite::constant_of;
use loomir_ir::{AffineMap, Op, Value};

use super::operation::{Binary, Operation, Predicate};
use super::{AffineForm, Forms, MAX_CHAIN, width};

/// The maximal number of constraints of an outcome. Further constraints are dropped.
const MAX_CONSTRAINTS: usize = 16;

/// An outcome of a condition.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Outcome {
    /// Forms that are not negative under this outcome.
    pub constraints: Vec<AffineForm>,
    /// True if the constraints are sufficient: the outcome occurs wherever none of them is
    /// negative.
    pub exact: bool,
}

/// The constraints of a condition. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Condition {
    holds: Outcome,
    fails: Outcome,
}

impl Outcome {
    /// Returns an outcome without known constraints.
    fn unknown() -> Outcome {
        Outcome { constraints: Vec::new(), exact: false }
    }

    /// Returns an outcome that occurs exactly where none of these is negative.
    fn exactly(constraints: Vec<AffineForm>) -> Outcome {
        Outcome { constraints, exact: true }
    }

    /// Returns the conjunction of two outcomes.
    fn both(&self, other: &Outcome) -> Outcome {
        let mut both = Outcome { constraints: self.constraints.clone(), exact: self.exact && other.exact };
        for form in &other.constraints {
            if both.constraints.contains(form) {
                continue;
            }
            if both.constraints.len() == MAX_CONSTRAINTS {
                both.exact = false;
                break;
            }
            both.constraints.push(form.clone());
        }
        both
    }

    /// Returns the disjunction of two outcomes. It is known if one of them never occurs, or if they
    /// are the same.
    fn either(&self, other: &Outcome) -> Outcome {
        match (self.is_never(), other.is_never()) {
            (true, _) => other.clone(),
            (_, true) => self.clone(),
            _ if self == other => self.clone(),
            _ => Outcome::unknown(),
        }
    }

    fn is_never(&self) -> bool {
        self.constraints.iter().any(|form| form.as_constant().is_some_and(|number| number < 0))
    }
}

impl Condition {
    /// Returns a condition that nothing is known about.
    pub fn opaque() -> Condition {
        Condition { holds: Outcome::unknown(), fails: Outcome::unknown() }
    }

    /// Returns a condition that always holds, or never.
    fn constant(value: bool) -> Condition {
        let always = Condition {
            holds: Outcome::exactly(Vec::new()),
            fails: Outcome::exactly(vec![AffineForm::constant(-1)]),
        };
        if value { always } else { always.not() }
    }

    /// Returns the outcome in which the condition holds, or fails.
    pub fn outcome(&self, holds: bool) -> &Outcome {
        if holds { &self.holds } else { &self.fails }
    }

    fn not(self) -> Condition {
        Condition { holds: self.fails, fails: self.holds }
    }

    fn and(&self, other: &Condition) -> Condition {
        Condition { holds: self.holds.both(&other.holds), fails: self.fails.either(&other.fails) }
    }

    /// `form ≥ 0`.
    fn at_least_zero(form: AffineForm) -> Condition {
        let fails = match form.times(-1).and_then(|negated| negated.plus(&AffineForm::constant(1), -1)) {
            Some(negated) => Outcome::exactly(vec![negated]),
            None => Outcome::unknown(),
        };
        Condition { holds: Outcome::exactly(vec![form]), fails }
    }

    /// `form = 0`. Its negation is no conjunction.
    fn zero(form: AffineForm) -> Condition {
        if let Some(number) = form.as_constant() {
            return Condition::constant(number == 0);
        }
        let holds = match form.times(-1) {
            Some(negated) => Outcome::exactly(vec![form, negated]),
            None => Outcome { constraints: vec![form], exact: false },
        };
        Condition { holds, fails: Outcome::unknown() }
    }
}

impl Forms<'_> {
    /// Returns the condition of a decision.
    pub fn of_decision(&mut self, decision: &Decision) -> Condition {
        match decision {
            Decision::Value(value) => self.of_flag(*value, MAX_CHAIN),
            Decision::Set(set, operands) => {
                let ctx = self.body.ctx().clone();
                let set = set.data(&ctx);
                let sides: Vec<_> = set.constraints.iter().map(|(side, _)| *side).collect();
                let map = AffineMap::new(&ctx, set.dims, set.symbols, &sides);
                let forms = self.of_subscripts(&Subscripts { map, operands: operands.as_slice().into() });
                let each = forms.into_iter().zip(&set.constraints).map(|(form, (_, equal))| match form {
                    Some(form) if *equal => Condition::zero(form),
                    Some(form) => Condition::at_least_zero(form),
                    None => Condition::opaque(),
                });
                each.fold(Condition::constant(true), |all, one| all.and(&one))
            }
        }
    }

    /// Returns the condition of a value of type `i1`. Recurses once an operation, as long as there
    /// is fuel.
    fn of_flag(&mut self, value: Value, fuel: usize) -> Condition {
        if let Some(known) = self.conditions.get(&value) {
            return known.clone();
        }
        let found = self
            .body
            .defining_op(value)
            .filter(|_| fuel > 0)
            .and_then(|op| self.flag_of(op, value, fuel - 1));
        let condition = found.unwrap_or_else(Condition::opaque);
        self.conditions.insert(value, condition.clone());
        condition
    }

    fn flag_of(&mut self, op: Op, value: Value, fuel: usize) -> Option<Condition> {
        let body = self.body;
        if let Some(constant) = constant_of(body, value) {
            return Some(Condition::constant(constant.as_int(body.ctx())? != 0));
        }
        let operation = Operation::of(body, op)?;
        let (and, xor) = match operation {
            Operation::Compare(predicate) => return self.compared(op, predicate),
            Operation::Select => return self.selected(op, fuel),
            Operation::Binary(Binary::And) => (true, false),
            Operation::Binary(Binary::Or) => (false, false),
            Operation::Binary(Binary::Xor) => (false, true),
            _ => return None,
        };
        let [a, b] = [0, 1].map(|i| body.operand(op, i));
        if xor {
            let flipped = |constant: Value| constant_of(body, constant)?.as_int(body.ctx()).map(|n| n != 0);
            return match (flipped(a), flipped(b)) {
                (_, Some(flip)) => Some(self.of_flag(a, fuel)).map(|c| if flip { c.not() } else { c }),
                (Some(flip), _) => Some(self.of_flag(b, fuel)).map(|c| if flip { c.not() } else { c }),
                _ => None,
            };
        }
        let (a, b) = (self.of_flag(a, fuel), self.of_flag(b, fuel));
        Some(if and { a.and(&b) } else { a.not().and(&b.not()).not() })
    }

    /// Returns the condition of a selection among truth values, of which one is constant: `and` and
    /// `or` in LLVM's form, which ignores poison where the first operand decides.
    fn selected(&mut self, op: Op, fuel: usize) -> Option<Condition> {
        let body = self.body;
        let [flag, yes, no] = [0, 1, 2].map(|i| body.operand(op, i));
        if width(body, yes) != 1 {
            return None;
        }
        let constant = |value: Value| constant_of(body, value)?.as_int(body.ctx()).map(|n| n != 0);
        let ends = (constant(yes), constant(no));
        let a = self.of_flag(flag, fuel);
        match ends {
            (_, Some(false)) => Some(a.and(&self.of_flag(yes, fuel))),
            (Some(true), _) => Some(a.not().and(&self.of_flag(no, fuel).not()).not()),
            _ => None,
        }
    }

    /// Returns the condition of a comparison of two integers of at most 64 bits. One-bit integers
    /// are left out, because 1 and -1 are the same value.
    fn compared(&mut self, op: Op, predicate: Predicate) -> Option<Condition> {
        let body = self.body;
        let [a, b] = [0, 1].map(|i| body.operand(op, i));
        if !(2..=64).contains(&width(body, a)) {
            return None;
        }
        let signs = predicate.is_unsigned().then(|| [a, b].map(|value| self.range(value, MAX_CHAIN).0 >= 0));
        if signs == Some([false, false]) {
            return None;
        }
        let [a_from_zero, b_from_zero] = signs.unwrap_or_default();
        let (x, y) = (self.of(a)?, self.of(b)?);
        let less = |x: &AffineForm, y: &AffineForm| {
            Some(Condition::at_least_zero(y.minus(x)?.plus(&AffineForm::constant(1), -1)?))
        };
        let unsigned_less = |(x, x_from_zero): (&AffineForm, bool), (y, y_from_zero): (&AffineForm, bool)| {
            match (x_from_zero, y_from_zero) {
                (true, true) => less(x, y),
                // As unsigned, a negative number is large: below `y ≥ 0` are the numbers in `0..y`,
                // and above `x ≥ 0` are the numbers not in `0..=x`.
                (false, true) => {
                    let below = less(x, y)?.and(&Condition::at_least_zero(x.clone()));
                    Some(Condition { fails: Outcome::unknown(), ..below })
                }
                (true, false) => {
                    let at_most = less(x, y)?.not().and(&Condition::at_least_zero(y.clone()));
                    Some(Condition { holds: Outcome::unknown(), fails: at_most.holds })
                }
                (false, false) => None,
            }
        };
        let (a, b) = ((&x, a_from_zero), (&y, b_from_zero));
        match predicate {
            Predicate::Eq => Some(Condition::zero(x.minus(&y)?)),
            Predicate::Ne => Some(Condition::zero(x.minus(&y)?).not()),
            Predicate::Slt => less(&x, &y),
            Predicate::Sgt => less(&y, &x),
            Predicate::Sge => less(&x, &y).map(Condition::not),
            Predicate::Sle => less(&y, &x).map(Condition::not),
            Predicate::Ult => unsigned_less(a, b),
            Predicate::Ugt => unsigned_less(b, a),
            Predicate::Uge => unsigned_less(a, b).map(Condition::not),
            Predicate::Ule => unsigned_less(b, a).map(Condition::not),
        }
    }
}
