//! [`Rewriter`]: changes a body and keeps the worklist of the driver true.

use super::constants::{Constants, scope_start};
use crate::body::Body;
use crate::builder::{Builder, OperationState};
use crate::context::Context;
use crate::entity::{Block, Op, Value};
use crate::opdef::OpDef;
use crate::text::type_to_string;

/// Hears of each change that a driver or a pattern makes.
pub trait Listener {
    /// `op` was made.
    fn inserted(&mut self, _body: &Body, _op: Op) {}
    /// The results of `op` are about to be replaced by `values`.
    fn replaced(&mut self, _body: &Body, _op: Op, _values: &[Value]) {}
    /// `op` is about to be erased.
    fn erased(&mut self, _body: &Body, _op: Op) {}
}

/// The operations to visit, the latest first, each once.
#[derive(Default)]
pub(super) struct Worklist {
    stack: Vec<Op>,
    queued: Vec<bool>,
}

impl Worklist {
    fn push(&mut self, op: Op) {
        if self.queued.len() <= op.index() {
            self.queued.resize(op.index() + 1, false);
        }
        if !std::mem::replace(&mut self.queued[op.index()], true) {
            self.stack.push(op);
        }
    }

    /// Removes an operation. Its place in the stack is skipped when its turn comes.
    fn remove(&mut self, op: Op) {
        if let Some(queued) = self.queued.get_mut(op.index()) {
            *queued = false;
        }
    }

    fn contains(&self, op: Op) -> bool {
        self.queued.get(op.index()).is_some_and(|queued| *queued)
    }

    fn pop(&mut self) -> Option<Op> {
        while let Some(op) = self.stack.pop() {
            if std::mem::replace(&mut self.queued[op.index()], false) {
                return Some(op);
            }
        }
        None
    }
}

/// Changes a body and keeps the worklist of the driver true.
pub struct Rewriter<'b> {
    pub(super) body: &'b mut Body,
    worklist: Worklist,
    pub(super) listener: Option<&'b mut dyn Listener>,
    /// The constants of the body, if one copy of each is kept.
    pub(super) constants: Option<Constants>,
    /// A defect of the running pattern.
    pub(super) defect: Option<String>,
}

impl<'b> Rewriter<'b> {
    /// Returns a rewriter with an empty worklist, perhaps one of an earlier run.
    pub(super) fn new(
        body: &'b mut Body,
        listener: Option<&'b mut dyn Listener>,
        worklist: Worklist,
    ) -> Self {
        Rewriter { body, worklist, listener, constants: None, defect: None }
    }

    /// Returns the worklist, emptied, for the next run: to make one takes as long as the body has
    /// operations.
    pub(super) fn into_worklist(mut self) -> Worklist {
        while self.worklist.pop().is_some() {}
        self.worklist
    }

    /// The body, for reading.
    pub fn body(&self) -> &Body {
        self.body
    }

    /// The body, to change in ways the driver need not hear of.
    pub fn body_mut(&mut self) -> &mut Body {
        self.body
    }

    /// The context.
    pub fn ctx(&self) -> Context {
        self.body.ctx().clone()
    }

    /// Returns the operation of this definition that computes `value`, if there is one.
    pub fn defined_by(&self, value: Value, def: &'static OpDef) -> Option<Op> {
        self.body.defining_op(value).filter(|op| self.body.is(*op, def))
    }

    /// Has `op` visited (again).
    pub fn revisit(&mut self, op: Op) {
        self.worklist.push(op);
    }

    /// Makes an operation before `before`, at the same location unless the state has one.
    pub fn insert_before(&mut self, before: Op, state: OperationState) -> Op {
        let op = Builder::before(self.body, before).insert(state);
        self.was_inserted(op);
        op
    }

