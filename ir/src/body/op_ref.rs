//! A view of one operation: the body and the handle together, for reading.

use super::Body;
use crate::attributes::{Attr, Dict};
use crate::context::{Context, OpInfo};
use crate::entity::{Block, Op, Region, Value};
use crate::location::Loc;
use crate::opdef::OpDef;
use crate::types::Type;

/// A view of one operation. Of an operation that owns a body, it is the view of that body's root,
/// so that regions and attributes are found where they are.
#[derive(Clone, Copy, Debug)]
pub struct OpRef<'b> {
    body: &'b Body,
    op: Op,
}

impl<'b> OpRef<'b> {
    /// The view of `op`, looking into the body it owns, if any.
    pub fn new(body: &'b Body, op: Op) -> Self {
        match body.nested(op) {
            Some(nested) => OpRef { body: nested, op: nested.root() },
            None => OpRef { body, op },
        }
    }

    /// The body that holds what the operation has.
    pub fn body(self) -> &'b Body {
        self.body
    }

    /// The handle, in [`OpRef::body`].
    pub fn op(self) -> Op {
        self.op
    }

    /// The context.
    pub fn ctx(self) -> &'b Context {
        self.body.ctx()
    }

    /// The full name, `arith.addi`.
    pub fn name(self) -> &'b str {
        self.ctx().str(self.info().name())
    }

    /// Returns the registered information about its name.
    pub fn info(self) -> &'b OpInfo {
        self.body.info(self.op)
    }

    /// True if it is the operation of this compiled-in definition.
    pub fn is(self, def: &'static OpDef) -> bool {
        self.info().is(def)
    }

    /// Its location.
    pub fn loc(self) -> Loc {
        self.body.loc(self.op)
    }

    /// The attribute called `name`, inherent or discardable.
    pub fn attr(self, name: &str) -> Option<Attr> {
        self.body.attr(self.op, name)
    }

    /// Its inherent attributes.
    pub fn properties(self) -> Dict {
        self.body.properties(self.op)
    }

    /// Its discardable attributes.
    pub fn attributes(self) -> Dict {
        self.body.attributes(self.op)
    }

    /// Its operands.
    pub fn operands(self) -> impl ExactSizeIterator<Item = Value> + DoubleEndedIterator + Clone + 'b {
        self.body.operands(self.op)
    }

    /// The number of operands it has.
    pub fn num_operands(self) -> usize {
        self.body.num_operands(self.op)
    }

    /// Operand `index`.
    pub fn operand(self, index: usize) -> Value {
        self.body.operand(self.op, index)
    }

    /// The type of operand `index`.
    pub fn operand_type(self, index: usize) -> Type {
        self.body.value_type(self.operand(index))
    }

    /// Its results.
    pub fn results(self) -> impl ExactSizeIterator<Item = Value> + DoubleEndedIterator + Clone + 'b {
        self.body.results(self.op)
    }

    /// The number of results it has.
    pub fn num_results(self) -> usize {
        self.body.num_results(self.op)
    }

    /// Result `index`.
    pub fn result(self, index: usize) -> Value {
        self.body.result(self.op, index)
    }

    /// The type of result `index`.
    pub fn result_type(self, index: usize) -> Type {
        self.body.value_type(self.result(index))
    }

    /// Its regions.
    pub fn regions(self) -> impl ExactSizeIterator<Item = Region> + DoubleEndedIterator + Clone + use<> {
        self.body.own_regions(self.op)
    }

    /// Region `index`.
    pub fn region(self, index: usize) -> Region {
        self.body.region(self.op, index)
    }

    /// Its successors.
    pub fn successors(self) -> impl ExactSizeIterator<Item = Block> + DoubleEndedIterator + Clone + 'b {
        self.body.successors(self.op)
    }

    /// Successor `index`.
    pub fn successor(self, index: usize) -> Block {
        self.body.successor(self.op, index)
    }

    /// The type of a value of the same body.
    pub fn type_of(self, value: Value) -> Type {
        self.body.value_type(value)
    }

    /// The operands of the entry called `name` in the definition.
    pub fn operand_group(self, name: &str) -> Vec<Value> {
        let Some(def) = self.info().def() else { return Vec::new() };
        let Some(index) = def.operands.iter().position(|o| o.name == name) else { return Vec::new() };
        self.body.operand_group(self.op, def, index).map(|i| self.operand(i)).collect()
    }

    /// The results of the entry called `name` in the definition.
    pub fn result_group(self, name: &str) -> Vec<Value> {
        let Some(def) = self.info().def() else { return Vec::new() };
        let Some(index) = def.results.iter().position(|o| o.name == name) else { return Vec::new() };
        self.body.result_group(self.op, def, index).map(|i| self.result(i)).collect()
    }

    /// The operation around it, in the same body.
    pub fn parent(self) -> Option<OpRef<'b>> {
        let parent = self.body.parent_op(self.op)?;
        Some(OpRef { body: self.body, op: parent })
    }

    /// Its definition, if it is registered.
    pub fn def(self) -> Option<&'b OpDef> {
        self.info().def()
    }
}
