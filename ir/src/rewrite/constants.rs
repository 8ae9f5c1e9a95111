//! One copy of each constant, at the start of the region that the constants of a scope stand in.
//!
//! A scope is a region of an operation that is isolated from above or an affine scope, as in MLIR.
//! Constants keep their order as far as possible: one that already stands among the first stays.

use hashbrown::HashMap;

use super::rewriter::Rewriter;
use crate::attributes::Attr;
use crate::body::Body;
use crate::builder::OperationState;
use crate::context::OpName;
use crate::entity::{Op, Region, Value};
use crate::opdef::Trait;
use crate::types::Type;

type Key = (Region, OpName, Attr, Type);

/// The constants of a body that have been seen.
///
/// **Invariant.** Each constant in it stands at the start of its scope, before all operations that
/// are not in it.
#[derive(Default)]
pub(super) struct Constants {
    by_value: HashMap<Key, Op>,
    /// For each operation its key, if it is one of the constants.
    keys: HashMap<Op, Key>,
}

impl Constants {
    /// Registers a constant: moves it to the start of its scope, or replaces it by an equal one.
    /// Returns true if it was replaced.
    fn unify(&mut self, rewriter: &mut Rewriter<'_>, op: Op) -> bool {
        let body = &*rewriter.body;
        if self.keys.contains_key(&op) {
            return false;
        }
        let Some(key) = key_of(body, op) else { return false };
        if let Some(known) = self.by_value.get(&key) {
            let value = body.result(*known, 0);
            return rewriter.replace(op, &[value]);
        }
        let first = body.entry_block(key.0).and_then(|block| body.first_op(block));
        let follows_known = body.prev_op(op).is_some_and(|before| self.keys.contains_key(&before));
        if let Some(first) =
            first.filter(|first| *first != op && !(follows_known && stands_in(body, op, key.0)))
        {
            rewriter.body.move_before(op, first);
        }
        self.insert(op, key);
        false
    }

    /// Returns a constant that a fold of `op` needs: a known one, or a new one at the start of the
    /// scope.
    fn make(&mut self, rewriter: &mut Rewriter<'_>, op: Op, state: OperationState) -> Value {
        let body = &*rewriter.body;
        let scope = scope_of(body, op);
        let first = scope.and_then(|scope| body.entry_block(scope)).and_then(|block| body.first_op(block));
        let new = rewriter.insert_before(first.unwrap_or(op), state);
        if let Some(key) = key_of(rewriter.body, new) {
            if let Some(known) = self.by_value.get(&key).copied() {
                rewriter.erase(new);
                return rewriter.body.result(known, 0);
            }
            self.insert(new, key);
        }
        rewriter.body.result(new, 0)
    }

    /// Forgets an operation that is about to be erased.
    pub(super) fn forget(&mut self, op: Op) {
        if let Some(key) = self.keys.remove(&op) {
            self.by_value.remove(&key);
        }
    }

    fn insert(&mut self, op: Op, key: Key) {
        self.by_value.insert(key, op);
        self.keys.insert(op, key);
    }
}

impl Rewriter<'_> {
    /// Keeps one copy of each constant. Returns true if `op`, a constant, was replaced by an equal
    /// one.
    pub(super) fn unify_constant(&mut self, op: Op) -> bool {
        let Some(mut constants) = self.constants.take() else { return false };
        let unified = constants.unify(self, op);
        self.constants = Some(constants);
        unified
    }

    /// Returns the result of a constant that a fold of `op` needs.
    pub(super) fn make_constant(&mut self, op: Op, state: OperationState) -> Value {
        let Some(mut constants) = self.constants.take() else {
            let constant = self.insert_before(op, state);
            return self.body.result(constant, 0);
        };
        let value = constants.make(self, op, state);
        self.constants = Some(constants);
        value
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
    let value = body.attr(op, "value")?;
    Some((scope_of(body, op)?, body.op_name(op), value, body.value_type(body.result(op, 0))))
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
