//! Local allocations: allocations that nothing outside of a function can know.
//!
//! An allocation is local if all uses of it, and of views of it, are understood: its elements are
//! read and written, it is copied, measured, freed. An allocation that is stored, passed on,
//! returned or carried *escapes*: from then on any unknown operation may touch it. So does one that
//! is used inside an operation that [may keep its regions for later](runs_in_place). Nothing
//! outside reads a local allocation, so a store that no load of the function needs is dead.
//!
//! # Assumptions
//!
//! - An operation without known effects may run its regions later, or never. Tried in
//!   `fixtures/contraction/not_forwarded.mlir`.
//!
//! **Cost.** Linear in the uses of allocations and in their nesting depth.

use hashbrown::HashMap;
use loomir_dialects::interfaces::{MemoryAccess, MemoryEffects, Resource, ViewLike, runs_in_place};
use loomir_ir::{Body, Op, TypeKind, Value};

use super::base::{AliasMode, Base, Bases};

/// The allocations of a function and where they escape.
#[derive(Clone, Debug, Default)]
pub struct Locals {
    /// In the order of the text.
    allocations: Vec<Value>,
    /// For each allocation, true if it escapes.
    escapes: HashMap<Value, bool>,
}

impl Locals {
    /// Finds all allocations of a body.
    pub fn of(body: &Body) -> Locals {
        let mut locals = Locals::default();
        let mut bases = Bases::new(body, AliasMode::May);
        for op in body.preorder(body.root()) {
            for value in body.results(op) {
                let is_memref = matches!(body.value_type(value).kind(body.ctx()), TypeKind::MemRef { .. });
                if is_memref && bases.of(value).0 == Base::Allocation(value) {
                    locals.allocations.push(value);
                    locals.escapes.insert(value, escape(body, value).is_some());
                }
            }
        }
        locals
    }

    /// Returns the allocations that do not escape.
    pub fn local_allocations(&self) -> impl Iterator<Item = Value> + '_ {
        self.allocations.iter().copied().filter(|value| self.is_local_allocation(*value))
    }

    /// True if a value is a known allocation.
    pub fn knows(&self, value: Value) -> bool {
        self.escapes.contains_key(&value)
    }

    /// True if a value is an allocation that does not escape.
    pub fn is_local_allocation(&self, value: Value) -> bool {
        self.escapes.get(&value) == Some(&false)
    }

    /// True if only the function's own accesses can touch an object.
    pub fn is_local(&self, base: Base) -> bool {
        matches!(base, Base::Allocation(value) if self.is_local_allocation(value))
    }

    /// Records that the local allocation `new` replaces `old`.
    pub fn replace(&mut self, old: Value, new: Value) {
        self.forget(old);
        self.allocations.push(new);
        self.escapes.insert(new, false);
    }

    /// Removes an erased allocation.
    pub fn forget(&mut self, allocation: Value) {
        self.escapes.remove(&allocation);
    }
}

/// Returns the first operation found that passes `allocation`, or a view of it, on.
pub fn escape(body: &Body, allocation: Value) -> Option<Op> {
    let mut names = vec![allocation];
    let region = body.value_block(allocation).map(|block| body.block_region(block));
    let is_kept = |op| region.is_none_or(|region| !runs_in_place(body, op, region));
    while let Some(name) = names.pop() {
        for used in body.uses(name) {
            match role(body, used.op, name) {
                _ if is_kept(used.op) => return Some(used.op),
                Role::View => names.extend(body.results(used.op)),
                Role::Touched => {}
                Role::PassedOn => return Some(used.op),
            }
        }
    }
    None
}

/// The use of a memref by an operation.
enum Role {
    /// Its results refer to (parts of) the same object.
    View,
    /// The operation touches the object, and does not keep it.
    Touched,
    /// Any other use.
    PassedOn,
}

fn role(body: &Body, op: Op, memref: Value) -> Role {
    let view = body.op_ref(op);
    let info = view.info();
    if info.interface::<dyn ViewLike>().is_some_and(|model| model.source(view) == memref) {
        return Role::View;
    }
    if let Some(model) = info.interface::<dyn MemoryAccess>() {
        let access = model.access(view);
        return if access.stored == Some(memref) { Role::PassedOn } else { Role::Touched };
    }
    // A number, or a vector of numbers.
    let is_number = |value| {
        let ty = match body.value_type(value).kind(body.ctx()) {
            TypeKind::Vector { element, .. } => element.kind(body.ctx()),
            other => other,
        };
        matches!(ty, TypeKind::Index | TypeKind::Integer { .. } | TypeKind::Float(_))
    };
    let known = info
        .interface::<dyn MemoryEffects>()
        .is_some_and(|model| model.effects(view).iter().all(|effect| effect.on != Resource::World));
    if known && body.own_regions(op).len() == 0 && body.results(op).all(is_number) {
        Role::Touched
    } else {
        Role::PassedOn
    }
}
