//! The forms of the bounds of loops.

use loomir_dialects::affine;
use loomir_dialects::interfaces::{Bound, LoopBounds, LoopLike, Step};
use loomir_ir::{Body, Op};

use super::operation::{Binary, Operation};
use super::range::{applied, width};
use super::{AffineForm, Atom, Forms};

/// The maximal number of values of which a bound is the least or the greatest.
const MAX_CHOICES: usize = 8;

/// True if a loop certainly has an iteration each time it is reached: each form of its upper bound
/// is greater than each one of its lower bound, as far as ranges tell. A block of 16 iterations
/// from `i` on has one.
pub(crate) fn has_iteration(body: &Body, op: Op) -> bool {
    let view = body.op_ref(op);
    let Some(model) = view.info().interface::<dyn LoopLike>() else { return false };
    let (LoopBounds { lower, upper, step, .. }, Some(block)) = (model.bounds(view), body.block_of(op)) else {
        return false;
    };
    if model.is_unsigned(view) || !matches!(step, Step::Constant(1..)) {
        return false;
    }
    let mut forms = Forms::new(body, block);
    let (lower, upper) = (forms.of_bound(&lower), forms.of_upper_bound(&upper));
    let mut is_below = |lower: &Option<AffineForm>, upper: &Option<AffineForm>| {
        let trips = upper.as_ref().zip(lower.as_ref()).and_then(|(upper, lower)| upper.minus(lower));
        trips.is_some_and(|trips| forms.range_of_form_over_values(&trips).0 > 0)
    };
    let mut pairs = lower.iter().flat_map(|lower| upper.iter().map(move |upper| (lower, upper)));
    !lower.is_empty() && !upper.is_empty() && pairs.all(|(lower, upper)| is_below(lower, upper))
}

impl Forms<'_> {
    /// Returns the forms whose greatest (lower bound) or least (upper bound) is the bound. `None`
    /// for a form that is not affine. A value is one form: see [`Forms::of_upper_bound`].
    pub fn of_bound(&mut self, bound: &Bound) -> Vec<Option<AffineForm>> {
        match bound {
            Bound::Value(value) => vec![self.of(*value)],
            Bound::Map(subscripts) => self.of_subscripts(subscripts),
        }
    }

    /// Returns the forms whose least is an upper bound, read as signed. A value that is computed as
    /// the least of others, some of which change with the loops around, has a form for each.
    pub fn of_upper_bound(&mut self, bound: &Bound) -> Vec<Option<AffineForm>> {
        match self.chosen(bound, Binary::MinS) {
            Some(forms) => forms.into_iter().map(Some).collect(),
            None => self.of_bound(bound),
        }
    }

    /// Returns forms that a lower bound is at least, read as signed: those that it is computed from
    /// as the greatest. Nothing if it is none of that kind.
    pub fn below_lower_bound(&mut self, bound: &Bound) -> Vec<AffineForm> {
        self.chosen(bound, Binary::MaxS).unwrap_or_default()
    }

    /// Returns the forms of the values of which a bound is the least ([`Binary::MinS`]) or the
    /// greatest ([`Binary::MaxS`]), if it is and all of them have forms. Nothing if none of them
    /// changes with the loops around: then the bound is a parameter, and [`facts`] relate it.
    fn chosen(&mut self, bound: &Bound, by: Binary) -> Option<Vec<AffineForm>> {
        let Bound::Value(value) = bound else { return None };
        let body = self.body;
        let of_map = if by == Binary::MinS { affine::MinOp::DEF } else { affine::MaxOp::DEF };
        let (mut forms, mut pending) = (Vec::new(), vec![*value]);
        while let Some(value) = pending.pop() {
            let op = body.defining_op(value);
            match op.map(|op| (op, Operation::of(body, op))) {
                Some((op, Some(Operation::Binary(binary)))) if binary == by => {
                    pending.extend([1, 0].map(|at| body.operand(op, at)));
                }
                // An extension keeps the number.
                Some((op, Some(Operation::Signed)))
                    if width(body, body.operand(op, 0)) <= width(body, value) =>
                {
                    pending.push(body.operand(op, 0));
                }
                Some((op, _)) if body.is(op, of_map) => {
                    for form in self.of_subscripts(&applied(body, op)?) {
                        forms.push(form?);
                    }
                }
                _ => forms.push(self.of(value)?),
            }
            if forms.len() + pending.len() > MAX_CHOICES {
                return None;
            }
        }
        let changes = |form: &AffineForm| !form.all_atoms(&|atom| !matches!(atom, Atom::Level(_)));
        (forms.len() > 1 && forms.iter().any(changes)).then_some(forms)
    }
}
