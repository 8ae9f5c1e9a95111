//! Writing the custom form of an operation: what a `syntax (parse, print)` hook, a custom directive or a dialect's type works
//! with.
//!
//! An [`OpPrinter`] stands behind the operation's name. Spaces are the hook's business: nothing here writes one in front
//! unless it says so.

use crate::affine::AffineMap;
use crate::attributes::Attr;
use crate::body::OpRef;
use crate::context::Context;
use crate::entity::{Block, Region, Value};
use crate::location::Loc;
use crate::types::Type;

/// Suggests names for the values of an operation, as an interface attached to it: `%c0`, `%cst`, `%alloc`.
pub trait AsmNames: Send + Sync {
    /// Names of results, without the percent sign. A name given to result `i` starts a group that reaches to the next
    /// named one.
    fn result_names(&self, _op: OpRef<'_>) -> Vec<(Value, String)> {
        Vec::new()
    }

    /// Names of the arguments of blocks of a region.
    fn argument_names(&self, _op: OpRef<'_>, _region: Region) -> Vec<(Value, String)> {
        Vec::new()
    }

    /// The dialect whose prefix is left out of operations in the regions (`func` in `func.func`).
    fn default_dialect(&self) -> &'static str {
        ""
    }
}

/// Writes the custom form of an operation. See the [module](self).
pub struct OpPrinter<'p> {
    _p: std::marker::PhantomData<&'p mut ()>,
}

impl std::fmt::Write for OpPrinter<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.write(text);
        Ok(())
    }
}

#[allow(clippy::todo, unused_variables)]
impl<'p> OpPrinter<'p> {
    /// The context.
    pub fn ctx(&self) -> &'p Context {
        todo!()
    }
    /// Writes text as it is.
    pub fn write(&mut self, text: &str) {
        todo!()
    }
    /// Begins a line, indented as the operation is.
    pub fn newline(&mut self) {
        todo!()
    }
    /// Writes `%x`.
    pub fn operand(&mut self, value: Value) {
        todo!()
    }
    /// Writes `%x, %y`.
    pub fn operands(&mut self, values: impl IntoIterator<Item = Value>) {
        todo!()
    }
    /// Writes a type.
    pub fn ty(&mut self, ty: Type) {
        todo!()
    }
    /// Writes types separated by commas.
    pub fn types(&mut self, types: impl IntoIterator<Item = Type>) {
        todo!()
    }
    /// Writes ` -> type` or ` -> (type, type)`, or nothing if there are none.
    pub fn arrow_types(&mut self, types: &[Type]) {
        todo!()
    }
    /// Writes `(inputs) -> results`.
    pub fn functional_type(
        &mut self,
        inputs: impl IntoIterator<Item = Type>,
        results: impl IntoIterator<Item = Type>,
    ) {
        todo!()
    }
    /// Writes an attribute.
    pub fn attr(&mut self, attr: Attr) {
        todo!()
    }
    /// Writes an attribute without the type behind it.
    pub fn attr_without_type(&mut self, attr: Attr) {
        todo!()
    }
    /// Writes `@name`, in quotes where it must be.
    pub fn symbol_name(&mut self, name: &str) {
        todo!()
    }
    /// Writes `"text"` with escapes.
    pub fn string(&mut self, bytes: &[u8]) {
        todo!()
    }
    /// Writes a keyword, in quotes if it is none.
    pub fn keyword_or_string(&mut self, text: &str) {
        todo!()
    }
    /// Writes ` loc(…)` if locations are printed.
    pub fn optional_loc(&mut self, loc: Loc) {
        todo!()
    }
    /// Writes `^block` or `^block(%a, %b : i32, f32)`.
    pub fn successor(&mut self, block: Block, operands: &[Value]) {
        todo!()
    }
    /// Writes an argument of a region, `%i: index`.
    pub fn argument(&mut self, value: Value) {
        todo!()
    }
    /// Writes an argument of a region without its type.
    pub fn argument_without_type(&mut self, value: Value) {
        todo!()
    }
    /// Writes region `index`, `{…}`. Without `entry_arguments` the entry block's label is left out; without `terminators` so is an operandless terminator
    /// at the end of a single block.
    pub fn region(&mut self, op: OpRef<'_>, index: usize, entry_arguments: bool, terminators: bool) {
        todo!()
    }
    /// Writes ` {…}`: discardable attributes, and inherent ones that don't have their default value, except those in
    /// `elided`; nothing if none is left.
    pub fn attr_dict(&mut self, op: OpRef<'_>, elided: &[&str]) {
        todo!()
    }
    /// Writes ` attributes {…}`, as [`OpPrinter::attr_dict`].
    pub fn attr_dict_with_keyword(&mut self, op: OpRef<'_>, elided: &[&str]) {
        todo!()
    }
    /// Writes the results of a map over values: `%i + 1, %j * symbol(%n)`.
    pub fn affine_map_of_ssa_ids(&mut self, map: AffineMap, operands: &[Value]) {
        todo!()
    }
    /// Writes a dictionary of attributes, `{a = 1}`.
    pub fn dictionary(&mut self, dict: crate::attributes::Dict) {
        todo!()
    }
}
