//! [`ConversionRewriter`]: changes a body under conversion, and keeps both types of each value.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::casts::{self, CastKind};
use super::types::TypeConverter;
use crate::body::{Body, ValueDef};
use crate::builder::{Builder, InsertPoint, OperationState};
use crate::context::Context;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::entity::{Block, Op, Region, Value};
use crate::location::Loc;
use crate::opdef::Trait;
use crate::text::type_to_string;
use crate::types::Type;

/// The reason why a pattern does not match, for the diagnostic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoMatch(Cow<'static, str>);

impl From<&'static str> for NoMatch {
    fn from(why: &'static str) -> Self {
        NoMatch(Cow::Borrowed(why))
    }
}

impl From<String> for NoMatch {
    fn from(why: String) -> Self {
        NoMatch(Cow::Owned(why))
    }
}

impl std::fmt::Display for NoMatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The operands of an operation with converted types: for each operand the values that it became.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operands(Vec<Vec<Value>>);

impl Operands {
    /// Returns the value that operand `index` became.
    ///
    /// # Errors
    /// If there is no such operand, or if it became several values or none.
    pub fn one(&self, index: usize) -> Result<Value, NoMatch> {
        match self.get(index) {
            [value] => Ok(*value),
            values => Err(format!("operand #{index} is {} values", values.len()).into()),
        }
    }

    /// Returns the values that operand `index` became: none if there is no such operand.
    pub fn get(&self, index: usize) -> &[Value] {
        self.0.get(index).map_or(&[], |values| values)
    }

    /// Returns the values of all operands in order.
    pub fn all(&self) -> Vec<Value> {
        self.0.concat()
    }

    /// Returns the number of operands before the conversion.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if there are no operands.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Changes a body under conversion, and keeps both types of each value.
///
/// New operations use converted values. A value whose type a replacement changes keeps its old type
/// for users that are not converted yet.
pub struct ConversionRewriter<'b> {
    body: &'b mut Body,
    types: &'b TypeConverter<'b>,
    worklist: Vec<Op>,
    queued: Vec<bool>,
    /// For each operation its kind, if it is a cast of this conversion.
    casts: Vec<Option<CastKind>>,
    /// The cast of a value to its converted types. An entry may be out of date.
    to_target: HashMap<Value, Op>,
    /// The operation that a pattern is applied to, and what the pattern did.
    current: Option<Op>,
    was_converted: bool,
    has_changed: bool,
    root_erased: bool,
    defect: Option<String>,
}

impl<'b> ConversionRewriter<'b> {
    pub(super) fn new(body: &'b mut Body, types: &'b TypeConverter<'b>) -> Self {
        let (queued, casts) = (vec![false; body.num_op_slots()], vec![None; body.num_op_slots()]);
        ConversionRewriter {
            body,
            types,
            worklist: Vec::new(),
            queued,
            casts,
            to_target: HashMap::new(),
            current: None,
            was_converted: false,
            has_changed: false,
            root_erased: false,
            defect: None,
        }
    }

    /// The body, for reading.
    pub fn body(&self) -> &Body {
        self.body
    }

    /// The context.
    pub fn ctx(&self) -> Context {
        self.body.ctx().clone()
    }

    /// The type converter of the conversion.
    pub fn types(&self) -> &'b TypeConverter<'b> {
        self.types
    }

    /// Returns the type that a type becomes.
    ///
    /// # Errors
    /// If it has no counterpart, or several.
    pub fn convert_type(&self, ty: Type) -> Result<Type, NoMatch> {
        self.types.convert_one(ty).ok_or_else(|| self.no_counterpart(ty))
    }

    /// Returns the types that the results of an operation become, for each result.
    ///
    /// # Errors
    /// If one has no counterpart.
    pub fn convert_result_types(&self, op: Op) -> Result<Vec<Vec<Type>>, NoMatch> {
        let results = self.body.results(op);
        results.map(|result| self.convert_many(self.body.value_type(result))).collect()
    }

