//! The location of an access in its object. [`Forms`] makes the forms of subscripts.
//!
//! # Assumptions
//!
//! - Strides that are not static and positive may be zero, so two elements may coincide. Tried with
//!   `memref.reinterpret_cast` and `memref.subview` of stride 0.
//!
//! # Limits
//!
//! - A subscript that is not affine touches the whole object.
//! - In a memref of one dimension, `(i * n + j) * m + k` counts as three subscripts if each digit
//!   is proved or tested to be below its size and nothing wraps.
//! - A view counts as its source if its strides are constants that determine the subscripts.

use std::fmt;
use std::sync::Arc;

use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::{affine, arith, interfaces, llvm};
use loomir_ir::{Attr, AttrKind, Body, Context, DYNAMIC, Type, TypeKind, Value};

use super::base::{Base, Bases};
use super::pointers::{self, Bytes};
use super::{ConditionalElements, Domain};
use crate::affine::{AffineForm, Atom, Forms};
use digits::{Digits, summed};

mod digits;
mod linear;

pub use linear::Linear;

/// Locates accesses.
///
/// **Owed:** this is about two accesses of one object with equal origin, equal sizes and equally
/// many subscripts. They touch one location only if all subscripts known for both are equal. If
/// both have all subscripts, and these are equal, they do touch one location.
pub trait Accesses: fmt::Debug + Send + Sync {
    /// Returns the location of an access; `None` if it may be anywhere in its object.
    fn locate(&self, site: &mut Site<'_, '_>) -> Option<Elements>;

    /// Returns the location of an access through a pointer, in units of its object. If the unit is
    /// less than the width, the access touches several elements from there on.
    fn locate_bytes(&self, _: &mut Site<'_, '_>, _: Bytes, _: &DataLayout) -> Option<Elements> {
        None
    }
}

/// Elements of an object, by subscripts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Elements {
    /// The memref whose elements the subscripts name.
    pub origin: Value,
    /// The sizes of all dimensions but the first, if they differ from the origin's type: forms over
    /// parameters alone.
    pub sizes: Vec<AffineForm>,
    /// One form for each dimension, `None` where it is not affine.
    pub subscripts: Vec<Option<AffineForm>>,
    /// Other subscripts, which name the elements under conditions.
    pub conditional: Option<ConditionalElements>,
}

impl Elements {
    /// Returns any element of an object.
    pub(super) fn anywhere(origin: Value) -> Elements {
        Elements::plain(origin, vec![None])
    }

    /// True if all subscripts are known by variables of loops and numbers from before the nests, in
    /// any case or under conditions.
    pub(super) fn is_known(&self, forms: &Forms<'_>) -> bool {
        let is_known = |form: &AffineForm| {
            form.all_atoms(&|atom| match atom {
                Atom::Param(value) => forms.is_outside(*value),
                _ => true,
            })
        };
        self.conditional.is_some() || self.subscripts.iter().all(|form| form.as_ref().is_some_and(is_known))
    }

    /// Returns the elements that subscripts name without further sizes.
    fn plain(origin: Value, subscripts: Vec<Option<AffineForm>>) -> Elements {
        Elements { origin, sizes: Vec::new(), subscripts, conditional: None }
    }
}

/// An access that is located.
pub struct Site<'s, 'b> {
    /// The body it is in.
    pub body: &'b Body,
    /// The memref of the access and its subscripts. `None` for an access through a pointer.
    pub access: Option<&'s interfaces::Access>,
    /// Its object.
    pub base: Base,
    /// The source of the accessed memref behind casts, or the memref itself. The root of a pointer.
    pub origin: Value,
    /// The forms of values.
    pub forms: &'s mut Forms<'b>,
    /// The objects of memrefs.
    pub bases: &'s mut Bases<'b>,
    /// The iterations in which the access happens. Constraints of the surrounding loops of the tree
    /// are left out; each loop has its own.
    pub domain: &'s Domain,
    /// For each loop around, from the outside, forms that are not negative.
    pub around: &'s [Vec<AffineForm>],
}

impl Site<'_, '_> {
    /// True if a memref refers to the same memory throughout the statement. A view that is created
    /// inside the statement may differ each time. An allocation or the address of a
    /// variable counts as one object in any case.
    fn is_one(&self, origin: Value) -> bool {
        let defined = self.body.defining_op(origin);
        let is_variable = defined.is_some_and(|op| self.body.is(op, llvm::AddressOfOp::DEF));
        self.base == Base::Allocation(origin) || is_variable || self.forms.is_parameter(origin)
    }

