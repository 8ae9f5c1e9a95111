//! Loads and stores through pointers: an object, and bytes behind its address.
//!
//! An address is followed through `getelementptr` to its root. What the computations add are the
//! bytes behind the root: multiples of values, and constants. If all accesses of an object have the
//! same width, and all steps are multiples of it, the object counts as an array of such elements.
//! Otherwise its elements are bytes, and an access touches several.
//!
//! **Assumptions.**
//! - An access happens inside one object, which covers less than half of all addresses.
//! - Address arithmetic has 64 bits. Pointers of other widths touch the whole object.
//! - A load or store touches the store size of its type, on the module's data layout.
//!
//! **Cost.** The widths of all accesses in a body are collected once.

use hashbrown::HashMap;
use loomir_dialects::interp::layout::{DataLayout, Layout};
use loomir_dialects::llvm::attributes::ATOMIC_ORDERING;
use loomir_dialects::llvm::memory::address::{NUSW, NUW, byte_offsets, no_wrap_flags};
use loomir_dialects::llvm::types::LlvmType;
use loomir_dialects::llvm::{GEPOp, LoadOp, StoreOp};
use loomir_ir::{Body, Op, Value};

use super::base::{Base, Bases};
use crate::affine::range::{Range, fits, product, sum};
use crate::affine::{AffineForm, Forms};

/// The maximal number of address computations between an access and its root.
const MAX_CHAIN: usize = 64;
/// The width of address arithmetic.
const WIDTH: u32 = 64;

/// A load or store of known width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bytes {
    /// The address.
    pub pointer: Value,
    /// The number of bytes. Positive.
    pub width: i64,
    /// The bytes of an element of the object: the width, or one.
    pub unit: i64,
}

/// The widths of accesses, by object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Units {
    /// The common width. `None` if there is none.
    of: HashMap<Base, Option<i64>>,
}

/// Returns the address and the width of a load or store. An atomic or volatile one has no width
/// here: it is never contracted, and orders the whole object.
pub(crate) fn accessed(body: &Body, op: Op, layout: &DataLayout) -> Option<(Value, i64)> {
    let view = body.op_ref(op);
    let (pointer, ty) = if view.is(LoadOp::DEF) {
        (view.operand(0), view.result_type(0))
    } else if view.is(StoreOp::DEF) {
        (view.operand(1), view.operand_type(0))
    } else {
        return None;
    };
    let ordering = view.attr("ordering").and_then(|attr| ATOMIC_ORDERING.value(body.ctx(), attr));
    if view.attr("volatile_").is_some() || ordering.unwrap_or(0) != 0 {
        return None;
    }
    let width = Layout::of(body.ctx(), ty, layout).ok()?.store_size;
    let width = i64::try_from(width).ok().filter(|width| *width > 0)?;
    has_width(body, pointer, layout).then_some((pointer, width))
}

/// True if addresses of a pointer's space are computed in 64 bits.
fn has_width(body: &Body, pointer: Value, layout: &DataLayout) -> bool {
    match LlvmType::of(body.ctx(), body.value_type(pointer)) {
        Some(LlvmType::Pointer { space }) => layout.pointer(space).index_bits == WIDTH,
        _ => false,
    }
}

/// True if an access, and each step to its address, is a multiple of a number of bytes.
pub(super) fn counts_in(body: &Body, pointer: Value, width: i64, unit: i64, layout: &DataLayout) -> bool {
    width % unit == 0
        && steps(body, pointer, layout).is_some_and(|steps| {
            steps
                .iter()
                .all(|step| step.fixed % unit == 0 && step.scaled.iter().all(|(_, scale)| scale % unit == 0))
        })
}