    fn convert_many(&self, ty: Type) -> Result<Vec<Type>, NoMatch> {
        self.types.convert(ty).ok_or_else(|| self.no_counterpart(ty))
    }

    fn no_counterpart(&self, ty: Type) -> NoMatch {
        let what = if self.types.convert(ty).is_some() { "not one" } else { "no" };
        format!("type {} has {what} counterpart", type_to_string(self.body.ctx(), ty)).into()
    }

    // Making operations.

    /// Makes an operation before `before`, at the same location unless the state has one.
    ///
    /// # Panics
    /// If `before` is the root of the body: nothing can stand before it.
    pub fn insert_before(&mut self, before: Op, state: OperationState) -> Op {
        self.build(before, |builder| builder.insert(state))
    }

    /// Builds operations before `before` with a [`Builder`]. They are converted too if they are not
    /// legal.
    ///
    /// # Panics
    /// If `before` is the root of the body: nothing can stand before it.
    pub fn build<R>(&mut self, before: Op, make: impl FnOnce(&mut Builder<'_>) -> R) -> R {
        let first = self.body.prev_op(before);
        let made = make(&mut Builder::before(self.body, before));
        let block = self.body.block_of(before);
        self.were_inserted(first, block, Some(before));
        made
    }

    /// Builds operations at the end of a block with a [`Builder`].
    pub fn build_at_end<R>(&mut self, block: Block, make: impl FnOnce(&mut Builder<'_>) -> R) -> R {
        let last = self.body.last_op(block);
        let made = make(&mut Builder::new(self.body, InsertPoint::End(block)));
        self.were_inserted(last, Some(block), None);
        made
    }

    /// Has all operations between two operations of a block visited.
    fn were_inserted(&mut self, after: Option<Op>, block: Option<Block>, before: Option<Op>) {
        self.has_changed = true;
        let mut next = match after {
            Some(after) => self.body.next_op(after),
            None => block.and_then(|block| self.body.first_op(block)),
        };
        let mut new = Vec::new();
        while let Some(op) = next.filter(|op| Some(*op) != before) {
            new.extend(self.body.preorder(op));
            next = self.body.next_op(op);
        }
        self.visit_all(new);
    }

    // Replacing operations.

    /// Replaces each result of `op` by one value, and erases `op`. Users that are not converted get
    /// a value of the old type where types differ.
    pub fn replace(&mut self, op: Op, values: &[Value]) {
        let groups: Vec<Vec<Value>> = values.iter().map(|value| vec![*value]).collect();
        self.replace_many(op, &groups);
    }

    /// Replaces each result of `op` by any number of values, and erases `op`.
    pub fn replace_many(&mut self, op: Op, groups: &[Vec<Value>]) {
        if op == self.body.root() {
            self.defect = Some("replaces the operation that owns the body".to_owned());
            return;
        }
        let results: Vec<Value> = self.body.results(op).collect();
        if results.len() != groups.len() {
            let text = format!("replaces {} results by {} groups of values", results.len(), groups.len());
            self.defect = Some(text);
            return;
        }
        if groups.concat().iter().any(|value| self.body.defining_op(*value) == Some(op)) {
            self.defect = Some("replaces an operation by its own result".to_owned());
            return;
        }
        let loc = self.body.loc(op);
        for (result, values) in results.into_iter().zip(groups) {
            let cast = self.replace_value(result, values, loc);
            if let Some(cast) = cast {
                self.body.insert_before(op, cast);
            }
        }
        self.erase(op);
    }

    /// Replaces `op` by a new operation with as many results. Returns the new operation.
    ///
    /// # Panics
    /// If `op` is the root of the body.
    pub fn replace_with(&mut self, op: Op, state: OperationState) -> Op {
        let new = self.insert_before(op, state);
        let results: Vec<Value> = self.body.results(new).collect();
        self.replace(op, &results);
        new
    }

    /// Makes all uses of a value uses of others. Returns a cast to the type of the value, which is
    /// yet to be placed, if one is needed.
    fn replace_value(&mut self, from: Value, to: &[Value], loc: Loc) -> Option<Op> {
        let ty = self.body.value_type(from);
        if let [to] = to
            && self.body.value_type(*to) == ty
        {
            self.body.replace_all_uses(from, *to);
            return None;
        }
        if !self.body.is_used(from) {
            return None;
        }
        let cast = casts::make(self.body, to, &[ty], loc);
        self.mark(cast, CastKind::Source);
        let result = self.body.result(cast, 0);
        // The cast itself may use the value: a pattern may build on what it replaces.
        self.body.replace_uses_if(from, result, |own| own.op != cast);
        Some(cast)
    }

    /// Erases an operation whose results nobody uses, with all it holds.
    pub fn erase(&mut self, op: Op) {
        self.has_changed = true;
        if op == self.body.root() {
            (self.root_erased, self.was_converted) = (true, true);
            return;
        }
        if self.body.has_used_results(op) {
            self.defect = Some("erases an operation whose results are used".to_owned());
            return;
        }
        for inside in self.body.preorder(op).collect::<Vec<_>>() {
            self.was_converted |= self.current == Some(inside);
            self.dequeue(inside);
            if let Some(cast) = self.casts.get_mut(inside.index()) {
                *cast = None;
            }
        }
        self.body.erase(op);
    }

    /// Changes an operation in place: its attributes, operands, successors or blocks. It is visited
    /// again.
    pub fn update<R>(&mut self, op: Op, change: impl FnOnce(&mut Body) -> R) -> R {
        let made = change(self.body);
        self.was_updated(op);
        made
    }

    fn was_updated(&mut self, op: Op) {
        self.has_changed = true;
        self.was_converted |= self.current == Some(op);
        self.visit_all(vec![op]);
    }

    /// Makes the root of the body another operation that owns a body, with the name, location and
    /// attributes of `state`. The regions stay.
    pub fn replace_root(&mut self, state: &OperationState) {
        let root = self.body.root();
        if !self.body.ctx().op_info(state.name).owns_arena() {
            let name = self.body.ctx().op_str(state.name);
            self.defect = Some(format!("makes '{name}' of an operation that owns a body"));
            return;
        }
        self.body.rename_root(state.name);
        self.body.set_loc(root, state.loc);
        self.body.set_properties(root, state.properties);
        self.body.set_attributes(root, state.attributes);
        self.was_updated(root);
    }

    // Blocks and regions.

    /// Moves all blocks of a region to the end of another.
    pub fn move_region(&mut self, from: Region, to: Region) {
        self.has_changed = true;
        self.body.move_blocks(from, to);
    }

    /// Converts the arguments of all blocks of a region.
    ///
    /// # Errors
    /// If a type has no counterpart. Nothing is changed then.
    pub fn convert_region_types(&mut self, region: Region) -> Result<(), NoMatch> {
        let mut signatures = Vec::new();
        for block in self.body.blocks(region) {
            let types: Result<Vec<Vec<Type>>, NoMatch> =
                self.body.arguments(block).map(|own| self.convert_many(self.body.value_type(own))).collect();
            signatures.push((block, types?));
        }
        for (block, types) in signatures {
            self.convert_block_signature(block, &types);
        }
        Ok(())
    }

    /// Gives a block other arguments: for each argument the types of the arguments that replace it.
    /// Branches to the block are not changed.
    pub fn convert_block_signature(&mut self, block: Block, types: &[Vec<Type>]) {
        let olds: Vec<Type> = self.body.arguments(block).map(|own| self.body.value_type(own)).collect();
        if olds.len() != types.len() {
            let text = format!("gives {} types for {} arguments of a block", types.len(), olds.len());
            self.defect = Some(text);
            return;
        }
        if olds.iter().zip(types).all(|(old, new)| new[..] == [*old]) {
            return;
        }
        self.has_changed = true;
        let olds = self.body.take_arguments(block);
        let mut groups = Vec::with_capacity(olds.len());
        for ((_, loc), types) in olds.iter().zip(types) {
            let news: Vec<Value> = types.iter().map(|ty| self.body.add_argument(block, *ty)).collect();
            news.iter().for_each(|new| self.body.set_argument_loc(*new, *loc));
            groups.push(news);
        }
        let mut point = InsertPoint::Start(block);
        for ((old, loc), news) in olds.into_iter().zip(groups) {
            if let Some(cast) = self.replace_value(old, &news, loc) {
                let mut builder = Builder::new(self.body, point);
                builder.place(cast);
                point = builder.point();
            }
            self.body.free_argument(old);
        }
    }

    /// Moves the operations of a block before `before`, with values for its arguments, and erases
    /// the block. Nothing may branch to the block. Its terminator is moved too.
    pub fn inline_block_before(&mut self, block: Block, before: Op, arguments: &[Vec<Value>]) {
        if self.body.num_arguments(block) != arguments.len() || self.body.predecessors(block).next().is_some()
        {
            self.defect = Some("inlines a block with other arguments, or one that is branched to".to_owned());
            return;
        }
        self.has_changed = true;
        let olds: Vec<Value> = self.body.arguments(block).collect();
        for (old, values) in olds.iter().zip(arguments) {
            let loc = self.body.argument_loc(*old);
            if let Some(cast) = self.replace_value(*old, values, loc) {
                self.body.insert_before(before, cast);
            }
        }
        if let Some(at) = self.body.block_of(before) {
            self.body.inline_block(block, at, Some(before), &olds);
        }
    }

    // Values of converted types.

    /// Returns the values that a value becomes. A cast stands in if its definition is not converted
    /// yet.
    ///
    /// # Errors
    /// If its type has no counterpart.
    pub fn remap(&mut self, value: Value, user: Op) -> Result<Vec<Value>, NoMatch> {
        let ty = self.body.value_type(value);
        let types = self.convert_many(ty)?;
        if types[..] == [ty] {
            return Ok(vec![value]);
        }
        if types.is_empty() {
            return Ok(Vec::new());
        }
        let def = self.body.defining_op(value);
        if let Some(cast) = def.filter(|op| self.kind(*op) == Some(CastKind::Source)) {
            let inputs: Vec<Value> = self.body.operands(cast).collect();
            if inputs.iter().map(|input| self.body.value_type(*input)).eq(types.iter().copied()) {
                return Ok(inputs);
            }
        }
        let known = self.to_target.get(&value).copied();
        let is_current =
            |cast: &Op| self.kind(*cast) == Some(CastKind::Target) && self.body.operands(*cast).eq([value]);
        if let Some(cast) = known.filter(is_current) {
            return Ok(self.body.results(cast).collect());
        }
        let loc = def.map_or_else(|| self.body.argument_loc(value), |def| self.body.loc(def));
        let cast = casts::make(self.body, &[value], &types, loc);
        self.mark(cast, CastKind::Target);
        match self.body.def(value) {
            // Nothing can follow a terminator, so its results are cast at each use.
            ValueDef::OpResult { op, .. } if self.body.has_trait(op, Trait::Terminator) => {
                self.body.insert_before(user, cast);
            }
            ValueDef::OpResult { op, .. } => {
                self.body.insert_after(op, cast);
                self.to_target.insert(value, cast);
            }
            ValueDef::BlockArgument { block, .. } => {
                self.body.prepend_op(block, cast);
                self.to_target.insert(value, cast);
            }
        }
        Ok(self.body.results(cast).collect())
    }

    // The side of the driver.

    pub(super) fn remap_operands(&mut self, op: Op) -> Result<Operands, NoMatch> {
        let operands: Vec<Value> = self.body.operands(op).collect();
        let groups: Result<_, _> = operands.into_iter().map(|value| self.remap(value, op)).collect();
        groups.map(Operands)
    }

    pub(super) fn begin(&mut self, op: Op) {
        self.current = Some(op);
        (self.was_converted, self.has_changed, self.defect) = (false, false, None);
    }

    pub(super) fn was_converted(&self) -> bool {
        self.was_converted
    }

    pub(super) fn has_changed(&self) -> bool {
        self.has_changed
    }

    pub(super) fn is_root_erased(&self) -> bool {
        self.root_erased
    }

    pub(super) fn take_defect(&mut self) -> Option<String> {
        self.defect.take()
    }

    pub(super) fn into_body(self) -> &'b mut Body {
        self.body
    }

    fn mark(&mut self, cast: Op, kind: CastKind) {
        if self.casts.len() <= cast.index() {
            self.casts.resize(cast.index() + 1, None);
        }
        self.casts[cast.index()] = Some(kind);
    }

    fn kind(&self, op: Op) -> Option<CastKind> {
        self.casts.get(op.index()).copied().flatten()
    }

    /// True if an operation is a cast of this conversion.
    pub(super) fn is_cast(&self, op: Op) -> bool {
        self.kind(op).is_some()
    }

    /// Has operations visited, in this order, before all others.
    pub(super) fn visit_all(&mut self, ops: Vec<Op>) {
        for op in ops.into_iter().rev() {
            if self.queued.len() <= op.index() {
                self.queued.resize(op.index() + 1, false);
            }
            if !self.is_cast(op) && !std::mem::replace(&mut self.queued[op.index()], true) {
                self.worklist.push(op);
            }
        }
    }

    fn dequeue(&mut self, op: Op) {
        if let Some(queued) = self.queued.get_mut(op.index()) {
            *queued = false;
        }
    }

    /// Has nothing inside `op` visited.
    pub(super) fn leave_inside(&mut self, op: Op) {
        for inside in self.body.preorder(op).collect::<Vec<_>>() {
            self.dequeue(inside);
        }
    }

    pub(super) fn pop(&mut self) -> Option<Op> {
        while let Some(op) = self.worklist.pop() {
            if std::mem::replace(&mut self.queued[op.index()], false) {
                return Some(op);
            }
        }
        None
    }

    /// Lets casts cancel and materialises the others. Returns the number of those.
    pub(super) fn finish(self) -> Result<usize, Diagnostics> {
        let all: Vec<Op> = self.body.all_ops().filter(|op| self.is_cast(*op)).collect();
        let left = casts::cancel(self.body, all);
        let mut errors = Diagnostics::new();
        for cast in &left {
            let Some(kind) = self.kind(*cast) else { continue };
            if let Err(error) = materialize(self.body, self.types, *cast, kind) {
                errors.push(error);
            }
        }
        if errors.has_errors() { Err(errors) } else { Ok(left.len()) }
    }
}

/// Replaces a cast by what the type converter makes of it.
fn materialize(
    body: &mut Body,
    types: &TypeConverter<'_>,
    cast: Op,
    kind: CastKind,
) -> Result<(), Diagnostic> {
    let inputs: Vec<Value> = body.operands(cast).collect();
    let results: Vec<Value> = body.results(cast).collect();
    let wanted: Vec<Type> = results.iter().map(|result| body.value_type(*result)).collect();
    let mut builder = Builder::before(body, cast);
    let Some(values) = types.materialize(&mut builder, kind == CastKind::Source, &inputs, &wanted) else {
        let is_kept = types.keeps_casts();
        return if is_kept { Ok(()) } else { Err(casts::unresolved(body, cast, kind)) };
    };
    if !values.iter().map(|value| body.value_type(*value)).eq(wanted) {
        let text = "a materialisation of the type converter makes values of other types";
        return Err(Diagnostic::error(body.loc(cast), text));
    }
    for (result, value) in results.into_iter().zip(values) {
        body.replace_uses_if(result, value, |_| true);
    }
    body.erase(cast);
    Ok(())
}