    /// True if a form uses a value that is a product, or may be one.
    fn has_product(&self, form: &AffineForm) -> bool {
        let is_one = |value: Value| {
            let op = self.body.defining_op(value);
            op.is_some_and(|op| {
                [arith::MulIOp::DEF, llvm::MulOp::DEF, affine::ApplyOp::DEF]
                    .iter()
                    .any(|def| self.body.is(op, def))
            })
        };
        form.terms().iter().any(|(atom, _)| matches!(atom, Atom::Param(value) if is_one(*value)))
    }
}

/// Anywhere in the object.
#[derive(Clone, Copy, Debug)]
pub struct Alias;

/// Locates an access by a subscript for each dimension. A view that only renames elements is
/// replaced by its source. A one-dimensional memref is delinearized if its subscript is a sum of
/// products with parameters, and these prove to be sizes. The default.
#[derive(Clone, Copy, Debug)]
pub struct Delinearized;

impl Accesses for Alias {
    fn locate(&self, _: &mut Site<'_, '_>) -> Option<Elements> {
        None
    }
}

impl Accesses for Delinearized {
    fn locate(&self, site: &mut Site<'_, '_>) -> Option<Elements> {
        let access = site.access?;
        if let Some(elements) = linear::of_view(site, access) {
            return Some(elements);
        }
        let ty = site.body.value_type(access.memref);
        if !site.is_one(site.origin) || !has_separate_elements(site.body.ctx(), ty) {
            return None;
        }
        let subscripts = site.forms.of_accessed(&access.subscripts);
        let by_itself = Elements::plain(site.origin, subscripts);
        let is_product = |form: &Option<AffineForm>| form.as_ref().is_none_or(|form| site.has_product(form));
        if !matches!(&by_itself.subscripts[..], [one] if is_product(one)) {
            return Some(by_itself);
        }
        let found = Digits::of_subscript(site, &access.subscripts);
        Some(found.map_or(by_itself.clone(), |found| found.elements(site, 1, by_itself)))
    }

    fn locate_bytes(&self, site: &mut Site<'_, '_>, bytes: Bytes, layout: &DataLayout) -> Option<Elements> {
        let distance = pointers::distance(site.body, site.forms, bytes.pointer, layout)?;
        if !site.is_one(site.origin) {
            return None;
        }
        let form = summed(&distance.iter().map(|term| term.as_multiple(bytes.unit)).collect::<Vec<_>>())?;
        let has_product = site.has_product(&form);
        let by_itself = Elements::plain(site.origin, vec![Some(form)]);
        if !has_product {
            return Some(by_itself);
        }
        let (found, count) = (Digits::of_terms(site, &distance, bytes.unit), bytes.width / bytes.unit);
        Some(found.map_or(by_itself.clone(), |found| found.elements(site, count, by_itself)))
    }
}

/// True if different subscripts in bounds are different memory: the identity layout, or static
/// strides that leave no overlap.
fn has_separate_elements(ctx: &Context, ty: Type) -> bool {
    let TypeKind::MemRef { shape: Some(shape), layout, .. } = ty.kind(ctx) else { return false };
    match layout {
        None => true,
        Some(layout) => has_separate_strides(ctx, *layout, shape),
    }
}

fn has_separate_strides(ctx: &Context, layout: Attr, shape: &[i64]) -> bool {
    let AttrKind::Strided { strides, .. } = layout.kind(ctx) else { return false };
    let mut dims: Vec<(i64, i64)> = strides.iter().copied().zip(shape.iter().copied()).collect();
    if dims.iter().any(|(stride, size)| *stride == DYNAMIC || *stride <= 0 || *size < 0) {
        return false;
    }
    dims.sort_unstable();
    dims.windows(2).all(|pair| pair[0].0.checked_mul(pair[0].1).is_some_and(|extent| extent <= pair[1].0))
}

/// Returns an implementation by its name.
pub(super) fn named(name: &str) -> Option<Arc<dyn Accesses>> {
    Some(match name {
        "alias" => Arc::new(Alias),
        "linear" => Arc::new(Linear),
        "delinearized" => Arc::new(Delinearized),
        _ => return None,
    })
}
