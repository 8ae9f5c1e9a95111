//! Regions and blocks.
//!
//! A region's operation does not exist yet when its text is read: the region belongs to an
//! operation that was begun and stands nowhere. Blocks may be named before they come; such a block
//! is made at once and put in its place when its label does.

use hashbrown::HashMap;

use super::Parser;
use super::values::ValueScope;
use crate::entity::{Block, Region};
use crate::text::ParseResult;
use crate::text::lexer::Kind;
use crate::text::op_parser::Argument;

/// The names of blocks in the regions that are open.
#[derive(Default)]
pub(super) struct BlockScopes<'s> {
    /// By region (counted as they begin) and name.
    names: HashMap<(u32, &'s str), u32, foldhash::fast::FixedState>,
    /// Blocks of all open regions, those of the innermost last.
    entries: Vec<Entry<'s>>,
    /// Number and first entry of each open region, with the region.
    open: Vec<(u32, usize, Region)>,
    count: u32,
}

impl BlockScopes<'_> {
    /// True if a region is being read.
    pub(super) fn is_open(&self) -> bool {
        !self.open.is_empty()
    }
}

struct Entry<'s> {
    name: &'s str,
    block: Block,
    /// Where it was named first.
    offset: u32,
    defined: bool,
}

impl<'s> Parser<'s> {
    /// Reads `{…}` into a region without blocks; `arguments` become those of its entry block.
    /// `default_dialect` is the prefix its operations may lack.
    pub(crate) fn region(
        &mut self,
        region: Region,
        arguments: &[Argument],
        isolated: bool,
        default_dialect: &'s str,
    ) -> ParseResult<()> {
        self.expect(Kind::LBrace, "expected '{' to begin a region")?;
        self.outline_region(isolated);
        if arguments.is_empty() && self.is(Kind::RBrace) {
            self.outline_region_end();
            self.advance();
            return Ok(());
        }
        let outer: Option<ValueScope<'s>> = isolated.then(|| self.begin_scope());
        let mark = self.scope.enter();
        self.blocks.count += 1;
        self.blocks.open.push((self.blocks.count, self.blocks.entries.len(), region));
        self.default_dialects.push(default_dialect);
        let result = self.region_body(region, arguments);
        self.default_dialects.pop();
        self.end_blocks();
        self.outline_region_end();
        match outer {
            Some(outer) => self.end_scope(outer),
            None => self.scope.leave(mark),
        }
        result?;
        self.expect(Kind::RBrace, "expected '}' to end a region")
    }

    fn region_body(&mut self, region: Region, arguments: &[Argument]) -> ParseResult<()> {
        if !self.is(Kind::Caret) || !arguments.is_empty() {
            if self.is(Kind::Caret) {
                return Err(self.error_here("invalid block name in region with named arguments"));
            }
            let entry = self.body.append_block(region, &[]);
            for argument in arguments {
                let value = self.body.add_argument(entry, argument.ty);
                self.body.set_argument_loc(value, argument.loc);
                if let Err(error) = self.define(argument.operand, value, 1) {
                    self.report(*error);
                }
            }
            self.block_body(entry)?;
        }
        while self.is(Kind::Caret) {
            let block = match self.block_label(region) {
                Ok(block) => block,
                Err(error) => {
                    let start = self.token.start;
                    self.recover(start, *error);
                    self.body.append_block(region, &[])
                }
            };
            self.block_body(block)?;
        }
        Ok(())
    }

    /// Operations up to the next label or the end of the region.
    fn block_body(&mut self, block: Block) -> ParseResult<()> {
        while !matches!(self.token.kind, Kind::Caret | Kind::RBrace | Kind::Eof) {
            let start = self.token.start;
            if let Err(error) = self.operation(block) {
                if self.fatal || self.token.kind == Kind::Eof {
                    return Err(error);
                }
                self.recover(start, *error);
                if self.fatal {
                    return Err(self.missing("expected '}' to end a region"));
                }
            }
        }
        Ok(())
    }

    /// Reads `^name(%a: type, …):`.
    fn block_label(&mut self, region: Region) -> ParseResult<Block> {
        let (name, offset) = (self.text(), self.token.start);
        self.outline_block();
        self.advance();
        let number = self.blocks.open.last().map_or(0, |open| open.0);
        let block = match self.blocks.names.get(&(number, name)).copied() {
            None => {
                let block = self.body.append_block(region, &[]);
                self.name_block(number, Entry { name, block, offset, defined: true });
                block
            }
            Some(index) => {
                let entry = &mut self.blocks.entries[index as usize];
                let (block, first) = (entry.block, entry.offset);
                if entry.defined {
                    let error = self.error_at(offset, format!("redefinition of block '{name}'"));
                    return Err(Box::new(error.note(self.loc_at(first), "previously defined here")));
                }
                (entry.defined, entry.offset) = (true, offset);
                // It was made when it was first named; its place is here.
                self.body.move_block(block, region, None);
                block
            }
        };
        if self.accept(Kind::LParen) {
            self.list_until(Kind::RParen, "expected ')' to end argument list", |p| {
                let operand = p.operand()?;
                p.expect(Kind::Colon, "expected ':' and type for SSA operand")?;
                let ty = p.ty()?;
                let value = p.body.add_argument(block, ty);
                let loc = match p.optional_trailing_loc()? {
                    Some(loc) => loc,
                    None => p.operand_loc(operand),
                };
                p.body.set_argument_loc(value, loc);
                p.define(operand, value, 1)
            })?;
        }
        self.expect(Kind::Colon, "expected ':' after block name")?;
        Ok(block)
    }

    /// Reads `^name`, a block of the region that is being read, there already or not.
    pub(crate) fn successor(&mut self) -> ParseResult<Block> {
        if !self.is(Kind::Caret) {
            return Err(self.missing("expected block name"));
        }
        let (name, offset) = (self.text(), self.token.start);
        let Some(&(number, _, region)) = self.blocks.open.last() else {
            return Err(self.error_here("no region to look for this block in"));
        };
        self.advance();
        if let Some(index) = self.blocks.names.get(&(number, name)) {
            return Ok(self.blocks.entries[*index as usize].block);
        }
        let block = self.body.append_block(region, &[]);
        self.name_block(number, Entry { name, block, offset, defined: false });
        Ok(block)
    }

    fn name_block(&mut self, number: u32, entry: Entry<'s>) {
        self.blocks.names.insert((number, entry.name), self.blocks.entries.len() as u32);
        self.blocks.entries.push(entry);
    }

    fn end_blocks(&mut self) {
        let Some((number, first, _)) = self.blocks.open.pop() else { return };
        for entry in self.blocks.entries.split_off(first) {
            self.blocks.names.remove(&(number, entry.name));
            if !entry.defined && !self.fatal {
                let error =
                    self.error_at(entry.offset, format!("reference to an undefined block '{}'", entry.name));
                self.report(*error);
            }
        }
    }
}