    /// Builds operations before `before` with a [`Builder`]. All of them are visited.
    ///
    /// ```
    /// use loomir_ir::rewrite::Rewriter;
    /// use loomir_ir::{Builder, Op, OperationState, Value};
    ///
    /// fn twice(rewriter: &mut Rewriter<'_>, op: Op, state: OperationState) -> Value {
    ///     rewriter.build(op, |builder: &mut Builder<'_>| builder.value(state))
    /// }
    /// ```
    pub fn build<R>(&mut self, before: Op, make: impl FnOnce(&mut Builder<'_>) -> R) -> R {
        let first = self.body.prev_op(before);
        let made = make(&mut Builder::before(self.body, before));
        let block = self.body.block_of(before);
        let mut next = match first {
            Some(first) => self.body.next_op(first),
            None => block.and_then(|block| self.body.first_op(block)),
        };
        let mut new = Vec::new();
        while let Some(op) = next.filter(|op| *op != before) {
            new.push(op);
            next = self.body.next_op(op);
        }
        // The worklist is a stack: operands come before their users.
        new.into_iter().rev().for_each(|op| self.was_inserted(op));
        made
    }

    fn was_inserted(&mut self, op: Op) {
        if let Some(listener) = &mut self.listener {
            listener.inserted(self.body, op);
        }
        self.revisit(op);
    }

    /// Replaces the results of `op` and erases it. Returns true, for a pattern to return.
    ///
    /// Nothing is replaced if there are fewer values than results, or the types differ. The driver
    /// then stops with a diagnostic that names the pattern.
    pub fn replace(&mut self, op: Op, values: &[Value]) -> bool {
        let results: Vec<Value> = self.body.results(op).collect();
        let ty = |value: &Value| self.body.value_type(*value);
        if results.len() != values.len() {
            let text = format!("replaces {} results by {} values", results.len(), values.len());
            self.defect = Some(text);
            return true;
        }
        if let Some((from, to)) = results.iter().zip(values).find(|(from, to)| ty(from) != ty(to)) {
            let (from, to) =
                (type_to_string(self.body.ctx(), ty(from)), type_to_string(self.body.ctx(), ty(to)));
            self.defect = Some(format!("replaces a value of type {from} by one of type {to}"));
            return true;
        }
        if let Some(listener) = &mut self.listener {
            listener.replaced(self.body, op, values);
        }
        for (from, to) in results.into_iter().zip(values) {
            self.replace_all_uses(from, *to);
        }
        self.erase(op);
        true
    }

    /// Replaces `op`, which has one result, by a new operation. Returns true, for a pattern to
    /// return.
    pub fn replace_with(&mut self, op: Op, state: OperationState) -> bool {
        let new = self.insert_before(op, state);
        let results: Vec<Value> = self.body.results(new).collect();
        self.replace(op, &results)
    }

    /// Makes all uses of one value uses of another.
    pub fn replace_all_uses(&mut self, from: Value, to: Value) {
        let users: Vec<Op> = self.body.uses(from).map(|u| u.op).collect();
        self.body.replace_all_uses(from, to);
        for user in users {
            self.revisit(user);
        }
    }

    /// Changes an operand. The operation and the definition of the old operand are visited again.
    pub fn set_operand(&mut self, op: Op, index: usize, value: Value) {
        let old = self.body.operand(op, index);
        self.body.set_operand(op, index, value);
        self.revisit(op);
        if let Some(def) = self.body.defining_op(old) {
            self.revisit(def);
        }
    }

    /// Changes all operands, and their number. The operation and the definitions of the old
    /// operands are visited again.
    pub fn set_operands(&mut self, op: Op, values: &[Value]) {
        let old: Vec<Value> = self.body.operands(op).collect();
        self.body.set_operands(op, values);
        self.revisit(op);
        let definitions = old.into_iter().filter_map(|value| self.body.defining_op(value));
        definitions.collect::<Vec<_>>().into_iter().for_each(|def| self.revisit(def));
    }

    /// Keeps one copy of each constant. Returns true if `op`, a constant, was replaced by an equal
    /// one.
    pub(super) fn unify_constant(&mut self, op: Op) -> bool {
        let Some(constants) = &mut self.constants else { return false };
        constants.register(self.body, op).is_some_and(|known| self.replace(op, &[known]))
    }

    /// Returns the result of a constant that a fold of `op` needs.
    pub(super) fn make_constant(&mut self, op: Op, state: OperationState) -> Value {
        let at = if self.constants.is_some() { scope_start(self.body, op) } else { op };
        let new = self.insert_before(at, state);
        let known = self.constants.as_mut().and_then(|constants| constants.register(self.body, new));
        match known {
            Some(known) => {
                self.erase(new);
                known
            }
            None => self.body.result(new, 0),
        }
    }

    /// Moves the operations of `block`, which ends in a terminator, before `op`, with `arguments`
    /// for those of the block. Erases the terminator and returns its operands.
    pub fn inline_before(&mut self, op: Op, block: Block, arguments: &[Value]) -> Vec<Value> {
        for (from, to) in self.body.arguments(block).collect::<Vec<_>>().into_iter().zip(arguments) {
            self.replace_all_uses(from, *to);
        }
        let terminator = self.body.terminator(block);
        let yielded = terminator.map(|end| self.body.operands(end).collect()).unwrap_or_default();
        let inside: Vec<Op> = self.body.ops(block).filter(|own| Some(*own) != terminator).collect();
        for inside in inside {
            self.body.move_before(inside, op);
            self.revisit(inside);
        }
        if let Some(terminator) = terminator {
            self.erase(terminator);
        }
        yielded
    }

    /// Erases an operation whose results nobody uses.
    pub fn erase(&mut self, op: Op) {
        if let Some(listener) = &mut self.listener {
            listener.erased(self.body, op);
        }
        let inside: Vec<Op> = self.body.preorder(op).collect();
        for op in &inside {
            for value in self.body.operands(*op).collect::<Vec<_>>() {
                if let Some(def) = self.body.defining_op(value) {
                    self.revisit(def);
                }
            }
        }
        // A conditional or loop around it may have become empty.
        if let Some(around) = self.body.parent_op(op).filter(|around| *around != self.body.root()) {
            self.revisit(around);
        }
        for op in inside {
            if let Some(constants) = &mut self.constants {
                constants.forget(op);
            }
            self.worklist.remove(op);
        }
        self.body.erase(op);
    }

    /// True if `op` is to be visited, and was not erased since that was said.
    pub(super) fn is_queued(&self, op: Op) -> bool {
        self.worklist.contains(op)
    }

    pub(super) fn pop(&mut self) -> Option<Op> {
        self.worklist.pop()
    }
}
