//! Reading with an outline: the parser tells an [`OutlineBuilder`] what it meets, if it has one.
//!
//! Without one, each hook costs a test of a pointer.

use super::Parser;
use crate::context::{Context, OpName};
use crate::diagnostics::Diagnostics;
use crate::entity::{Block, Op, Value};
use crate::opdef::Trait;
use crate::text::lexer::{Kind, Lexer, Token};
use crate::text::op_parser::UnresolvedOperand;
use crate::text::outline::{NameKind, NameToken, Outline, OutlineBuilder, Outlined, Span, Types};

impl<'s> Parser<'s> {
    /// Reads the whole source, with its outline. What can be read behind an error is read.
    pub(crate) fn run_with_outline(mut self) -> Outlined {
        self.outline = Some(Box::default());
        let block = self.items();
        let builder = self.outline.take().unwrap_or_default();
        let mut outline = finish(*builder, self.ctx, self.source);
        let root = self.body.first_op(block).filter(|op| self.is_whole_file(block, *op));
        outline.root = root.and_then(|root| outline.ops.iter().position(|own| own.op == Some(root)));
        let mut diagnostics = Diagnostics::new();
        std::mem::take(&mut self.diagnostics).into_iter().for_each(|own| diagnostics.push(own));
        let nested = root.and_then(|root| self.body.take_nested(root));
        let mut module = match nested {
            Some(nested) => nested,
            None => self.body,
        };
        outline.remove_broken(&mut module);
        Outlined { module, diagnostics, outline }
    }

    /// True if an operation is all that the file holds, and the root of a body.
    fn is_whole_file(&self, block: Block, op: Op) -> bool {
        let is_root = !self.implicit_module || self.body.op_ref(op).name() == "builtin.module";
        is_root && self.body.last_op(block) == Some(op) && self.body.nested(op).is_some()
    }

    /// Begins an operation at the next token.
    pub(super) fn outline_op(&mut self) {
        let start = self.token.start;
        if let Some(outline) = &mut self.outline {
            outline.begin_op(start);
        }
    }

    /// Names the operation that is read by the next token.
    pub(super) fn outline_name(&mut self, name: OpName) {
        let Token { start, end, .. } = self.token;
        if let Some(outline) = &mut self.outline {
            outline.name_op(start..end, Some(name));
        }
    }

    /// Says what the operation that is read has become.
    pub(super) fn outline_result(&mut self, op: Op) {
        if let Some(outline) = &mut self.outline {
            outline.set_op(op, self.body.nested(op).is_some());
        }
    }

    /// Ends the operation that is read.
    pub(super) fn outline_op_end(&mut self, is_read: bool) {
        let end = self.last_end;
        if let Some(outline) = &mut self.outline {
            if !is_read {
                outline.note_error();
            }
            outline.end_op(end, is_read);
        }
    }

    /// Begins a region at the token before the next.
    pub(super) fn outline_region(&mut self, is_isolated: bool) {
        let start = self.last_end.saturating_sub(1);
        if let Some(outline) = &mut self.outline {
            outline.begin_region(start, is_isolated);
        }
    }

    /// Ends a region with the next token.
    pub(super) fn outline_region_end(&mut self) {
        let end = self.token.end;
        if let Some(outline) = &mut self.outline {
            outline.end_region(end);
        }
    }

    /// Adds the definition of a block.
    pub(super) fn outline_block(&mut self) {
        let Token { start, end, .. } = self.token;
        if let Some(outline) = &mut self.outline {
            let name = NameToken { sign: b'^', text: start + 1..end, span: start..end };
            outline.define(NameKind::Block, name, Types::new());
        }
    }

    /// Adds the definition of consecutive values, the first of which is known if any is.
    pub(super) fn outline_values(&mut self, name: UnresolvedOperand, known: Option<(Value, u32)>) {
        if self.outline.is_none() {
            return;
        }
        let types = known.into_iter().flat_map(|(first, count)| (0..count).map(move |n| (first, n)));
        let types: Types = types.map(|(first, n)| self.body.value_type(self.nth(first, n))).collect();
        if let Some(outline) = &mut self.outline {
            let name = NameToken { sign: b'%', text: name.start..name.end, span: name.start - 1..name.end };
            outline.define(NameKind::Value, name, types);
        }
    }
}

