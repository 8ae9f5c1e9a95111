//! The parser: tokens to a [`Body`].
//!
//! Recursive descent, one method a rule of the grammar, spread over the files of this module by
//! what they read. The parser writes straight into the body under construction; nothing of the text
//! is kept but slices of it. After an error it goes on at the next operation, so that one run finds
//! them all; values that a failed operation would have defined count as known.
//!
//! Invariants: `token` is the next token, everything before it is read. `depth` counts regions,
//! types, attributes and parentheses that are open; past [`MAX_DEPTH`] is an error, and every
//! [`STACK_STEP`] levels the parser goes on in a thread with a stack of its own, so that depth
//! never meets the end of one. Cost: linear in the text.

use hashbrown::HashMap;

use crate::attributes::Attr;
use crate::body::Body;
use crate::builder::OperationState;
use crate::context::{Context, Name, OpName};
use crate::diagnostics::suggest::did_you_mean;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::entity::Block;
use crate::location::{Loc, LocKind, Packed};
use crate::resources::ExternalResources;
use crate::text::lexer::{Kind, Lexer, Token};
use crate::text::op_parser::UnresolvedOperand;
use crate::text::outline::OutlineBuilder;
use crate::text::{ParseOptions, ParseResult};
use crate::types::Type;
use aliases::Alias;
use spare::Spare;
use values::ValueScope;

mod affine;
mod aliases;
mod attributes;
mod elements;
mod locations;
mod numbers;
mod operations;
mod outlining;
mod regions;
mod resources;
mod spare;
mod types;
mod values;

pub(crate) use elements::element_width;
pub(crate) use operations::ResultGroup;

/// The deepest nesting of regions, types, attributes and parentheses.
pub(crate) const MAX_DEPTH: u32 = 1100;
/// Levels of nesting on one stack.
const STACK_STEP: u32 = 48;
/// Bytes of each further stack.
const STACK_SIZE: usize = 8 << 20;
/// The most bytes of text that aliases stand for, besides [`EXPANSION_FACTOR`] times
/// the source.
const MAX_EXPANSION: u64 = 64 << 20;
/// See [`MAX_EXPANSION`].
const EXPANSION_FACTOR: u64 = 16;
/// After so many errors the parser gives up.
const MAX_ERRORS: usize = 100;

/// The state of a parse. See the [module](self).
pub(crate) struct Parser<'s> {
    pub(super) ctx: &'s Context,
    pub(super) source: &'s str,
    lexer: Lexer<'s>,
    pub(super) token: Token,
    /// The byte after the token read last.
    last_end: u32,
    file: Name,
    /// The number by which packed locations know it.
    slot: Option<usize>,
    lines: Lines,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The outline, if it is wanted.
    outline: Option<Box<OutlineBuilder>>,
    /// Nothing more can be read.
    fatal: bool,
    depth: u32,
    attr_aliases: HashMap<&'s str, Alias<Attr>>,
    type_aliases: HashMap<&'s str, Alias<Type>>,
    /// Length of all that aliases that were used stand for.
    expanded: u64,
    /// Of those in text that nobody understands, counted as often as that is read again.
    expanded_in_text: u64,
    /// The attribute that each number of `distinct[0]<…>` stands for.
    distinct: HashMap<u64, Attr>,
    /// The aliases of definitions further down, once a location has used one.
    later_aliases: HashMap<&'s str, Alias<Attr>>,
    has_read_ahead: bool,
    reading_ahead: bool,
    /// The body under construction.
    pub(super) body: Body,
    scope: ValueScope<'s>,
    spare: Spare<'s>,
    blocks: regions::BlockScopes<'s>,
    /// The dialect whose prefix may be missing, innermost region last.
    default_dialects: Vec<&'s str>,
    /// The names of what is being read, innermost last.
    pub(super) inside: Vec<Name>,
    allow_unregistered: bool,
    implicit_module: bool,
    resources: ExternalResources,
    /// The operations that bare names stand for: those without a dialect where that of the second
    /// part may be missing.
    op_names: HashMap<&'s str, (OpName, Option<&'s str>), foldhash::fast::FixedState>,
    recent_types: types::RecentTypes<'s>,
}

