//! The `llvm` dialect from LLVM's text (`.ll`), in pure Rust.
//!
//! The inverse of [`write`](super::write): literals become constant operations at the start of the
//! function, phi nodes block arguments, calls of intrinsics operations. Uninterpreted parts
//! (metadata, attributes) are kept as they are written, for writing them again: nodes of metadata
//! are numbered as in the text.
//!
//! Named types must be structs; pointers are opaque; obsolete constructs of LLVM are not read.
//!
//! | module | holds |
//! | --- | --- |
//! | `lexer` | tokens |
//! | `types`, `constants`, `numbers` | types and constants |
//! | `attributes`, `metadata` | attributes and metadata of functions, parameters and instructions |
//! | `globals`, `function` | variables, aliases and functions; blocks, names, phi nodes |
//! | `instructions`, `terminators`, `calls` | one instruction each |
//! | `addresses` | the blocks whose address is taken |
//! | `beside` | names, debug records and other data that is kept beside the dialect |
//! | `outline` | where definitions are in a text |
//! | `places` | the outline for editors |
//!
//! An error ends the global or function it is in; all of a text are reported. Linear in the text.

use std::borrow::Cow;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::builtin;
use loomir_dialects::llvm::attributes::LINKAGE;
use loomir_ir::symbols::SYMBOL_NAME;
use loomir_ir::{
    Attr, AttrKind, Block, Body, Context, Diagnostic, Diagnostics, Loc, LocKind, Name, OperationState,
    Severity,
};

use addresses::TakenBlocks;
use lexer::{Kind, Token, unescape};
use types::Named;

mod addresses;
mod attributes;
mod beside;
mod callees;
mod calls;
mod constants;
mod function;
mod globals;
mod instructions;
mod lexer;
mod metadata;
mod numbers;
mod outline;
mod places;
mod terminators;
mod types;

pub(super) use outline::Outline;
pub use places::ll_outline;

/// The maximal nesting of types and constants.
const MAX_DEPTH: usize = 256;
/// The maximal number of reported errors.
const MAX_ERRORS: usize = 100;

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// A reader's position in a text, and the meaning of its names.
struct Reader<'s> {
    ctx: Context,
    source: &'s str,
    file: Name,
    tokens: Vec<Token>,
    pos: usize,
    types: HashMap<&'s str, Named>,
    /// The names of the types that were read. `%0` and `%"0"` have the same one.
    type_names: HashSet<Name>,
    /// The first tokens of attribute groups, behind their brace.
    groups: HashMap<&'s str, usize>,
    /// Symbols with an address that are no functions: variables and aliases.
    addresses: HashSet<Cow<'s, str>>,
    /// The blocks whose address is taken.
    taken: TakenBlocks,
    /// The first tokens of nodes of metadata, behind their sign.
    nodes: HashMap<&'s str, usize>,
    /// Loop nodes that were converted to attributes.
    loops: HashSet<&'s str>,
    /// Nodes referred to by something that is kept as it is written.
    kept: HashSet<&'s str>,
    /// Definitions that were read as declarations, if that is wanted.
    declared: Option<Diagnostics>,
}

/// The contents of a module besides variables and functions.
#[derive(Default)]
struct Rest<'s> {
    /// Nodes of metadata and lists of them, by number or name.
    metadata: Vec<(&'s str, Attr)>,
    /// Names and kinds of comdat selectors.
    comdats: Vec<(String, Attr)>,
    /// Lines of assembly.
    assembly: Vec<Attr>,
}

