//! One copy of each constant, at the start of the region that the constants of a scope stand in.
//!
//! A scope is a region of an operation that is isolated from above or an affine scope, as in MLIR.
//! Constants keep their order as far as possible: one that already stands among the first stays.

use hashbrown::HashMap;

use crate::attributes::{Attr, Dict};
use crate::body::Body;
use crate::builder::OperationState;
use crate::context::{Context, OpName};
use crate::entity::{Op, Region, Value};
use crate::opdef::Trait;
use crate::types::Type;

type Key = (Region, OpName, Meaning, Type);

/// The meaning of a constant of some name and type: equal ones are one constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Meaning {
    /// The attribute `value`.
    Value(Attr),
    /// All inherent attributes, if there is none of that name: `llvm.mlir.addressof`.
    Properties(Dict),
}

/// The constants of a body that have been seen.
///
/// **Invariant.** Each constant in it stands at the start of its scope, before all operations that
/// are not in it.
#[derive(Default, Debug)]
pub struct Constants {
    by_value: HashMap<Key, Op>,
    /// For each operation its key, if it is one of the constants.
    keys: HashMap<Op, Key>,
}

impl Constants {
    /// Registers a constant and moves it to the start of its scope. If an equal one is there,
    /// returns the result of that one, and changes nothing.
    pub fn register(&mut self, body: &mut Body, op: Op) -> Option<Value> {
        if self.keys.contains_key(&op) {
            return None;
        }
        let key = key_of(body, op)?;
        if let Some(known) = self.by_value.get(&key) {
            return Some(body.result(*known, 0));
        }
        let first = body.entry_block(key.0).and_then(|block| body.first_op(block));
        let follows_known = body.prev_op(op).is_some_and(|before| self.keys.contains_key(&before));
        let stays = follows_known && stands_in(body, op, key.0);
        if let Some(first) = first.filter(|first| *first != op && !stays) {
            body.move_before(op, first);
        }
        self.by_value.insert(key, op);
        self.keys.insert(op, key);
        None
    }

    /// Returns a constant of this value and type for uses at `op`, made at the start of its scope
    /// if it is not there. `None` if no dialect has such a constant; the dialect of `op` is asked
    /// first.
    pub fn get(&mut self, body: &mut Body, op: Op, value: Attr, ty: Type) -> Option<Value> {
        let ctx = body.ctx().clone();
        let mut state = materialize(&ctx, ctx.str(body.info(op).dialect()), value, ty)?;
        state.loc = body.loc(op);
        let start = scope_start(body, op);
        let new = body.create(state);
        body.insert_before(start, new);
        let known = self.register(body, new);
        if known.is_some() {
            body.erase(new);
        }
        known.or_else(|| Some(body.result(new, 0)))
    }

    /// Forgets an operation that is about to be erased.
    pub fn forget(&mut self, op: Op) {
        if let Some(key) = self.keys.remove(&op) {
            self.by_value.remove(&key);
        }
    }
}

fn stands_in(body: &Body, op: Op, region: Region) -> bool {
    body.block_of(op).is_some_and(|block| body.block_region(block) == region && body.is_entry(block))
}

/// Returns the scope and the value of a constant with one result.
fn key_of(body: &Body, op: Op) -> Option<Key> {
    if !body.has_trait(op, Trait::ConstantLike) || body.num_results(op) != 1 {
        return None;
    }
    let meaning = match body.attr(op, "value") {
        Some(value) => Meaning::Value(value),
        None => Meaning::Properties(body.properties(op)),
    };
    Some((scope_of(body, op)?, body.op_name(op), meaning, body.value_type(body.result(op, 0))))
}

/// Returns the operation before which a new constant for `op` goes: the first of its scope.
pub(super) fn scope_start(body: &Body, op: Op) -> Op {
    let first =
        scope_of(body, op).and_then(|scope| body.entry_block(scope)).and_then(|block| body.first_op(block));
    first.unwrap_or(op)
}

/// Returns the region at whose start the constants around `op` stand.
fn scope_of(body: &Body, op: Op) -> Option<Region> {
    let mut region = body.region_of(op)?;
    loop {
        let parent = body.region_parent(region);
        let info = body.info(parent);
        let is_scope = info.def().is_none()
            || info.has_trait(Trait::IsolatedFromAbove)
            || info.has_trait(Trait::AffineScope);
        match body.region_of(parent) {
            Some(around) if !is_scope => region = around,
            _ => return Some(region),
        }
    }
}

/// A constant by the dialect of the folded operation or, if that makes none, by any other that
/// does.
pub(super) fn materialize(ctx: &Context, dialect: &str, attr: Attr, ty: Type) -> Option<OperationState> {
    let own = ctx.dialect(dialect).and_then(|d| d.materialize_constant);
    let others = ctx.dialects().iter().filter_map(|d| d.materialize_constant);
    own.into_iter().chain(others).find_map(|make| make(ctx, attr, ty))
}