impl<'s> Parser<'s> {
    /// A parser at the start of `source`, writing into an empty module.
    pub(crate) fn new(ctx: &'s Context, source: &'s str, file_name: &str, options: &ParseOptions) -> Self {
        let file = ctx.name(file_name);
        let loc = ctx.loc(LocKind::File { file, line: 0, column: 0 });
        let module = OperationState::new(ctx, "builtin.module", loc).regions(1);
        let mut parser = Parser {
            ctx,
            source,
            lexer: Lexer::new(source),
            token: Token { kind: Kind::Eof, start: 0, end: 0 },
            last_end: 0,
            file,
            slot: ctx.file_slot(file),
            lines: Lines { first: options.first_line, ..Lines::default() },
            allow_unregistered: options.allow_unregistered_dialects,
            implicit_module: options.implicit_module,
            resources: ExternalResources::default(),
            diagnostics: Vec::new(),
            outline: None,
            fatal: false,
            depth: 0,
            attr_aliases: HashMap::new(),
            type_aliases: HashMap::new(),
            expanded: 0,
            expanded_in_text: 0,
            distinct: HashMap::new(),
            later_aliases: HashMap::new(),
            has_read_ahead: false,
            reading_ahead: false,
            body: Body::new(ctx, module),
            scope: ValueScope::default(),
            spare: Spare::default(),
            blocks: Default::default(),
            default_dialects: vec!["builtin"],
            inside: Vec::new(),
            op_names: HashMap::default(),
            recent_types: Default::default(),
        };
        if source.len() >= u32::MAX as usize {
            let message = "file is too large: at most 4 GiB can be read";
            parser.diagnostics.push(Diagnostic::error(loc, message));
            parser.fatal = true;
            return parser;
        }
        parser.advance();
        parser
    }

    /// Reads the whole source.
    pub(crate) fn run(mut self) -> Result<Body, Diagnostics> {
        let block = self.items();
        if self.diagnostics.is_empty() {
            let resources = std::mem::take(&mut self.resources);
            let body =
                if self.implicit_module { Ok(self.unwrap_module(block)) } else { self.single_op(block) };
            let mut body = body.map_err(|error| Diagnostics::from(*error))?;
            if !resources.is_empty() {
                *body.external_resources_mut() = resources;
            }
            return Ok(body);
        }
        let mut all = Diagnostics::new();
        self.diagnostics.into_iter().for_each(|d| all.push(d));
        Err(all)
    }

    /// Reads all items of the source into a block, and reports what is wrong with them.
    fn items(&mut self) -> Block {
        let region = self.body.region(self.body.root(), 0);
        let block = self.body.append_block(region, &[]);
        while self.token.kind != Kind::Eof && !self.fatal {
            let start = self.token.start;
            if let Err(error) = self.top_level_item(block) {
                self.recover(start, *error);
                // What only closes something can't be part of an operation here.
                if matches!(self.token.kind, Kind::RBrace | Kind::Caret) || self.token.start == start {
                    self.advance();
                }
            }
        }
        self.finish_scope();
        block
    }

    /// Reads one thing that is the whole source.
    pub(crate) fn whole<T>(mut self, read: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        if let Some(error) = self.diagnostics.pop() {
            return Err(Box::new(error));
        }
        let value = read(&mut self)?;
        if self.is(Kind::Eof) { Ok(value) } else { Err(self.error_here("unexpected text at the end")) }
    }

    fn top_level_item(&mut self, block: Block) -> ParseResult<()> {
        match self.token.kind {
            Kind::Hash => self.attr_alias_definition(),
            Kind::Exclaim => self.type_alias_definition(),
            Kind::MetadataBegin => self.file_metadata(),
            _ => self.operation(block),
        }
    }

