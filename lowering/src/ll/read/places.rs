//! The outline of a module's text for editors: its functions, instructions and names.
//!
//! Made from tokens alone, so that text with errors has one too. Names of values and blocks belong
//! to their function, all others to the module. Linear in the text.

use loomir_ir::Context;
use loomir_ir::text::outline::{NameKind, NameToken, Outline, OutlineBuilder, Types};

use super::lexer::{self, Kind, Token};

/// Words that go on with an instruction at the start of a line.
const CONTINUATIONS: [&str; 5] = ["to", "cleanup", "catch", "filter", "unwind"];

/// Returns the outline of a text. Operations have names of the `llvm` dialect, and no handles.
///
/// ```
/// # let mut registry = loomir_ir::Registry::new();
/// # loomir_dialects::register_all(&mut registry);
/// # let ctx = loomir_ir::Context::new(registry);
/// let source = "define i32 @f(i32 %x) {\n  ret i32 %x\n}\n";
/// let outline = loomir_lowering::ll_outline(&ctx, source);
/// let used = outline.occurrence_at(source.rfind("%x").unwrap() as u32).unwrap();
/// assert_eq!(outline.names[used.name].span.start as usize, source.find("%x").unwrap());
/// ```
pub fn ll_outline(ctx: &Context, source: &str) -> Outline {
    let tokens = match u32::try_from(source.len()) {
        Ok(_) => lexer::tokens(source),
        Err(_) => return Outline::default(),
    };
    let mut scan = Scan {
        ctx,
        source,
        tokens: &tokens,
        builder: OutlineBuilder::default(),
        depth: 0,
        is_named: false,
        names: Vec::new(),
    };
    scan.all();
    scan.builder.finish(source, &scan.names)
}

struct Scan<'s> {
    ctx: &'s Context,
    source: &'s str,
    tokens: &'s [Token],
    builder: OutlineBuilder,
    /// The open brackets.
    depth: usize,
    /// True if the name of the function was read.
    is_named: bool,
    names: Vec<NameToken>,
}

/// The part of a function that a token is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// No function.
    Outside,
    /// Before the body of a definition.
    Head,
    /// The body. True if an instruction is open.
    Body(bool),
}

