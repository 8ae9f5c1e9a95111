//! Variables and aliases, and the common parts of all symbols.

use loomir_dialects::llvm;
use loomir_dialects::llvm::attributes::{COMDAT, LINKAGE, UNNAMED_ADDR, VISIBILITY};
use loomir_dialects::llvm::types::{is_pointer, pointer};
use loomir_ir::symbols::SYMBOL_NAME;
use loomir_ir::{Attr, AttrKind, Block, Body, Builder, Context, InsertPoint, Loc, OperationState, Type};

use super::attributes::Said;
use super::constants::{Constant, Constants, as_attr};
use super::lexer::Kind;
use super::{Reader, Result};
use crate::ll::{COMDATS, DLL_STORAGE, PARTITION, THREAD_LOCAL_MODEL, UNNAMED, VARIABLE_WORDS};

/// The maximal number of tokens between the sign of `@name = …` and its keyword.
const MAX_PREFIX: usize = 16;

/// The sanitizer attributes of a variable.
const SANITIZERS: &[&str] =
    &["no_sanitize_address", "no_sanitize_hwaddress", "sanitize_address_dyninit", "sanitize_memtag"];

const LINKAGES: &[&str] = &[
    "private",
    "internal",
    "available_externally",
    "linkonce_odr",
    "linkonce",
    "weak_odr",
    "weak",
    "common",
    "appending",
    "extern_weak",
    "external",
];