/// Parses a module of LLVM IR. `name` is the file name, for locations.
///
/// # Errors
/// Everything that cannot be read, each at its token.
///
/// ```
/// let mut registry = loomir_ir::Registry::new();
/// loomir_dialects::register_all(&mut registry);
/// let ctx = loomir_ir::Context::new(registry);
/// let module = loomir_lowering::from_ll(&ctx, "define i32 @f(i32 %x) {\n  ret i32 %x\n}\n", "f.ll").unwrap();
/// assert!(loomir_lowering::to_ll(&module).unwrap().contains("define i32 @f(i32 %x)"));
/// assert!(loomir_lowering::from_ll(&ctx, "define i32 @f() {\n  ret i32 %x\n}\n", "f.ll").is_err());
/// ```
pub fn from_ll(ctx: &Context, source: &str, name: &str) -> std::result::Result<Body, Diagnostics> {
    Ok(read(ctx, source, name, None)?.0)
}

/// Parses a module of LLVM IR in part. A function or variable with something in it that is not
/// supported becomes a declaration, with a remark. [`splice`](super::splice) leaves it as it is.
///
/// # Errors
/// Everything else that cannot be read, each at its token.
pub fn from_ll_in_part(
    ctx: &Context,
    source: &str,
    name: &str,
) -> std::result::Result<(Body, Diagnostics), Diagnostics> {
    read(ctx, source, name, Some(Diagnostics::new()))
}

fn read(
    ctx: &Context,
    source: &str,
    name: &str,
    declared: Option<Diagnostics>,
) -> std::result::Result<(Body, Diagnostics), Diagnostics> {
    let mut reader = Reader {
        ctx: ctx.clone(),
        source,
        file: ctx.name(name),
        tokens: Vec::new(),
        pos: 0,
        types: HashMap::new(),
        type_names: HashSet::new(),
        groups: HashMap::new(),
        addresses: HashSet::new(),
        taken: TakenBlocks::default(),
        nodes: HashMap::new(),
        loops: HashSet::new(),
        kept: HashSet::new(),
        declared,
    };
    if u32::try_from(source.len()).is_err() {
        return Err(Diagnostic::error(Loc::UNKNOWN, "the text is larger than 4 GiB").into());
    }
    reader.tokens = lexer::tokens(source);
    reader.taken = TakenBlocks::of(source, &reader.tokens);
    reader.find_definitions();
    reader.module()
}

/// True if a text is LLVM IR rather than MLIR. The first word decides, or the comment before it.
/// Constant except for blanks.
pub fn is_ll(source: &str) -> bool {
    let text = source.trim_start();
    let mut words = text.split(|c: char| c.is_whitespace() || c == '=').filter(|word| !word.is_empty());
    match words.next().unwrap_or_default() {
        "define" | "declare" | "source_filename" | "target" | "attributes" => true,
        // A module of MLIR has a name or a body.
        "module" => words.next().is_some_and(|word| word.starts_with("asm")),
        // A line of MLIR may also begin with the name of a value, but without quotes.
        first if first.starts_with("%\"") => true,
        first if first.starts_with('%') => words.next() == Some("type"),
        first => {
            first.starts_with([';', '@', '$'])
                || first.starts_with('!') && text[first.len()..].trim_start().starts_with("= !{")
        }
    }
}

impl<'s> Reader<'s> {
    // Tokens.

    fn kind(&self) -> Kind {
        self.tokens[self.pos].kind
    }

