//! Reading regions and successors of an operation.
//!
//! The first region begins the operation, which gets the rest when its text is at an end; each
//! region beyond waits in an operation of its own ([`Pending`]).

use super::{Argument, Delimiter, OpParser, Pending};
use crate::attributes::Dict;
use crate::body::Body;
use crate::builder::{Builder, InsertPoint, OperationState};
use crate::entity::{Block, Region, Value};
use crate::opdef::{OpDef, Trait};
use crate::text::ParseResult;
use crate::text::lexer::Kind;
use crate::types::Type;

#[allow(clippy::missing_errors_doc)]
impl OpParser<'_, '_> {
    /// Reads `%name loc(…)` or, `with_type`, `%name: type {attributes} loc(…)`, without what is
    /// left out.
    pub fn parse_argument(&mut self, with_type: bool) -> ParseResult<Argument> {
        let loc = self.loc();
        let operand = self.parser.operand()?;
        if operand.number != 0 {
            return Err(self.error(loc, "expected a name without '#'"));
        }
        let mut argument = Argument { operand, ty: Type::NONE, attrs: Dict::EMPTY, loc };
        if with_type {
            argument.ty = self.parse_colon_type()?;
            if self.parser.is(Kind::LBrace) {
                argument.attrs = self.parser.dictionary()?;
            }
        }
        if let Some(loc) = self.parser.optional_trailing_loc()? {
            argument.loc = loc;
        }
        Ok(argument)
    }

    /// Reads arguments separated by commas. With `Delimiter::None` there may be none.
    pub fn parse_argument_list(
        &mut self,
        delimiter: Delimiter,
        with_types: bool,
    ) -> ParseResult<Vec<Argument>> {
        if delimiter == Delimiter::None && !self.parser.is(Kind::Percent) {
            return Ok(Vec::new());
        }
        self.parse_list(delimiter, |p| p.parse_argument(with_types))
    }

    /// Reads `{…}` as one more region of the operation. `arguments` become those of its entry
    /// block.
    pub fn parse_region(&mut self, state: &mut OperationState, arguments: &[Argument]) -> ParseResult<()> {
        let region = self.new_region(state);
        let info = self.parser.ctx.op_info(state.name);
        let isolated = info.has_trait(Trait::IsolatedFromAbove);
        let dialect = self.parser.default_dialect_of(info);
        // The body that is read is the parser's; the one around waits here.
        self.swap_body();
        let result = self.parser.nested(|p| p.region(region, arguments, isolated, dialect));
        self.swap_body();
        result
    }

    fn swap_body(&mut self) {
        if let Pending::Body { body, .. } = &mut self.pending {
            std::mem::swap(&mut self.parser.body, body);
        }
    }

    /// One more region without blocks.
    fn new_region(&mut self, state: &mut OperationState) -> Region {
        let ctx = self.parser.ctx;
        state.num_regions += 1;
        match &mut self.pending {
            Pending::None if ctx.op_info(state.name).owns_arena() => {
                let body = self.parser.spare_body(state.name, state.loc);
                let region = body.region(body.root(), 0);
                self.pending = Pending::Body { body, more: Vec::new() };
                region
            }
            Pending::None => {
                let first = self.parser.body.begin(state.name, state.loc);
                self.pending = Pending::Op { first, more: Vec::new() };
                self.parser.body.region(first, 0)
            }
            Pending::Op { more, .. } => {
                let op = self.parser.body.begin(state.name, state.loc);
                more.push(op);
                self.parser.body.region(op, 0)
            }
            Pending::Body { body, more } => {
                let op = body.begin(state.name, state.loc);
                more.push(op);
                body.region(op, 0)
            }
        }
    }

    /// Reads `{…}` as one more region if a brace is next; returns whether it was.
    pub fn parse_optional_region(
        &mut self,
        state: &mut OperationState,
        arguments: &[Argument],
    ) -> ParseResult<bool> {
        if !self.parser.is(Kind::LBrace) {
            return Ok(false);
        }
        self.parse_region(state, arguments)?;
        Ok(true)
    }

    /// Adds one more region, without blocks.
    pub fn add_empty_region(&mut self, state: &mut OperationState) {
        self.new_region(state);
    }