    /// The body of the file's one module, or the one made around what the file holds.
    fn unwrap_module(mut self, block: Block) -> Body {
        let (Some(first), last) = (self.body.first_op(block), self.body.last_op(block)) else {
            return self.body;
        };
        if Some(first) != last || self.body.op_ref(first).name() != "builtin.module" {
            return self.body;
        }
        if self.body.nested(first).is_some() {
            return self.body.take_nested(first).unwrap_or(self.body);
        }
        // Not registered, so it owns no body: the one made around it takes over what it has.
        let op = self.body.op_ref(first);
        if op.regions().len() != 1 || op.num_results() != 0 || op.num_operands() != 0 {
            return self.body;
        }
        let root = self.body.root();
        let (from, to) = (self.body.region(first, 0), self.body.region(root, 0));
        self.body.set_loc(root, self.body.loc(first));
        self.body.set_properties(root, self.body.properties(first));
        self.body.set_attributes(root, self.body.attributes(first));
        self.body.move_blocks(from, to);
        self.body.erase_block(block);
        self.body
    }

    /// The body of the file's one operation.
    fn single_op(mut self, block: Block) -> ParseResult<Body> {
        let count = self.body.ops(block).count();
        let (Some(op), 1) = (self.body.first_op(block), count) else {
            let message = format!("source must contain a single top-level operation, found: {count}");
            return Err(self.error_at(0, message));
        };
        let name = self.body.op_ref(op).name();
        let message = format!("'{name}' can't be the top-level operation: it isn't isolated from above");
        let error = Diagnostic::error(self.body.loc(op), message);
        self.body.take_nested(op).ok_or_else(|| Box::new(error))
    }

    // Tokens.

    pub(super) fn advance(&mut self) {
        self.last_end = self.token.end;
        self.token = self.lexer.next();
    }

    /// Makes the next token the one at or behind `pos`.
    pub(super) fn set_pos(&mut self, pos: u32) {
        self.lexer.set_pos(pos);
        self.advance();
        self.last_end = pos;
    }

    /// Makes the next token one that only the parser can tell.
    pub(super) fn take_token(&mut self, kind: Kind, start: u32, end: u32) {
        self.lexer.set_pos(end);
        self.last_end = self.token.end;
        self.token = Token { kind, start, end };
    }