impl<'s> Reader<'s> {
    /// Reads linkage, preemption and visibility of a symbol into `state`. Returns the linkage, if
    /// one is written.
    pub(super) fn linkage(&mut self, state: &mut OperationState) -> Result<Option<&'static str>> {
        let word = self.accept_any(LINKAGES);
        let value = LINKAGE.value_of(word.unwrap_or("external")).unwrap_or(0);
        state.set_attr(&self.ctx, "linkage", LINKAGE.attr(&self.ctx, value));
        if self.accept_any(&["dso_local", "dso_preemptable"]) == Some("dso_local") {
            state.set_attr(&self.ctx, "dso_local", Attr::UNIT);
        }
        if let Some(value) =
            self.accept_any(&["hidden", "protected"]).and_then(|word| VISIBILITY.value_of(word))
        {
            state.set_attr(&self.ctx, "visibility_", VISIBILITY.attr(&self.ctx, value));
        } else {
            self.accept_word("default");
        }
        if let Some(word) = self.accept_any(&["dllimport", "dllexport"]) {
            state.set_attr(&self.ctx, DLL_STORAGE, self.ctx.string_attr(word));
        }
        Ok(word)
    }

    /// `unnamed_addr` or `local_unnamed_addr`, or nothing.
    pub(super) fn unnamed_addr(&mut self, state: &mut OperationState) {
        let word = self.accept_any(&["unnamed_addr", "local_unnamed_addr"]);
        if let Some(value) = word.and_then(|word| UNNAMED_ADDR.value_of(word)) {
            state.set_attr(&self.ctx, "unnamed_addr", UNNAMED_ADDR.attr(&self.ctx, value));
        }
    }

    /// Reads `comdat` or `comdat($name)` from behind the keyword on. The default name is the
    /// symbol's own.
    pub(super) fn comdat(&mut self, symbol: &str) -> Result<Attr> {
        let mut name = symbol.to_owned();
        if self.accept("(") {
            if self.kind() != Kind::Comdat {
                return Err(self.error("expected the name of a comdat selector"));
            }
            name = self.name_at(self.pos)?.into_owned();
            self.advance();
            self.expect(")")?;
        }
        let nested = Box::new([self.ctx.name(&name)]);
        Ok(self.ctx.attr(AttrKind::Symbol { root: self.ctx.name(COMDATS), nested }))
    }

    /// `$name = comdat any`.
    pub(super) fn comdat_selector(&mut self) -> Result<(String, Attr)> {
        let name = self.name_at(self.pos)?.into_owned();
        self.advance();
        self.expect("=")?;
        self.expect_word("comdat")?;
        let kinds: Vec<&str> = COMDAT.cases.iter().map(|(word, _)| *word).collect();
        let kind = self.accept_any(&kinds).and_then(|word| COMDAT.value_of(word));
        let kind = kind.ok_or_else(|| self.error(format!("expected one of {}", kinds.join(", "))))?;
        Ok((name, COMDAT.attr(&self.ctx, kind)))
    }

    /// Returns the keyword of `@name = …`, from the token behind the sign on: `global`, `constant`,
    /// `alias` or `ifunc`. Empty if none is near.
    pub(super) fn keyword_of_global(&self, from: usize) -> &'s str {
        let near = (from..self.tokens.len().min(from + MAX_PREFIX)).map(|at| self.text_at(at));
        near.take_while(|text| *text != "=")
            .find(|text| matches!(*text, "global" | "constant" | "alias" | "ifunc"))
            .unwrap_or_default()
    }

    /// `@name = … global …`, or an alias.
    pub(super) fn global(&mut self) -> Result<Body> {
        let is_alias = self.keyword_of_global(self.pos + 2) == "alias";
        let def = if is_alias { llvm::AliasOp::DEF } else { llvm::GlobalOp::DEF };
        let mut state = OperationState::of(&self.ctx, def, self.loc());
        let name = self.symbol_name(&mut state)?;
        self.expect("=")?;
        if is_alias { self.alias(state) } else { self.variable(state, &name) }
    }

    /// Reads the name of the defined symbol into `state`. An unnamed symbol has a number.
    pub(super) fn symbol_name(&mut self, state: &mut OperationState) -> Result<String> {
        let token = self.pos;
        let name = self.global_name()?;
        let is_number = self.text_at(token)[1..].bytes().all(|byte| byte.is_ascii_digit());
        state.set_attr(&self.ctx, SYMBOL_NAME, self.ctx.string_attr(&name));
        if is_number {
            state.set_attr(&self.ctx, UNNAMED, Attr::UNIT);
        }
        Ok(name)
    }

    /// `thread_local`, maybe with a model.
    fn thread_local(&mut self, state: &mut OperationState) -> Result<()> {
        if !self.accept_word("thread_local") {
            return Ok(());
        }
        state.set_attr(&self.ctx, "thread_local_", Attr::UNIT);
        if self.accept("(") {
            let model = self.accept_any(&["localdynamic", "initialexec", "localexec"]);
            let model = model.ok_or_else(|| self.error("expected localdynamic, initialexec or localexec"))?;
            state.set_attr(&self.ctx, THREAD_LOCAL_MODEL, self.ctx.string_attr(model));
            self.expect(")")?;
        }
        Ok(())
    }

    /// `alias ty, ptr @name`, behind its linkage.
    fn alias(&mut self, mut state: OperationState) -> Result<Body> {
        self.linkage(&mut state)?;
        self.thread_local(&mut state)?;
        self.unnamed_addr(&mut state);
        self.expect_word("alias")?;
        let ty = self.ty()?;
        state.set_attr(&self.ctx, "alias_type", self.ctx.type_attr(ty));
        self.expect(",")?;
        let here = self.pos;
        // An expression may be written without its type.
        let address = pointer(&self.ctx);
        let (address, constant) = if self.is_type() {
            self.typed_constant(0)?
        } else {
            let constant = self.constant(address)?;
            (constant.written_type().unwrap_or(address), constant)
        };
        if !is_pointer(&self.ctx, address) {
            return Err(self.error_at(here, "an alias stands for an address"));
        }
        self.end_of_alias()?;
        state.set_defaults(&self.ctx);
        let mut body = Body::new(&self.ctx, state);
        initialize(&mut body, &constant, address);
        Ok(body)
    }

    /// `@name = … ifunc ty, ptr @resolver`.
    pub(super) fn ifunc(&mut self) -> Result<OperationState> {
        let mut state = OperationState::of(&self.ctx, llvm::IFuncOp::DEF, self.loc());
        self.symbol_name(&mut state)?;
        self.expect("=")?;
        self.linkage(&mut state)?;
        self.unnamed_addr(&mut state);
        self.expect_word("ifunc")?;
        let ty = self.ty()?;
        state.set_attr(&self.ctx, "i_func_type", self.ctx.type_attr(ty));
        self.expect(",")?;
        let ty = self.ty()?;
        state.set_attr(&self.ctx, "resolver_type", self.ctx.type_attr(ty));
        let resolver = self.global_name()?;
        state.set_attr(&self.ctx, "resolver", self.ctx.symbol_attr(&resolver));
        self.end_of_alias()?;
        state.set_defaults(&self.ctx);
        Ok(state)
    }

    fn end_of_alias(&self) -> Result<()> {
        if self.is_sign(",") {
            return Err(self.error_at(self.pos + 1, "this property of an alias is not supported"));
        }
        Ok(())
    }

    /// `@name = … global …`, from behind the sign on.
    fn variable(&mut self, mut state: OperationState, name: &str) -> Result<Body> {
        let linkage = self.linkage(&mut state)?;
        self.thread_local(&mut state)?;
        self.unnamed_addr(&mut state);
        let space = self.address_space()?;
        state.set_attr(&self.ctx, "addr_space", self.ctx.int_attr(Type::I32, space));
        if self.accept_word("externally_initialized") {
            state.set_attr(&self.ctx, "externally_initialized", Attr::UNIT);
        }
        match self.accept_any(&["constant", "global"]) {
            Some("constant") => state.set_attr(&self.ctx, "constant", Attr::UNIT),
            Some(_) => {}
            None => return Err(self.error("expected 'global', 'constant', 'alias' or 'ifunc'")),
        }
        let ty = self.ty()?;
        state.set_attr(&self.ctx, "global_type", self.ctx.type_attr(ty));
        // Without a value it is defined elsewhere, according to its linkage.
        let is_elsewhere = matches!(linkage, Some("external" | "extern_weak"));
        let initial = if is_elsewhere { Ok(None) } else { self.constant(ty).map(Some) };
        let initial = match initial {
            Ok(initial) => {
                self.global_tail(name, &mut state)?;
                initial
            }
            Err(error) => {
                self.declare(error, &mut state)?;
                self.skip_to_item();
                None
            }
        };
        state.set_defaults(&self.ctx);
        let as_value = initial.as_ref().and_then(|value| as_attr(&self.ctx, value, ty));
        if let Some(value) = as_value {
            state.set_attr(&self.ctx, "value", value);
        }
        let mut body = Body::new(&self.ctx, state);
        if let (Some(initial), None) = (&initial, as_value) {
            initialize(&mut body, initial, ty);
        }
        Ok(body)
    }

    fn global_tail(&mut self, name: &str, state: &mut OperationState) -> Result<()> {
        let mut words = Vec::new();
        while self.is_sign(",") && self.tokens[self.pos + 1].kind == Kind::Word {
            self.advance();
            match self.text() {
                "align" => {
                    self.advance();
                    let alignment = self.power_of_two()?;
                    state.set_attr(&self.ctx, "alignment", self.ctx.int_attr(Type::I64, alignment));
                }
                "section" => {
                    self.advance();
                    let section = self.string_attr()?;
                    state.set_attr(&self.ctx, "section", section);
                }
                "comdat" => {
                    self.advance();
                    let comdat = self.comdat(name)?;
                    state.set_attr(&self.ctx, "comdat", comdat);
                }
                "partition" => {
                    self.advance();
                    let partition = self.string_attr()?;
                    state.set_attr(&self.ctx, PARTITION, partition);
                }
                word if SANITIZERS.contains(&word) => {
                    self.advance();
                    words.push(self.ctx.string_attr(word));
                }
                "code_model" => {
                    let start = self.pos;
                    self.advance();
                    self.quoted()?;
                    words.push(self.ctx.string_attr(self.slice(start, self.pos - 1)));
                }
                _ => return Err(self.error("this property of a variable is not supported")),
            }
        }
        if !words.is_empty() {
            state.set_attr(&self.ctx, VARIABLE_WORDS, self.ctx.array_attr(&words));
        }
        self.attachments(state, true)?;
        let mut said = Said::default();
        self.function_attributes(&mut said)?;
        said.set_of_variable(&self.ctx, state);
        Ok(())
    }
}