    fn text_at(&self, at: usize) -> &'s str {
        let token = self.tokens[at];
        &self.source[token.start as usize..token.end as usize]
    }

    fn text(&self) -> &'s str {
        self.text_at(self.pos)
    }

    /// Advances to the next token, but never beyond the end.
    fn advance(&mut self) {
        self.pos = (self.pos + 1).min(self.tokens.len() - 1);
    }

    fn is_sign_at(&self, at: usize, sign: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Sign) && self.text_at(at) == sign
    }

    fn is_sign(&self, sign: &str) -> bool {
        self.is_sign_at(self.pos, sign)
    }

    /// True if the next token is this sign.
    fn is_sign_behind(&self, sign: &str) -> bool {
        self.is_sign_at(self.pos + 1, sign)
    }

    fn accept(&mut self, sign: &str) -> bool {
        let is = self.is_sign(sign);
        if is {
            self.advance();
        }
        is
    }

    fn expect(&mut self, sign: &str) -> Result<()> {
        if self.accept(sign) { Ok(()) } else { Err(self.error(format!("expected '{sign}'"))) }
    }

    fn is_word_at(&self, at: usize, word: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == Kind::Word) && self.text_at(at) == word
    }

    fn is_word(&self, word: &str) -> bool {
        self.is_word_at(self.pos, word)
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        if is {
            self.advance();
        }
        is
    }

    fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.accept_word(word) { Ok(()) } else { Err(self.error(format!("expected '{word}'"))) }
    }

    /// Accepts the first of `words` that is here.
    fn accept_any<'w>(&mut self, words: &[&'w str]) -> Option<&'w str> {
        let word = words.iter().copied().find(|word| self.is_word(word))?;
        self.advance();
        Some(word)
    }

    /// Reads a number that is not negative.
    fn number<T: std::str::FromStr>(&mut self) -> Result<T> {
        let number = if self.kind() == Kind::Integer { self.text().parse().ok() } else { None };
        let number = number.ok_or_else(|| self.error("expected a number"))?;
        self.advance();
        Ok(number)
    }

    /// Reads the bytes of a quoted text.
    fn quoted(&mut self) -> Result<Vec<u8>> {
        if self.kind() != Kind::Text {
            return Err(self.error("expected a text in quotes"));
        }
        let text = self.text();
        self.advance();
        Ok(unescape(&text[1..text.len() - 1]))
    }

    /// Reads a quoted text as an attribute.
    fn string_attr(&mut self) -> Result<Attr> {
        let bytes = self.quoted()?;
        Ok(self.ctx.attr(AttrKind::String(bytes.into())))
    }

    /// Returns the name behind a sigil, or in front of the colon of a label.
    fn name_at(&self, at: usize) -> Result<Cow<'s, str>> {
        let text = self.text_at(at);
        let name = if self.tokens[at].kind == Kind::Label { &text[..text.len() - 1] } else { &text[1..] };
        match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
            None => Ok(Cow::Borrowed(name)),
            Some(quoted) => match String::from_utf8(unescape(quoted)) {
                Ok(name) => Ok(Cow::Owned(name)),
                Err(_) => Err(self.error_at(at, "names that are no UTF-8 are not supported")),
            },
        }
    }

    fn global_name(&mut self) -> Result<String> {
        if self.kind() != Kind::Global {
            return Err(self.error("expected the name of a global"));
        }
        let name = self.name_at(self.pos)?.into_owned();
        self.advance();
        Ok(name)
    }

    /// Skips `uselistorder …, { … }`. The order of uses has no meaning.
    fn skip_use_order(&mut self) -> Result<()> {
        while !self.is_sign("{") && self.kind() != Kind::End {
            self.advance();
        }
        self.skip_balanced()?;
        Ok(())
    }

    /// Skips a bracket with its contents, and returns its first and its last token.
    fn skip_balanced(&mut self) -> Result<(usize, usize)> {
        let start = self.pos;
        let mut depth = 0usize;
        loop {
            match (self.kind(), self.text()) {
                (Kind::End, _) => return Err(self.error_at(start, "this bracket is never closed")),
                (Kind::Sign, "(" | "[" | "{") => depth += 1,
                (Kind::Sign, ")" | "]" | "}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return Ok((start, self.pos - 1));
            }
        }
    }

    /// Returns the text from one token to another.
    fn slice(&self, first: usize, last: usize) -> &'s str {
        &self.source[self.tokens[first].start as usize..self.tokens[last].end as usize]
    }

    // Places.

    fn loc_of(&self, at: usize) -> Loc {
        let Token { line, column, .. } = self.tokens[at];
        self.ctx.loc(LocKind::File { file: self.file, line, column })
    }

    fn loc(&self) -> Loc {
        self.loc_of(self.pos)
    }

    fn error_at(&self, at: usize, message: impl Into<String>) -> Box<Diagnostic> {
        Box::new(Diagnostic::error(self.loc_of(at), message))
    }

    fn error(&self, message: impl Into<String>) -> Box<Diagnostic> {
        self.error_at(self.pos, message)
    }

    // The module.

    /// Finds everything that may be used before its definition: named types, attribute groups,
    /// variables and aliases, nodes of metadata.
    fn find_definitions(&mut self) {
        let mut depth = 0usize;
        for at in 0..self.tokens.len() {
            match (self.tokens[at].kind, self.text_at(at)) {
                (Kind::Sign, "{") => depth += 1,
                (Kind::Sign, "}") => depth = depth.saturating_sub(1),
                (Kind::Local, name)
                    if depth == 0 && self.is_sign_at(at + 1, "=") && self.is_word_at(at + 2, "type") =>
                {
                    self.types.insert(name, Named::At(at + 3));
                }
                (Kind::Metadata, name) if depth == 0 && self.is_sign_at(at + 1, "=") => {
                    self.nodes.insert(name, at + 2);
                }
                (Kind::Global, _) if depth == 0 && self.is_sign_at(at + 1, "=") => {
                    if self.keyword_of_global(at + 2) != "ifunc"
                        && let Ok(name) = self.name_at(at)
                    {
                        self.addresses.insert(name);
                    }
                }
                (Kind::Word, "attributes") if depth == 0 && self.is_sign_at(at + 3, "{") => {
                    self.groups.insert(self.text_at(at + 1), at + 4);
                }
                _ => {}
            }
        }
    }

    fn module(mut self) -> std::result::Result<(Body, Diagnostics), Diagnostics> {
        let loc = self.ctx.loc(LocKind::File { file: self.file, line: 1, column: 1 });
        let state = OperationState::of(&self.ctx, builtin::ModuleOp::DEF, loc);
        let mut module = Body::new(&self.ctx, state);
        let region = module.region(module.root(), 0);
        let block = module.append_block(region, &[]);
        let mut diagnostics = Diagnostics::new();
        let mut rest = Rest::default();
        let mut errors = 0;
        while self.kind() != Kind::End {
            let start = self.pos;
            if let Err(error) = self.item(&mut module, block, &mut rest) {
                diagnostics.push(*error);
                errors += 1;
                if errors == MAX_ERRORS {
                    break;
                }
                self.pos = self.pos.max(start + 1).min(self.tokens.len() - 1);
                self.skip_to_item();
            }
        }
        if diagnostics.has_errors() {
            return Err(diagnostics);
        }
        globals::add_comdats(&mut module, block, rest.comdats);
        callees::call_as_written(&mut module);
        if !rest.assembly.is_empty() {
            let lines = self.ctx.array_attr(&rest.assembly);
            module.set_attr(module.root(), super::MODULE_ASM, lines);
        }
        rest.metadata.retain(|(name, _)| !self.loops.contains(name) || self.kept.contains(name));
        if !rest.metadata.is_empty() {
            let entries = rest.metadata.iter().map(|(name, node)| (self.ctx.name(&name[1..]), *node));
            let dict = self.ctx.attr(AttrKind::Dictionary(self.ctx.dict(entries.collect())));
            module.set_attr(module.root(), super::METADATA, dict);
        }
        Ok((module, self.declared.unwrap_or_default()))
    }

    /// Notes that a definition becomes a declaration, because of an error in it. Its linkage is
    /// that of declarations. Returns the error if definitions must be read.
    fn declare(&mut self, error: Box<Diagnostic>, symbol: &mut OperationState) -> Result<()> {
        let Some(declared) = &mut self.declared else { return Err(error) };
        declared.push(Diagnostic { severity: Severity::Remark, ..*error }.help("it stays as it is"));
        symbol.set_attr(&self.ctx, "linkage", LINKAGE.attr(&self.ctx, 0));
        Ok(())
    }

    /// Skips the definition of a type. Its first use reads it.
    fn skip_type(&mut self) -> Result<()> {
        if !self.accept_word("opaque") {
            let is_packed = self.is_sign("<") && self.is_sign_behind("{");
            if is_packed || self.is_sign("{") {
                self.pos += usize::from(is_packed);
                self.skip_balanced()?;
                if is_packed {
                    self.expect(">")?;
                }
            } else {
                self.ty()?;
            }
        }
        Ok(())
    }

    /// Moves to the start of the next item, which begins a line.
    fn skip_to_item(&mut self) {
        let begins = |reader: &Self| {
            let starts = match reader.kind() {
                Kind::Global | Kind::Local | Kind::Metadata | Kind::Comdat => true,
                Kind::Word => {
                    matches!(reader.text(), "define" | "declare" | "attributes" | "target" | "module")
                }
                kind => kind == Kind::End,
            };
            starts && (reader.tokens[reader.pos].column == 1 || reader.kind() == Kind::End)
        };
        while !begins(self) {
            self.advance();
        }
    }

    fn item(&mut self, module: &mut Body, block: Block, rest: &mut Rest<'s>) -> Result<()> {
        let root = module.root();
        let set = |module: &mut Body, name: &str, value| module.set_attr(root, name, value);
        match (self.kind(), self.text()) {
            (Kind::Word, "source_filename") => {
                self.advance();
                self.expect("=")?;
                let name = self.quoted()?;
                if let Ok(name) = String::from_utf8(name) {
                    set(module, SYMBOL_NAME, self.ctx.string_attr(&name));
                }
            }
            (Kind::Word, "target") => {
                self.advance();
                let name = match self.accept_any(&["datalayout", "triple"]) {
                    Some("datalayout") => "llvm.data_layout",
                    Some(_) => "llvm.target_triple",
                    None => return Err(self.error("expected 'datalayout' or 'triple'")),
                };
                self.expect("=")?;
                let value = self.string_attr()?;
                set(module, name, value);
            }
            (Kind::Word, "define" | "declare") => {
                let function = self.function()?;
                let op = module.adopt(function);
                module.append_op(block, op);
            }
            (Kind::Word, "attributes") => {
                self.advance();
                self.advance();
                self.expect("=")?;
                self.skip_balanced()?;
            }
            (Kind::Word, "module") => {
                self.advance();
                self.expect_word("asm")?;
                rest.assembly.push(self.string_attr()?);
            }
            (Kind::Local, _) => {
                // Read where it is used.
                self.advance();
                self.expect("=")?;
                self.expect_word("type")?;
                self.skip_type()?;
            }
            (Kind::Global, _) if self.keyword_of_global(self.pos + 2) == "ifunc" => {
                let state = self.ifunc()?;
                let op = module.create(state);
                module.append_op(block, op);
            }
            (Kind::Global, _) => {
                let global = self.global()?;
                let op = module.adopt(global);
                module.append_op(block, op);
            }
            (Kind::Metadata, _) => rest.metadata.push(self.metadata_definition()?),
            (Kind::Comdat, _) => rest.comdats.push(self.comdat_selector()?),
            (Kind::Word, "uselistorder" | "uselistorder_bb") => self.skip_use_order()?,
            (Kind::Unknown, "^") => return Err(self.error("summaries of modules are not supported")),
            _ => return Err(self.error("expected a definition or declaration")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::is_ll;

    #[test]
    fn the_first_word_tells_the_language() {
        for text in ["define void @f()", "; c", "%\"a b\" = type { i32 }", "%a = type opaque", "!0 = !{}"] {
            assert!(is_ll(text), "{text}");
        }
        for text in ["module {", "func.func @f()", "%a = arith.constant 1 : i32", "// c", "!a = i32"] {
            assert!(!is_ll(text), "{text}");
        }
    }
}
