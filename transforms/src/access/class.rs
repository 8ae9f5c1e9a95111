//! Access classes, and the iteration domains in which they happen.

use std::sync::Arc;

use loomir_dialects::interfaces::LoopBounds;
use loomir_dialects::{llvm, memref};
use loomir_ir::{Body, Op, Value};
use smallvec::SmallVec;

use super::base::Base;
use super::updates::Reduction;
use crate::affine::AffineForm;
use crate::affine::system::Instances;

/// Iteration vectors: all integer values of the levels for which every constraint is `>= 0`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Domain {
    /// The number of levels.
    pub levels: u32,
    /// Forms that are not negative.
    pub constraints: Vec<AffineForm>,
    /// True if no constraint is missing.
    pub exact: bool,
}

impl Class {
    /// Accesses of any part of an object.
    pub fn whole(base: Base, writes: bool, domain: &Arc<Domain>) -> Class {
        let domain = domain.clone();
        Class {
            base,
            origin: None,
            sizes: Vec::new(),
            subscripts: None,
            conditional: None,
            unit: 0,
            writes,
            update: None,
            domain,
        }
    }

    /// True if both classes are equal but for the constants of their subscripts.
    pub(crate) fn is_translated(&self, other: &Class) -> bool {
        let Class { base, origin, sizes, subscripts, conditional, unit, writes, update, domain } = self;
        let is_translated = |(x, y): (&Option<AffineForm>, &Option<AffineForm>)| match (x, y) {
            (Some(x), Some(y)) => x.terms() == y.terms(),
            (x, y) => x.is_none() && y.is_none(),
        };
        let are_translated = match (subscripts, &other.subscripts) {
            (Some(x), Some(y)) => x.len() == y.len() && x.iter().zip(y).all(is_translated),
            (x, y) => x.is_none() && y.is_none(),
        };
        are_translated
            && (base, origin, unit, writes) == (&other.base, &other.origin, &other.unit, &other.writes)
            && (sizes, conditional, update) == (&other.sizes, &other.conditional, &other.update)
            && *domain == other.domain
    }

    /// Returns the memref that the subscripts of `origin`, or of a cast of it, are relative to.
    /// `None` for a global, because several values name it.
    pub(super) fn named_origin(body: &Body, origin: Value) -> Option<Value> {
        let is_name = |op| body.is(op, memref::GetGlobalOp::DEF) || body.is(op, llvm::AddressOfOp::DEF);
        let names_global = body.defining_op(origin).is_some_and(is_name);
        (!names_global).then_some(origin)
    }

    /// True if equal subscripts name equal elements in both classes. Both must access one object.
    pub fn counts_like(&self, other: &Class) -> bool {
        self.is_relative_to(other) && self.sizes == other.sizes
    }

    /// True if both classes count from one place in units of one size.
    pub fn is_relative_to(&self, other: &Class) -> bool {
        self.origin == other.origin && self.unit == other.unit
    }
}

impl ConditionalElements {
    /// Returns all forms.
    pub fn forms(&self) -> impl Iterator<Item = &AffineForm> {
        self.conditions.iter().chain(&self.sizes).chain(&self.subscripts)
    }
}

impl Domain {
    /// Returns the levels and their constraints.
    pub fn instances(&self) -> Instances<'_> {
        (self.levels, &self.constraints)
    }
}

/// Accesses of one relation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Class {
    /// The object.
    pub base: Base,
    /// The memref whose elements the subscripts name; `None` for elements of the base, a global.
    pub origin: Option<Value>,
    /// The sizes of all dimensions but the first, if they differ from the origin's type.
    pub sizes: Vec<AffineForm>,
    /// One form for each dimension, `None` where the subscript is not affine. `None` altogether
    /// stands for the whole object.
    pub subscripts: Option<Vec<Option<AffineForm>>>,
    /// The elements under conditions, if the subscripts do not name them in any case.
    pub conditional: Option<Arc<ConditionalElements>>,
    /// The bytes of the counted elements of an object behind a pointer. 0 for elements of a memref.
    pub unit: i64,
    /// True for a write.
    pub writes: bool,
    /// The reduction, if the access belongs to an [update](super::updates) of an element.
    pub update: Option<Reduction>,
    /// The iteration domain.
    pub domain: Arc<Domain>,
}

/// The elements that an access touches if some conditions hold.
///
/// Rows of unknown length are such a case. In `a[i * n + j]` with `j` from 0 to `m`, the subscripts
/// are `i` and `j` if `m` is at most `n`. A run-time test may establish the conditions.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ConditionalElements {
    /// Forms over parameters. The subscripts name the elements if no form is negative.
    pub conditions: Vec<AffineForm>,
    /// The sizes of all dimensions but the first: forms over parameters.
    pub sizes: Vec<AffineForm>,
    /// One form for each dimension.
    pub subscripts: Vec<AffineForm>,
}

/// The iteration domain of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Space {
    /// The bounds as written.
    pub bounds: LoopBounds,
    /// The single lower bound, if it is affine.
    pub lower: Option<AffineForm>,
    /// Forms of which the lower bound is the greatest, if it is known to be that.
    pub starts: Vec<AffineForm>,
    /// The upper bounds; `None` where one is not affine.
    pub uppers: Vec<Option<AffineForm>>,
    /// The step, if it is a positive constant.
    pub step: Option<i64>,
    /// True if the induction variable is compared as unsigned.
    pub unsigned: bool,
    /// The induction variable. The loop's own level counts iterations if there is one affine lower
    /// bound and a constant step. Otherwise the level is the induction variable itself, which has
    /// no form if it is unsigned.
    pub variable: Option<AffineForm>,
    /// The constraints (forms that are not negative), and a flag if they are exact.
    pub domain: Domain,
}

impl Space {
    /// True if the loop's level counts its iterations.
    pub fn is_counted(&self) -> bool {
        self.lower.is_some() && self.step.is_some() && !self.unsigned
    }

    /// Returns the lower and upper bounds that are affine.
    pub fn bounds(&self) -> impl Iterator<Item = &AffineForm> {
        self.lower.iter().chain(self.uppers.iter().flatten())
    }

    /// `upper - lower` for each upper bound, if all are affine.
    pub fn extents(&self) -> Option<Vec<AffineForm>> {
        let lower = self.lower.as_ref()?;
        self.uppers.iter().map(|upper| upper.as_ref()?.minus(lower)).collect()
    }

    /// The distances of upper bounds from what the loop starts at: the least one is `upper -
    /// lower`. Where the lower bound is the greatest of several forms, one for each of them.
    pub fn distances(&self) -> Option<Vec<AffineForm>> {
        if self.starts.is_empty() {
            return self.extents();
        }
        let pairs = self.uppers.iter().flat_map(|upper| self.starts.iter().map(move |start| (upper, start)));
        pairs.map(|(upper, start)| upper.as_ref()?.minus(start)).collect()
    }
}

/// The accesses of an operation, with all that is inside it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// The classes, each with one of its operations.
    pub classes: SmallVec<[(Class, Op); 1]>,
    /// An operation that touches the world or may not return.
    pub world: Option<Op>,
}