    pub(super) fn slice(&self, start: u32, end: u32) -> &'s str {
        &self.source[start as usize..end as usize]
    }

    pub(super) fn text(&self) -> &'s str {
        self.slice(self.token.start, self.token.end)
    }

    pub(super) fn is(&self, kind: Kind) -> bool {
        self.token.kind == kind
    }

    pub(super) fn accept(&mut self, kind: Kind) -> bool {
        let found = self.token.kind == kind;
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, kind: Kind, message: &str) -> ParseResult<()> {
        if self.accept(kind) { Ok(()) } else { Err(self.missing(message)) }
    }

    pub(super) fn is_keyword(&self, keyword: &str) -> bool {
        self.token.kind == Kind::Bare && self.text() == keyword
    }

    pub(super) fn accept_keyword(&mut self, keyword: &str) -> bool {
        let found = self.is_keyword(keyword);
        if found {
            self.advance();
        }
        found
    }

    /// Elements separated by commas until `close`, whose opening counterpart is read.
    pub(super) fn list_until(
        &mut self,
        close: Kind,
        message: &str,
        mut element: impl FnMut(&mut Self) -> ParseResult<()>,
    ) -> ParseResult<()> {
        if self.accept(close) {
            return Ok(());
        }
        loop {
            element(self)?;
            if !self.accept(Kind::Comma) {
                return self.expect(close, message);
            }
        }
    }

    /// Elements separated by commas, at least one.
    pub(super) fn list(&mut self, mut element: impl FnMut(&mut Self) -> ParseResult<()>) -> ParseResult<()> {
        loop {
            element(self)?;
            if !self.accept(Kind::Comma) {
                return Ok(());
            }
        }
    }

    // Places and errors.

    /// The location of a byte.
    pub(super) fn loc_at(&mut self, offset: u32) -> Loc {
        let (line, column) = self.lines.find(self.source, offset);
        let packed = self.slot.and_then(|file| Packed { file, line, column }.pack());
        packed.unwrap_or_else(|| self.ctx.loc(LocKind::File { file: self.file, line, column }))
    }

    pub(super) fn error_at(&mut self, offset: u32, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(self.loc_at(offset), message))
    }

    /// An error where something is missing: before the next token, and at the end of a line rather
    /// than where the next line begins.
    pub(super) fn missing(&mut self, message: impl Into<String>) -> Box<Diagnostic> {
        let (end, next) = (self.last_end, self.token.start);
        let is_error = matches!(self.token.kind, Kind::Unknown | Kind::OpenString);
        if !is_error && end < next && self.slice(end, next).contains('\n') {
            return self.error_at(end, message);
        }
        self.error_here(message)
    }

    /// An error at the next token, unless that token is itself one.
    pub(super) fn error_here(&mut self, message: impl Into<String>) -> Box<Diagnostic> {
        let at = self.token.start;
        match self.token.kind {
            Kind::Unknown if self.source.as_bytes().get(at as usize) == Some(&b'%') => {
                self.error_at(at, "invalid SSA name")
            }
            Kind::Unknown => self.error_at(at, "unexpected character"),
            Kind::OpenString => self.error_at(at, "expected '\"' in string literal"),
            _ => self.error_at(at, message),
        }
    }

    /// Refuses what nobody registered, unless it is allowed. `what` it is names it.
    pub(super) fn unregistered(&mut self, offset: u32, dialect: &str, what: &str) -> ParseResult<()> {
        if self.allow_unregistered {
            return Ok(());
        }
        let message = match self.ctx.is_registered_dialect(dialect) {
            true => format!("dialect '{dialect}' has no {what}"),
            false if dialect.is_empty() => format!("{what} names no dialect"),
            false => format!("{what} is of a dialect that is not registered"),
        };
        let allow = "if this is intended, allow it with --allow-unregistered-dialect";
        let help = self.way_out(dialect).unwrap_or_else(|| allow.to_owned());
        Err(Box::new(self.error_at(offset, message).help(help)))
    }

    /// Returns the way to go on after a name of a dialect that is not registered.
    pub(super) fn way_out(&self, dialect: &str) -> Option<String> {
        let known = self.ctx.dialects().iter().map(|own| &*own.name);
        let is_registered = self.ctx.is_registered_dialect(dialect);
        let similar = || if is_registered { None } else { did_you_mean(dialect, known) };
        self.ctx.elsewhere(dialect).map(str::to_owned).or_else(similar)
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        if self.fatal {
            return;
        }
        self.diagnostics.push(diagnostic);
        if let Some(outline) = &mut self.outline {
            outline.note_error();
        }
        self.fatal |= self.diagnostics.len() >= MAX_ERRORS;
    }

    /// Reports an error in what began at `start` and skips to where the next operation, block or
    /// end of region may begin: at the start of a line, behind all brackets that were opened since
    /// or no further right than what failed began.
    fn recover(&mut self, start: u32, error: Diagnostic) {
        self.report(error);
        if self.fatal {
            return;
        }
        let failed = self.token.start;
        let margin = self.column(start);
        self.set_pos(start);
        let mut open = 0usize;
        let mut last_end = start;
        while self.token.kind != Kind::Eof {
            let token = self.token;
            let new_line = token.start > start && self.slice(last_end, token.start).contains('\n');
            if token.start >= failed && token.start > start {
                let closes = matches!(token.kind, Kind::RBrace | Kind::Caret);
                let begins = matches!(
                    token.kind,
                    Kind::Percent | Kind::Bare | Kind::String | Kind::Hash | Kind::Exclaim
                );
                let column = if new_line { self.column(token.start) } else { u32::MAX };
                if (closes && (open == 0 || column < margin))
                    || (begins && new_line && (open == 0 || column <= margin))
                {
                    return;
                }
            }
            match token.kind {
                Kind::LBrace | Kind::LParen | Kind::LSquare => open += 1,
                Kind::RBrace | Kind::RParen | Kind::RSquare => open = open.saturating_sub(1),
                _ => {}
            }
            last_end = token.end;
            self.advance();
            if new_line && token.kind == Kind::Percent {
                // What is skipped may have defined it.
                self.lose(UnresolvedOperand { start: token.start + 1, end: token.end, number: 0 });
            }
        }
        // The end of the file inside a region: that it isn't closed is no error of its own.
        self.fatal = self.blocks.is_open();
    }

    /// Bytes between the start of the line and a byte.
    fn column(&self, offset: u32) -> u32 {
        let line = self.source[..offset as usize].rfind('\n').map_or(0, |at| at as u32 + 1);
        offset - line
    }

    // Depth.

    /// One level deeper, on another stack where this one may end. `what` completes "… are nested
    /// too deeply".
    pub(super) fn nested<T: Send>(
        &mut self,
        f: impl FnOnce(&mut Self) -> ParseResult<T> + Send,
    ) -> ParseResult<T> {
        self.enter()?;
        let result = if self.depth.is_multiple_of(STACK_STEP) {
            on_new_stack(|| f(self))
                .unwrap_or_else(|| Err(self.error_here("out of threads for a deeper stack")))
        } else {
            f(self)
        };
        self.depth -= 1;
        result
    }

    /// An error behind which nothing is read: a limit is reached.
    pub(super) fn limit_here(&mut self, message: String) -> Box<Diagnostic> {
        let error = self.error_here(message);
        self.report((*error).clone());
        self.fatal = true;
        error
    }

    fn enter(&mut self) -> ParseResult<()> {
        if self.depth >= MAX_DEPTH {
            let message = format!("nested too deeply: at most {MAX_DEPTH} levels can be read");
            return Err(self.limit_here(message));
        }
        self.depth += 1;
        Ok(())
    }
}