/// Adds symbols and aliases, and finds the uses of all names. Linear in the text.
fn finish(mut builder: OutlineBuilder, ctx: &Context, source: &str) -> Outline {
    let mut scan = Scan { ctx, source, builder: &mut builder, open: Vec::new(), next: 0, names: Vec::new() };
    scan.all();
    let names = scan.names;
    builder.finish(source, &names)
}

/// A walk over the tokens of a text.
struct Scan<'a> {
    ctx: &'a Context,
    source: &'a str,
    builder: &'a mut OutlineBuilder,
    /// The operations around the token, and true for those whose symbol is known.
    open: Vec<(usize, bool)>,
    next: usize,
    names: Vec<NameToken>,
}

impl Scan<'_> {
    fn all(&mut self) {
        let mut lexer = Lexer::new(self.source);
        let mut before = [Token { kind: Kind::Eof, start: 0, end: 0 }; 2];
        loop {
            let token = lexer.next();
            if token.kind == Kind::Eof {
                return;
            }
            self.token(token, before);
            before = [before[1], token];
        }
    }

    fn text(&self, token: Token) -> &str {
        &self.source[token.start as usize..token.end as usize]
    }

    fn token(&mut self, token: Token, [earlier, before]: [Token; 2]) {
        match token.kind {
            Kind::Percent => self.name(b'%', token.start + 1..token.end, token),
            Kind::Caret => self.name(b'^', token.start + 1..token.end, token),
            // The number of a result stands directly behind its value.
            Kind::Hash if before.kind == Kind::Percent && before.end == token.start => {}
            Kind::Hash => self.name(b'#', token.start + 1..token.end, token),
            Kind::Exclaim => self.name(b'!', token.start + 1..token.end, token),
            Kind::Equal if matches!(before.kind, Kind::Hash | Kind::Exclaim) => self.alias(before),
            Kind::At => {
                let quoted = u32::from(self.text(token).starts_with("@\""));
                self.symbol(token, token.start + 1 + quoted..token.end - quoted);
            }
            // The generic form has the name of a symbol as a string.
            Kind::String if before.kind == Kind::Equal && self.text(earlier) == "sym_name" => {
                self.symbol(token, token.start + 1..token.end - 1);
            }
            _ => {}
        }
    }

    fn name(&mut self, sign: u8, text: Span, token: Token) {
        self.names.push(NameToken { sign, text, span: token.start..token.end });
    }

    /// Adds a definition outside of all operations.
    fn alias(&mut self, token: Token) {
        if self.around(token.start).is_some() {
            return;
        }
        let (sign, kind) = match token.kind {
            Kind::Hash => (b'#', NameKind::Attribute),
            _ => (b'!', NameKind::Type),
        };
        let name = NameToken { sign, text: token.start + 1..token.end, span: token.start..token.end };
        self.builder.define_in(None, None, kind, name, Types::new());
    }

    /// Adds a symbol. The first one in an operation that is a symbol is its name.
    fn symbol(&mut self, token: Token, text: Span) {
        let Some(at) = self.around(token.start) else { return };
        let (op, is_named) = self.open[at];
        let name = NameToken { sign: b'@', text: text.clone(), span: token.start..token.end };
        let of = &self.builder.ops()[op];
        let is_symbol = of.op_name.is_some_and(|name| self.ctx.op_info(name).has_trait(Trait::Symbol));
        if is_symbol && !is_named {
            self.open[at].1 = true;
            let region = of.region;
            self.builder.define_in(region, Some(op), NameKind::Symbol, name, Types::new());
        } else if token.kind != Kind::At {
            return;
        }
        self.name(b'@', text, token);
    }

    /// Returns the place in `open` of the innermost operation around a byte.
    fn around(&mut self, offset: u32) -> Option<usize> {
        while self.builder.ops().get(self.next).is_some_and(|own| own.span.start <= offset) {
            self.open.push((self.next, false));
            self.next += 1;
        }
        while self.open.last().is_some_and(|(at, _)| self.builder.ops()[*at].span.end <= offset) {
            self.open.pop();
        }
        self.open.len().checked_sub(1)
    }
}