impl Scan<'_> {
    fn text(&self, at: usize) -> &str {
        let token = self.tokens[at.min(self.tokens.len() - 1)];
        &self.source[token.start as usize..token.end as usize]
    }

    fn all(&mut self) {
        let mut part = Part::Outside;
        for at in 0..self.tokens.len() {
            let token = self.tokens[at];
            if token.kind == Kind::End {
                break;
            }
            part = match part {
                Part::Outside => self.outside(at),
                Part::Head => self.head(at),
                Part::Body(is_open) => self.body(at, is_open),
            };
        }
        let end = self.tokens.last().map_or(0, |token| token.start);
        if let Part::Body(true) = part {
            self.builder.end_op(end, true);
        }
    }

    fn brackets(&mut self, at: usize) {
        match (self.tokens[at].kind, self.text(at)) {
            (Kind::Sign, "(" | "[" | "{") => self.depth += 1,
            (Kind::Sign, ")" | "]" | "}") => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    /// A token of no function.
    fn outside(&mut self, at: usize) -> Part {
        self.brackets(at);
        let token = self.tokens[at];
        let is_first = self.depth == 0 && (at == 0 || self.tokens[at - 1].line < token.line);
        if is_first && token.kind == Kind::Word && matches!(self.text(at), "define" | "declare") {
            let is_definition = self.text(at) == "define";
            self.builder.begin_op(token.start);
            self.builder.name_op(token.start..token.end, self.ctx.registered_op("llvm.func"));
            if is_definition {
                self.is_named = false;
                return Part::Head;
            }
            // A declaration ends with its line.
            let last = (at..self.tokens.len()).take_while(|at| self.tokens[*at].line == token.line).last();
            if let Some(name) = (at..=last.unwrap_or(at)).find(|at| self.tokens[*at].kind == Kind::Global) {
                self.define_function(name);
            }
            self.builder.end_op(self.tokens[last.unwrap_or(at)].end, true);
        } else if is_first && self.text(at + 1) == "=" {
            let kind = match token.kind {
                Kind::Global => Some(NameKind::Symbol),
                Kind::Local => Some(NameKind::Type),
                Kind::Metadata => Some(NameKind::Metadata),
                Kind::Comdat => Some(NameKind::Symbol),
                _ => None,
            };
            if let Some(kind) = kind {
                self.define_outside(kind, at);
            }
        } else if token.kind == Kind::Hash && at > 0 && self.text(at - 1) == "attributes" {
            self.define_outside(NameKind::Attribute, at);
        }
        self.name(at);
        Part::Outside
    }

    /// A token of a definition before its body.
    fn head(&mut self, at: usize) -> Part {
        let token = self.tokens[at];
        let opens = token.kind == Kind::Sign && self.text(at) == "{" && self.depth == 0;
        // A structure as a type of the result or of a constant also has braces.
        let begins_line = self.tokens.get(at + 1).is_some_and(|next| next.line > token.line);
        if opens && (begins_line || self.text(at + 1) == "}") {
            self.depth = 0;
            self.parameters(at);
            return Part::Body(false);
        }
        self.brackets(at);
        if token.kind == Kind::Global && self.depth == 0 && !self.is_named {
            self.is_named = true;
            self.define_function(at);
        }
        self.name(at);
        Part::Head
    }

    /// Begins the body of a function, and defines the parameters of its head in it.
    fn parameters(&mut self, brace: usize) {
        self.builder.begin_region(self.tokens[brace].start, true);
        let start = self.builder.ops().last().map_or(0, |op| op.span.start);
        let first = self.tokens.partition_point(|token| token.start < start);
        let mut depth = 0usize;
        for at in first..brace {
            match (self.tokens[at].kind, self.text(at)) {
                (Kind::Sign, "(" | "[" | "{" | "<") => depth += 1,
                (Kind::Sign, ")" | "]" | "}" | ">") => depth = depth.saturating_sub(1),
                // A named type stands before something else.
                (Kind::Local, _) if depth == 1 && matches!(self.text(at + 1), "," | ")") => {
                    let is_type = matches!(self.text(at - 1), "(" | ",");
                    if !is_type {
                        self.define(NameKind::Value, at);
                    }
                }
                _ => {}
            }
        }
    }

    /// A token of a function's body.
    fn body(&mut self, at: usize, mut is_open: bool) -> Part {
        let token = self.tokens[at];
        if self.depth == 0 && token.kind == Kind::Sign && self.text(at) == "}" {
            if is_open {
                self.builder.end_op(self.tokens[at - 1].end, true);
            }
            self.builder.end_region(token.end);
            self.builder.end_op(token.end, true);
            return Part::Outside;
        }
        let is_first = self.depth == 0 && (at == 0 || self.tokens[at - 1].line < token.line);
        let is_more = token.kind == Kind::Word && CONTINUATIONS.contains(&self.text(at));
        let is_record = token.kind == Kind::Hash;
        if is_first && !is_more {
            if is_open {
                self.builder.end_op(self.tokens[at - 1].end, true);
            }
            is_open = matches!(token.kind, Kind::Local | Kind::Word) || is_record;
            if is_open {
                self.instruction(at);
            }
            if token.kind == Kind::Label {
                self.define(NameKind::Block, at);
            }
        }
        self.brackets(at);
        self.name(at);
        Part::Body(is_open)
    }

    /// Begins an instruction, and defines its result.
    fn instruction(&mut self, at: usize) {
        self.builder.begin_op(self.tokens[at].start);
        let has_result = self.tokens[at].kind == Kind::Local && self.text(at + 1) == "=";
        let mut name = if has_result { at + 2 } else { at };
        while matches!(self.text(name), "tail" | "musttail" | "notail") {
            name += 1;
        }
        let Token { start, end, .. } = self.tokens[name.min(self.tokens.len() - 1)];
        let is_conditional = self.text(name) == "br" && self.text(name + 1) == "i1";
        let full =
            if is_conditional { "llvm.cond_br".to_owned() } else { format!("llvm.{}", self.text(name)) };
        self.builder.name_op(start..end, self.ctx.registered_op(&full));
        if has_result {
            self.define(NameKind::Value, at);
        }
    }

    fn define(&mut self, kind: NameKind, at: usize) {
        if let Some(name) = self.name_at(at) {
            self.builder.define(kind, name, Types::new());
        }
    }

    /// Defines a name of the module.
    fn define_outside(&mut self, kind: NameKind, at: usize) {
        if let Some(name) = self.name_at(at) {
            self.builder.define_in(None, None, kind, name, Types::new());
        }
    }

    /// Defines the name of the function that was begun last.
    fn define_function(&mut self, at: usize) {
        let op = self.builder.ops().len().checked_sub(1);
        if let Some(name) = self.name_at(at) {
            self.builder.define_in(None, op, NameKind::Symbol, name, Types::new());
        }
    }

    /// Adds a name, if a token is one.
    fn name(&mut self, at: usize) {
        self.names.extend(self.name_at(at));
    }

    fn name_at(&self, at: usize) -> Option<NameToken> {
        let Token { kind, start, end, .. } = self.tokens[at];
        let (sign, mut text) = match kind {
            Kind::Local => (b'%', start + 1..end),
            Kind::Global => (b'@', start + 1..end),
            Kind::Comdat => (b'$', start + 1..end),
            Kind::Hash => (b'#', start + 1..end),
            Kind::Metadata => (b'!', start + 1..end),
            Kind::Label => (b'%', start..end - 1),
            _ => return None,
        };
        if self.source[text.start as usize..].starts_with('"') && text.len() > 1 {
            text = text.start + 1..text.end - 1;
        }
        let end = if kind == Kind::Label { end - 1 } else { end };
        Some(NameToken { sign, text, span: start..end })
    }
}
