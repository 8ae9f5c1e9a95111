//! Cleanup of dead code: operations without used results (including loads), empty loops and
//! conditionals, and allocations that are written but never read, with their stores.
//!
//! **Cost.** Linear in the erased operations and their operands. An allocation's uses are visited
//! again after one of them was erased.

use hashbrown::HashSet;
use loomir_dialects::interfaces::{EffectKind, MemoryAccess, MemoryEffects, Resource, ViewLike};
use loomir_ir::rewrite::is_trivially_dead;
use loomir_ir::{Body, Loc, Op, Trait, Value};

use crate::access::locals::Locals;

/// Operations and allocations that may be dead.
pub(super) struct Cleanup {
    operations: Pending<Op>,
    allocations: Pending<Value>,
}

/// A worklist without duplicates, the latest member first.
struct Pending<T> {
    stack: Vec<T>,
    members: HashSet<T>,
}

impl<T: Copy + Eq + std::hash::Hash> Pending<T> {
    fn new() -> Self {
        Pending { stack: Vec::new(), members: HashSet::new() }
    }

    fn push(&mut self, member: T) {
        if self.members.insert(member) {
            self.stack.push(member);
        }
    }

    fn pop(&mut self) -> Option<T> {
        while let Some(last) = self.stack.pop() {
            if self.members.remove(&last) {
                return Some(last);
            }
        }
        None
    }
}

impl Cleanup {
    /// Returns a cleanup with all local allocations queued.
    pub(super) fn new(locals: &Locals) -> Cleanup {
        let mut cleanup = Cleanup { operations: Pending::new(), allocations: Pending::new() };
        locals.local_allocations().for_each(|value| cleanup.allocations.push(value));
        cleanup
    }

    /// Erases an operation, and queues its operands and its parent.
    pub(super) fn erase(&mut self, body: &mut Body, locals: &Locals, op: Op) {
        for value in body.operands(op) {
            if let Some(definition) = body.defining_op(value) {
                self.operations.push(definition);
            }
            self.allocations_behind(body, locals, value);
        }
        if let Some(parent) = body.parent_op(op).filter(|parent| *parent != body.root()) {
            self.operations.push(parent);
        }
        self.operations.members.remove(&op);
        body.erase(op);
    }

    /// Queues the local allocation behind a view again.
    fn allocations_behind(&mut self, body: &Body, locals: &Locals, value: Value) {
        let mut value = value;
        loop {
            if locals.is_local_allocation(value) {
                return self.allocations.push(value);
            }
            let Some(op) = body.defining_op(value) else { return };
            let Some(model) = body.info(op).interface::<dyn ViewLike>() else { return };
            value = model.source(body.op_ref(op));
        }
    }

    /// Removes an erased allocation from the worklist.
    pub(super) fn forget(&mut self, allocation: Value) {
        self.allocations.members.remove(&allocation);
    }

    /// Erases everything that is dead. Returns the erased allocations and their locations.
    pub(super) fn run(&mut self, body: &mut Body, locals: &Locals) -> Vec<(Value, Loc)> {
        let mut erased = Vec::new();
        loop {
            if let Some(op) = self.operations.pop() {
                if is_dead(body, op) {
                    self.erase(body, locals, op);
                }
            } else if let Some(allocation) = self.allocations.pop() {
                let Some(users) = unread(body, allocation) else { continue };
                let Some(op) = body.defining_op(allocation) else { continue };
                erased.push((allocation, body.loc(op)));
                // A view is erased after its users.
                for user in users.into_iter().rev().chain([op]) {
                    self.erase(body, locals, user);
                }
                self.forget(allocation);
            } else {
                return erased;
            }
        }
    }
}

/// True if an operation is dead.
fn is_dead(body: &Body, op: Op) -> bool {
    if is_trivially_dead(body, op) {
        return true;
    }
    if body.has_used_results(op) || body.has_trait(op, Trait::Terminator) {
        return false;
    }
    if is_unused_load(body, op) {
        return true;
    }
    let view = body.op_ref(op);
    let info = view.info();
    let returns = info.interface::<dyn MemoryEffects>().is_none_or(|model| !model.may_not_return(view));
    let is_hollow = |region| {
        let mut ops = body.blocks(region).flat_map(|block| body.ops(block));
        let only = ops.next().is_none_or(|op| body.has_trait(op, Trait::Terminator));
        only && ops.next().is_none()
    };
    let repeats_only = info.has_trait(Trait::RecursiveMemoryEffects) && body.own_regions(op).len() > 0;
    repeats_only && returns && body.own_regions(op).all(is_hollow)
}

/// True if an operation reads an element and its result is unused.
pub(super) fn is_unused_load(body: &Body, op: Op) -> bool {
    let view = body.op_ref(op);
    let model = view.info().interface::<dyn MemoryAccess>();
    model.is_some_and(|model| model.access(view).stored.is_none()) && !body.has_used_results(op)
}

/// Returns all users of an allocation and its views, if they only write and free it. Views come
/// before their users.
fn unread(body: &Body, allocation: Value) -> Option<Vec<Op>> {
    let mut users = Vec::new();
    let mut seen = HashSet::new();
    let mut names = vec![allocation];
    while let Some(name) = names.pop() {
        for used in body.uses(name) {
            let view = body.op_ref(used.op);
            let is_view =
                view.info().interface::<dyn ViewLike>().is_some_and(|model| model.source(view) == name);
            if is_view {
                names.extend(body.results(used.op));
            } else if !only_writes(body, used.op, name) {
                return None;
            }
            if seen.insert(used.op) {
                users.push(used.op);
            }
        }
    }
    Some(users)
}

fn only_writes(body: &Body, op: Op, memref: Value) -> bool {
    let view = body.op_ref(op);
    let Some(model) = view.info().interface::<dyn MemoryEffects>() else { return false };
    let harmless = |kind| matches!(kind, EffectKind::Write | EffectKind::Free);
    let effects = model.effects(view);
    // Reads of other objects may be lost, writes to them may not.
    !effects.is_empty()
        && !body.has_used_results(op)
        && effects.iter().all(|effect| match effect.on {
            Resource::Value(value) if value == memref => harmless(effect.kind),
            Resource::Value(_) | Resource::Global(_) => effect.kind == EffectKind::Read,
            Resource::World => false,
        })
}