    /// Adds one more region with one block, which `fill` fills: a region that the text leaves out.
    ///
    /// # Errors
    /// Errors of `fill`.
    pub fn build_region(
        &mut self,
        state: &mut OperationState,
        arguments: &[Type],
        fill: impl FnOnce(&mut Builder<'_>, &[Value]) -> ParseResult<()>,
    ) -> ParseResult<()> {
        let region = self.new_region(state);
        let body = match &mut self.pending {
            Pending::Body { body, .. } => body,
            _ => &mut self.parser.body,
        };
        let block = body.append_block(region, arguments);
        let values: Vec<Value> = body.arguments(block).collect();
        let mut builder = Builder::new(body, InsertPoint::End(block));
        builder.set_loc(state.loc);
        fill(&mut builder, &values)
    }

    /// Gives region `index` of those read so far a block if it has none.
    pub fn ensure_block(&mut self, index: usize) {
        if let Some((body, region)) = self.region_read(index)
            && body.entry_block(region).is_none()
        {
            body.append_block(region, &[]);
        }
    }

    /// Makes the region that was read last the operation's first.
    pub fn move_last_region_to_front(&mut self) {
        match &mut self.pending {
            Pending::None => {}
            Pending::Op { first, more } => {
                if let Some(last) = more.pop() {
                    more.insert(0, std::mem::replace(first, last));
                }
            }
            Pending::Body { body, more } => {
                let Some(&last) = more.last() else { return };
                // The root can't be another operation, so the blocks change places.
                let spare = body.begin(body.op_name(last), body.loc(last));
                let region = |body: &Body, op| body.region(op, 0);
                let (root, last_region, spare_region) =
                    (region(body, body.root()), region(body, last), region(body, spare));
                body.move_blocks(root, spare_region);
                body.move_blocks(last_region, root);
                body.move_blocks(spare_region, last_region);
                body.erase(spare);
                more.rotate_right(1);
            }
        }
    }

    /// Sees to it that region `index` of those read so far ends in a terminator: adds a block if
    /// there is none, and an operation of `def` without operands to the last block if that doesn't
    /// end in a terminator. Regions of the new operation get an empty block.
    pub fn ensure_terminator(&mut self, state: &mut OperationState, index: usize, def: &'static OpDef) {
        let ctx = self.parser.ctx;
        let Some((body, region)) = self.region_read(index) else { return };
        let last = body.blocks(region).last();
        let block = last.unwrap_or_else(|| body.append_block(region, &[]));
        // Of an operation nobody registered it isn't known that it ends a block, so it doesn't.
        if body.last_op(block).is_some_and(|last| body.has_trait(last, Trait::Terminator)) {
            return;
        }
        let mut terminator = OperationState::of(ctx, def, state.loc);
        terminator.set_defaults(ctx);
        let op = body.create(terminator);
        for region in body.own_regions(op) {
            body.append_block(region, &[]);
        }
        body.append_op(block, op);
    }

    /// Edits region `index` of those read so far.
    pub fn edit_region(&mut self, index: usize, edit: impl FnOnce(&mut Body, Region)) {
        if let Some((body, region)) = self.region_read(index) {
            edit(body, region);
        }
    }

    /// True if region `index` of those read so far has no operations, and no blocks besides its
    /// entry.
    pub fn is_region_empty(&mut self, index: usize) -> bool {
        let Some((body, region)) = self.region_read(index) else { return true };
        body.blocks(region).nth(1).is_none()
            && body.entry_block(region).is_none_or(|b| body.last_op(b).is_none())
    }

    /// Region `index` of those read so far, and the body it is in.
    fn region_read(&mut self, index: usize) -> Option<(&mut Body, Region)> {
        let (body, first, more) = match &mut self.pending {
            Pending::None => return None,
            Pending::Op { first, more } => (&mut self.parser.body, *first, more),
            Pending::Body { body, more } => {
                let root = body.root();
                (&mut **body, root, more)
            }
        };
        let holder = if index == 0 { first } else { *more.get(index - 1)? };
        let region = body.region(holder, 0);
        Some((body, region))
    }

    /// Reads `^block`.
    pub fn parse_successor(&mut self) -> ParseResult<Block> {
        self.parser.successor()
    }

    /// Reads `^block` if it is next.
    pub fn parse_optional_successor(&mut self) -> ParseResult<Option<Block>> {
        if self.parser.is(Kind::Caret) { self.parser.successor().map(Some) } else { Ok(None) }
    }

    /// Reads `^block` or `^block(%a, %b : i32, f32)`.
    pub fn parse_successor_and_operands(&mut self) -> ParseResult<(Block, Vec<Value>)> {
        let block = self.parser.successor()?;
        if !self.accept("(") {
            return Ok((block, Vec::new()));
        }
        let loc = self.loc();
        let operands = self.parse_operand_list(Delimiter::None)?;
        self.expect(":")?;
        let types = self.parse_type_list()?;
        self.expect(")")?;
        let values = self.resolve_all(&operands, &types, loc)?;
        Ok((block, values))
    }
}