impl Units {
    /// Collects the widths of all accesses in a body. Linear.
    pub(crate) fn of(body: &Body, bases: &mut Bases<'_>, layout: &DataLayout) -> Units {
        let mut units = Units::default();
        for op in body.all_ops() {
            let Some((pointer, width)) = accessed(body, op, layout) else { continue };
            let whole = counts_in(body, pointer, width, width, layout);
            let own = if whole { Some(width) } else { None };
            let (base, _) = bases.of(pointer);
            let known = units.of.entry(base).or_insert(own);
            if *known != own {
                *known = None;
            }
        }
        units
    }

    /// Returns the bytes of an element of an object.
    pub(super) fn unit(&self, base: Base) -> i64 {
        self.of.get(&base).copied().flatten().unwrap_or(1)
    }
}

/// One address computation.
struct Step {
    fixed: i64,
    scaled: Vec<(Value, i64)>,
    flags: i64,
}

/// Returns the root of an address, which no computation makes.
pub(super) fn root(body: &Body, pointer: Value) -> Value {
    let source = |at: &Value| {
        let op = body.defining_op(*at).filter(|op| body.is(*op, GEPOp::DEF))?;
        Some(body.operand(op, 0))
    };
    std::iter::successors(Some(pointer), source).take(MAX_CHAIN).last().unwrap_or(pointer)
}

/// Returns the computations between an address and its root, the last one first.
fn steps(body: &Body, pointer: Value, layout: &DataLayout) -> Option<Vec<Step>> {
    let root = root(body, pointer);
    let (mut at, mut steps) = (pointer, Vec::new());
    while at != root {
        let op = body.defining_op(at)?;
        let (fixed, scaled) = byte_offsets(body.op_ref(op), layout).ok()?;
        let flags = no_wrap_flags(body.op_ref(op));
        steps.push(Step { fixed, scaled, flags });
        at = body.operand(op, 0);
    }
    Some(steps)
}

/// Returns the values that an address adds to its root.
pub(super) fn indices(body: &Body, pointer: Value, layout: &DataLayout) -> Vec<Value> {
    let steps = steps(body, pointer, layout).unwrap_or_default();
    steps.into_iter().flat_map(|step| step.scaled).map(|(index, _)| index).collect()
}

/// Returns the distance of an address from its root as a sum of multiples in ℤ. `None` if it may
/// wrap, or has a term without a form.
pub(super) fn distance(
    body: &Body,
    forms: &mut Forms<'_>,
    pointer: Value,
    layout: &DataLayout,
) -> Option<Vec<Term>> {
    let mut terms = Vec::new();
    // The least and the most bytes added since the last computation that is in bounds.
    let mut reach: Range = (0, 0);
    for Step { fixed, scaled, flags } in steps(body, pointer, layout)? {
        let mut added: Range = (fixed.into(), fixed.into());
        let mut is_natural = fixed >= 0;
        for (index, scale) in scaled {
            let form = forms.of(index)?;
            let range = forms.range_of_located(index, &form);
            is_natural &= range.0 >= 0 && scale >= 0;
            added = sum(added, product(range, (scale.into(), scale.into())));
            terms.push(Term { scale, value: Some((index, form)) });
        }
        terms.push(Term { scale: fixed, value: None });
        if flags & NUSW != 0 || (flags & NUW != 0 && is_natural) {
            // Both ends are in one object, or the address itself does not wrap.
            reach = (0, 0);
        } else {
            reach = sum(reach, added);
            if !fits(added, WIDTH) || !fits(reach, WIDTH) {
                return None;
            }
        }
    }
    Some(terms)
}

/// A multiple of a value, or a number of bytes.
pub(super) struct Term {
    /// The number of bytes, or the factor of the value.
    pub(super) scale: i64,
    /// The value and its form.
    pub(super) value: Option<(Value, AffineForm)>,
}

impl Term {
    /// Returns the term as a multiple of a form, in units of this many bytes.
    pub(super) fn as_multiple(&self, unit: i64) -> (i64, AffineForm) {
        let form = self.value.as_ref().map_or_else(|| AffineForm::constant(1), |(_, form)| form.clone());
        (self.scale / unit, form)
    }
}
