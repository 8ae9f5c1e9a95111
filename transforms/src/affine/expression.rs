//! Affine forms as expressions of affine maps.
//!
//! An affine map may not overflow, not even in intermediate results. Terms are therefore added in
//! an order in which no sum exceeds 64 bits, the constant last. A form without such an order has no
//! expression.
//!
//! **Cost.** Quadratic in the terms of a form, which are few.

use loomir_ir::{AffineExpr, Context, Value};

use super::range::{Range, fits};
use super::{AffineForm, Atom};

/// The operands of a map under construction, and what is known of them.
pub(crate) trait Operands {
    /// Why there is no expression.
    type Refusal;
    /// A value is no operand of the map.
    const NO_OPERAND: Self::Refusal;
    /// A sum may leave 64 bits.
    const MAY_WRAP: Self::Refusal;

    /// Returns the least and the greatest number that a form may be.
    fn range(&mut self, form: &AffineForm) -> Range;

    /// Returns the operand for a value.
    fn operand(&mut self, value: Value) -> Result<AffineExpr, Self::Refusal>;
}

/// Returns the position of a value in a list, which it is added to if it is not there.
pub(crate) fn position(list: &mut Vec<Value>, value: Value) -> u32 {
    let at = list.iter().position(|known| *known == value).unwrap_or(list.len());
    if at == list.len() {
        list.push(value);
    }
    at as u32
}

/// Returns a form over values as an expression. With `value`, each number that the form has is in
/// this range, within 64 bits. Recurses once for each nested quotient. Forms bound their nesting
/// depth.
pub(crate) fn expression<O: Operands>(
    ctx: &Context,
    form: &AffineForm,
    value: Option<Range>,
    operands: &mut O,
) -> Result<AffineExpr, O::Refusal> {
    let constant = form.constant_part();
    // The range of the sum of all terms.
    let whole = value.map(|(least, most)| (least - i128::from(constant), most - i128::from(constant)));
    let mut left = form.terms().to_vec();
    let (mut sum, mut all) = (AffineForm::default(), None::<AffineExpr>);
    while !left.is_empty() {
        let fits_as_last = left.len() == 1 && whole.is_some_and(|whole| fits(whole, 64));
        // The next term with which the sum does not overflow.
        let next = left.iter().enumerate().find_map(|(place, (atom, coefficient))| {
            let term = AffineForm::atom(atom.clone()).times(*coefficient)?;
            let with = sum.plus(&term, 1)?;
            let mut is_in_range = |form: &AffineForm| fits(operands.range(form), 64);
            let is_term = *coefficient == 1 || is_in_range(&term);
            (is_term && (fits_as_last || is_in_range(&with))).then_some((place, with))
        });
        let (place, with) = next.ok_or(O::MAY_WRAP)?;
        let (atom, coefficient) = left.remove(place);
        let term = match atom {
            Atom::Param(value) => operands.operand(value)?,
            Atom::FloorDiv(inner, divisor) => {
                let inner = expression(ctx, &inner, None, operands)?;
                inner.floordiv(ctx, AffineExpr::constant(ctx, divisor))
            }
            Atom::Product(_) | Atom::Level(_) => return Err(O::NO_OPERAND),
        };
        let term = term.mul(ctx, AffineExpr::constant(ctx, coefficient));
        all = Some(all.map_or(term, |all| all.add(ctx, term)));
        sum = with;
    }
    if value.is_none() && !fits(operands.range(form), 64) {
        return Err(O::MAY_WRAP);
    }
    let constant = AffineExpr::constant(ctx, constant);
    Ok(all.map_or(constant, |all| all.add(ctx, constant)))
}