/// Runs `f` on a stack of its own. Returns `None`, without running it, if there is none to be had.
pub(crate) fn on_new_stack<T: Send>(f: impl FnOnce() -> T + Send) -> Option<T> {
    let (mut f, mut result) = (Some(f), None);
    on_thread(&mut || result = f.take().map(|f| f()));
    result
}

/// Runs `f` on a thread of its own, if one can be had. One instance serves all callers.
fn on_thread(f: &mut (dyn FnMut() + Send)) {
    std::thread::scope(|scope| {
        if let Ok(thread) = std::thread::Builder::new().stack_size(STACK_SIZE).spawn_scoped(scope, f) {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

/// Lines and columns of bytes: constant time for places asked for in ascending order.
#[derive(Default)]
struct Lines {
    /// The number of the first line.
    first: u32,
    /// First bytes of lines, once a place is asked for.
    starts: Vec<u32>,
    /// Index of the line found last.
    last: usize,
}

impl Lines {
    fn find(&mut self, source: &str, offset: u32) -> (u32, u32) {
        if self.starts.is_empty() {
            let ends = || memchr::memchr_iter(b'\n', source.as_bytes());
            self.starts.reserve_exact(1 + ends().count());
            self.starts.push(0);
            self.starts.extend(ends().map(|at| at as u32 + 1));
        }
        if self.starts[self.last] > offset {
            self.last = self.starts.partition_point(|start| *start <= offset) - 1;
        }
        let mut steps = 0;
        while self.starts.get(self.last + 1).is_some_and(|next| *next <= offset) {
            self.last += 1;
            steps += 1;
            if steps == 16 {
                self.last = self.starts.partition_point(|start| *start <= offset) - 1;
                break;
            }
        }
        (self.first + self.last as u32, offset - self.starts[self.last] + 1)
    }
}