/// Makes the region of a variable return its initial value.
fn initialize(body: &mut Body, initial: &Constant, ty: Type) {
    let region = body.region(body.root(), 0);
    let loc = body.loc(body.root());
    let block = body.append_block(region, &[]);
    let value = Constants::at(InsertPoint::Start(block), loc).value(body, initial, ty);
    let mut builder = Builder::new(body, InsertPoint::End(block));
    let state = builder.state(llvm::ReturnOp::DEF).operands(&[value]);
    builder.insert(state);
}

/// Adds the table of comdat selectors to the module, if there are any.
pub(super) fn add_comdats(module: &mut Body, block: Block, comdats: Vec<(String, Attr)>) {
    if comdats.is_empty() {
        return;
    }
    let ctx: Context = module.ctx().clone();
    let mut builder = Builder::new(module, InsertPoint::Start(block));
    builder.set_loc(Loc::UNKNOWN);
    let state = builder.state(llvm::ComdatOp::DEF).attr(&ctx, SYMBOL_NAME, ctx.string_attr(COMDATS));
    let table = builder.insert(state);
    let region = builder.body().region(table, 0);
    let inside = builder.body().append_block(region, &[]);
    builder.set_point(InsertPoint::End(inside));
    for (name, kind) in comdats {
        let state = builder.state(llvm::ComdatSelectorOp::DEF);
        let state = state.attr(&ctx, SYMBOL_NAME, ctx.string_attr(&name)).attr(&ctx, "comdat", kind);
        builder.insert(state);
    }
}
