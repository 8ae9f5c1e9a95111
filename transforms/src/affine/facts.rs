//! Facts about parameters: properties of every value that a parameter may have.
//!
//! A form treats a parameter as an arbitrary number. The operation that computes it implies more. A
//! size of a memref is not negative, `arith.minsi` is at most either operand, a remainder is below
//! its divisor, and all numbers are within their types. None of these facts is approximated. They
//! let more questions about wrong instances be answered, and witnesses get possible numbers.
//!
//! Poison: facts are about values that are used as executed bounds, conditions or subscripts, so
//! they are not poison.
//!
//! **Assumptions.**
//! - Sizes of memrefs are not negative. Tried with `fixtures/fusion/symbolic.mlir`.
//! - An argument of a function that is used as a bound is not poison. Not tried: nothing executes
//!   poison arguments.

use hashbrown::HashMap;
use loomir_dialects::affine;
use loomir_ir::Value;

use super::operation::{Binary, Operation};
use super::range::{Range, applied, both, of_product, width};
use super::{AffineForm, Atom, Forms, MAX_CHAIN};

/// The known facts about some parameters.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    of: HashMap<Value, Fact>,
}

/// The known facts about a parameter.
#[derive(Clone, Debug)]
struct Fact {
    range: Range,
    /// Forms that are not negative.
    relations: Vec<AffineForm>,
}

impl Facts {
    /// True if facts about a parameter are recorded.
    pub fn is_known(&self, value: Value) -> bool {
        self.of.contains_key(&value)
    }

    /// Records the facts about a parameter: its least and greatest number, and forms without levels
    /// that are not negative.
    pub fn know(&mut self, value: Value, range: Range, relations: Vec<AffineForm>) {
        self.of.insert(value, Fact { range, relations });
    }

    /// Returns the range of a parameter, or of a product of parameters, where some have narrower
    /// ranges. `None` if nothing is known.
    pub fn range(&self, unknown: &Atom, narrower: &HashMap<Value, Range>) -> Option<Range> {
        let ranges = unknown.factors()?.iter().map(|value| self.range_of(*value, narrower));
        let ranges = ranges.collect::<Option<Vec<Range>>>()?;
        Some(of_product(unknown, &ranges))
    }

    fn range_of(&self, value: Value, narrower: &HashMap<Value, Range>) -> Option<Range> {
        let own = self.of.get(&value)?.range;
        Some(narrower.get(&value).map_or(own, |narrower| both(own, *narrower)))
    }

    /// Returns forms without levels that are not negative, about a parameter or a product of
    /// parameters. `narrower` holds narrower ranges of parameters, if known.
    pub fn relations(&self, unknown: &Atom, narrower: &HashMap<Value, Range>) -> Vec<AffineForm> {
        match unknown {
            Atom::Param(value) => self.of.get(value).map(|fact| fact.relations.clone()).unwrap_or_default(),
            Atom::Product(factors) => self.of_factors(unknown, factors, narrower).into_iter().collect(),
            Atom::Level(_) | Atom::FloorDiv(..) => Vec::new(),
        }
    }

    /// Returns a plane below a product: `x ≥ a` and `y ≥ b` imply `(x - a)(y - b) ≥ 0`.
    fn of_factors(
        &self,
        product: &Atom,
        factors: &[Value],
        narrower: &HashMap<Value, Range>,
    ) -> Option<AffineForm> {
        let [x, y] = factors else { return None };
        let least = |value: &Value| i64::try_from(self.range_of(*value, narrower)?.0).ok();
        let (a, b) = (least(x)?, least(y)?);
        let atom = |value: &Value| AffineForm::atom(Atom::Param(*value));
        let plane = AffineForm::constant(a.checked_mul(b)?).plus(&atom(x), b.checked_neg()?)?;
        plane.plus(&atom(y), a.checked_neg()?)?.plus(&AffineForm::atom(product.clone()), 1)
    }
}

impl Forms<'_> {
    /// Returns the facts about all parameters that occur in forms.
    pub fn facts(&mut self) -> Facts {
        let mut facts = Facts::default();
        let mut next = 0;
        // Relations may have further ones.
        while let Some(value) = self.named.get(next).copied() {
            next += 1;
            if facts.is_known(value) {
                continue;
            }
            let range = self.range_of(value);
            let mut relations = self.relations(value).unwrap_or_default();
            let has_no_level = |form: &AffineForm| form.all_atoms(&|atom| !matches!(atom, Atom::Level(_)));
            relations.retain(has_no_level);
            facts.know(value, range, relations);
        }
        facts
    }

    /// Returns forms that are not negative, derived from the operation that computes a value.
    pub(crate) fn relations(&mut self, value: Value) -> Option<Vec<AffineForm>> {
        let body = self.body;
        let op = body.defining_op(value)?;
        let own = AffineForm::atom(Atom::Param(value));
        let at_most = |bound: Option<AffineForm>| bound.and_then(|bound| bound.minus(&own));
        let at_least = |bound: Option<AffineForm>| bound.and_then(|bound| own.minus(&bound));
        if body.is(op, affine::MinOp::DEF) || body.is(op, affine::MaxOp::DEF) {
            let least = body.is(op, affine::MinOp::DEF);
            let bounds = self.of_subscripts(&applied(body, op)?).into_iter();
            return Some(
                bounds.filter_map(|bound| if least { at_most(bound) } else { at_least(bound) }).collect(),
            );
        }
        let binary = match Operation::of(body, op)? {
            // An unsigned extension is the number itself, or more than a negative one.
            Operation::Unsigned if width(body, value) > width(body, body.operand(op, 0)) => {
                let extended = self.of(body.operand(op, 0));
                return Some(at_least(extended).into_iter().collect());
            }
            Operation::Binary(binary) => binary,
            _ => return None,
        };
        let [a, b] = [0, 1].map(|i| body.operand(op, i));
        let (of_a, of_b) = (self.of(a), self.of(b));
        let (a, b) = (self.range(a, MAX_CHAIN), self.range(b, MAX_CHAIN));
        let is_natural = a.0 >= 0 && b.0 >= 0;
        let relations = match binary {
            Binary::MinS => vec![at_most(of_a), at_most(of_b)],
            Binary::MaxS => vec![at_least(of_a), at_least(of_b)],
            Binary::MinU if is_natural => vec![at_most(of_a), at_most(of_b)],
            Binary::MaxU if is_natural => vec![at_least(of_a), at_least(of_b)],
            Binary::And if is_natural => vec![at_most(of_a), at_most(of_b)],
            Binary::Or if is_natural => vec![at_least(of_a), at_least(of_b)],
            // A quotient by one or more is at most the dividend. A remainder is also less than the
            // divisor.
            Binary::DivS | Binary::DivU | Binary::CeilDivS | Binary::CeilDivU | Binary::FloorDivS
                if a.0 >= 0 && b.0 >= 1 =>
            {
                vec![at_most(of_a)]
            }
            Binary::RemS | Binary::RemU if a.0 >= 0 && b.0 >= 1 => {
                vec![at_most(of_a), at_most(of_b.and_then(|b| b.plus(&AffineForm::constant(1), -1)))]
            }
            Binary::ShrS | Binary::ShrU if a.0 >= 0 => vec![at_most(of_a)],
            _ => Vec::new(),
        };
        Some(relations.into_iter().flatten().collect())
    }
}
