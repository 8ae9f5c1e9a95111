//! Two numberings of the loops around a place: from the root, and outwards.

use crate::affine::AffineForm;

/// Renumbers a form over loops counted outwards to levels counted from the root, in a place inside
/// `depth` loops.
pub fn absolute(form: &AffineForm, depth: u32) -> Option<AffineForm> {
    form.levels_reversed(depth)
}

/// Renumbers a form over levels counted from the root to loops counted outwards, in a place inside
/// `depth` loops.
pub fn relative(form: &AffineForm, depth: u32) -> Option<AffineForm> {
    // Reversal of the numbering is its own inverse.
    absolute(form, depth)
}

/// Returns the form that stands for a level, counted outwards, in iteration `number` of the
/// innermost loop, outside of this loop.
pub(super) fn in_iteration(number: i64, level: u32) -> AffineForm {
    match level.checked_sub(1) {
        None => AffineForm::constant(number),
        Some(outer) => AffineForm::level(outer),
    }
}
