//! LLVM's text from the `llvm` dialect.
//!
//! | module | holds |
//! | --- | --- |
//! | `numbering` | names and numbers of values and blocks |
//! | `function` | the head, blocks, phi nodes |
//! | `line` | the end of the text, and lines of instructions that look alike |
//! | `instructions`, `calls` | one instruction each; calls and intrinsics |
//! | `exceptions` | calls that may unwind, and pads |
//! | `flags`, `words` | flags of instructions; words of symbols, functions and calls |
//! | `constants`, `types`, `names` | literals, types, identifiers and strings |
//! | `globals`, `attributes` | variables, aliases and comdat selectors; attributes of functions, parameters and results |
//! | `metadata` | kept metadata, annotations of loops |
//! | `splice` | changed functions, into the text that was read |
//!
//! One walk for numbers and one for text: linear in the module and in what is written.

use std::fmt::Write;
use std::rc::Rc;

use hashbrown::HashMap;
use loomir_dialects::llvm::control::addresses::tagged_blocks;
use loomir_dialects::{builtin, llvm};
use loomir_ir::{AttrKind, Body, Context, Diagnostic, Diagnostics, OpRef, Type, Value};

use line::Stencils;
use metadata::Nodes;
use types::TypeText;

use super::read::Outline;
use super::{MODULE_ASM, UNNAMED};

mod attributes;
mod beside;
mod calls;
mod constants;
mod exceptions;
mod flags;
mod function;
mod globals;
mod instructions;
mod line;
mod metadata;
mod names;
mod numbering;
mod scopes;
mod splice;
mod types;
mod words;

pub(crate) use beside::Label;
pub use splice::splice;

/// Data collected for the whole module while its parts are written.
pub(crate) struct Module {
    ctx: Context,
    types: TypeText,
    /// The declarations of intrinsics, in the order of their first call. Empty if LLVM has to
    /// declare them.
    intrinsics: Vec<String>,
    /// The declared symbols, intrinsics with the place of their declaration.
    declared: HashMap<String, Option<usize>>,
    /// The numbers of symbols without a name, in the order of writing.
    unnamed: HashMap<String, usize>,
    metadata: Nodes,
    stencils: Stencils,
    /// The names of the blocks whose address is taken, by their function and tag.
    tagged: HashMap<(String, i64), String>,
}

impl Module {
    fn new(module: &Body) -> Module {
        let ctx = module.ctx().clone();
        Module {
            types: TypeText::new(&ctx),
            ctx,
            intrinsics: Vec::new(),
            declared: HashMap::new(),
            unnamed: HashMap::new(),
            metadata: Nodes::kept(module),
            stencils: Stencils::default(),
            tagged: HashMap::new(),
        }
    }

    /// Returns the data for text that is added to a text that has been read.
    fn behind(module: &Body, outline: &Outline) -> Module {
        Module {
            types: TypeText::behind(module.ctx(), outline.types.clone()),
            declared: outline.symbols.iter().map(|name| (name.clone(), None)).collect(),
            unnamed: outline.unnamed.clone(),
            tagged: tagged_as_read(outline),
            metadata: Nodes::behind(module, outline.next_node),
            ..Module::new(module)
        }
    }

    /// Records the declarations of the module itself.
    fn find_declarations(&mut self, module: &Body) {
        let blocks = module.own_regions(module.root()).flat_map(|region| module.blocks(region));
        let mut functions = Vec::new();
        for op in blocks.flat_map(|block| module.ops(block)).map(|op| module.op_ref(op)) {
            let Some(name) = op.attr("sym_name").and_then(|name| name.as_str(&self.ctx)) else { continue };
            self.declared.insert(name.to_owned(), None);
            if op.attr(UNNAMED).is_none() {
                continue;
            }
            // They come behind all variables.
            if op.is(llvm::FuncOp::DEF) {
                functions.push(name.to_owned());
            } else {
                self.unnamed.insert(name.to_owned(), self.unnamed.len());
            }
        }
        let next = self.unnamed.len();
        self.unnamed.extend(functions.into_iter().zip(next..));
    }

    /// Records the names of the blocks whose address is taken.
    fn find_tagged(&mut self, module: &Body) {
        let blocks = module.own_regions(module.root()).flat_map(|region| module.blocks(region));
        for function in blocks.flat_map(|block| module.ops(block)).filter_map(|op| module.nested(op)) {
            let tagged = tagged_blocks(function);
            if tagged.is_empty() {
                continue;
            }
            let name = function.root_ref().attr("sym_name").and_then(|name| name.as_str(&self.ctx));
            let (name, labels) = (name.unwrap_or_default(), block_labels(function));
            for (tag, block) in tagged {
                self.tagged.insert((name.to_owned(), tag), labels[block.index()].to_string());
            }
        }
    }

    /// `@name` of a symbol.
    fn symbol(&self, name: &str) -> String {
        match self.unnamed.get(name) {
            Some(number) => format!("@{number}"),
            None => names::symbol('@', name),
        }
    }

    /// Declares an intrinsic, once. A name that is `as_called` may lack the types that it is
    /// overloaded on. If its calls differ, LLVM declares an intrinsic for each.
    fn declare(&mut self, name: &str, as_called: bool, declaration: impl FnOnce() -> String) {
        match self.declared.get(name) {
            None => {
                self.declared.insert(name.to_owned(), Some(self.intrinsics.len()));
                self.intrinsics.push(declaration());
            }
            Some(&Some(at)) if as_called && self.intrinsics[at] != declaration() => {
                self.intrinsics[at].clear();
            }
            Some(_) => {}
        }
    }

    /// Leaves intrinsics undeclared that a text calls without a declaration.
    fn leave_undeclared(&mut self, text: &str) {
        for (name, at) in &self.declared {
            if let Some(at) = *at
                && text.contains(&(names::symbol('@', name) + "("))
            {
                self.intrinsics[at].clear();
            }
        }
    }

    /// Writes declarations of intrinsics, and metadata.
    fn write_tail(&self, text: &mut String) {
        for declaration in self.intrinsics.iter().filter(|own| !own.is_empty()) {
            let _ = writeln!(text, "\n{declaration}");
        }
        self.metadata.write(text, &|node| self.current(node));
    }

    /// Returns a text that was kept as it was read, with the numbers that symbols without a name
    /// have now. Null is in place of symbols that are erased, as LLVM leaves it.
    fn current(&self, kept: &str) -> String {
        names::with_symbols(kept, &|name| match self.unnamed.get(name) {
            Some(number) => Some(format!("@{number}")),
            None if self.declared.contains_key(name) || name.starts_with("llvm.") => None,
            None => Some("null".to_owned()),
        })
    }
}

/// Returns the names in a text of the blocks whose address is taken. Their functions are never
/// changed.
fn tagged_as_read(outline: &Outline) -> HashMap<(String, i64), String> {
    let label = |block: &str| match block.bytes().all(|byte| byte.is_ascii_digit()) {
        true => block.to_owned(),
        false => names::identifier(block),
    };
    outline.taken.all().map(|(function, tag, block)| ((function.to_owned(), tag), label(block))).collect()
}

/// Returns the label of each block of a function in its text, by the block's index.
pub(crate) fn block_labels(function: &Body) -> Vec<Label> {
    numbering::Function::new(function).into_block_labels()
}

/// Returns the arguments and results of a function, in the order of its text: their names there,
/// and their text.
///
/// # Errors
/// Constructs without text.
pub(crate) fn results(module: &Body, function: &Body) -> Result<Vec<(Value, Label, String)>, Diagnostics> {
    function::results(&mut Module::new(module), function)
}

/// Writes a module of the `llvm` dialect as LLVM IR.
///
/// # Errors
/// Everything that is not of the dialect or has no text.
pub fn to_ll(module: &Body) -> Result<String, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let mut m = Module::new(module);
    m.find_declarations(module);
    m.find_tagged(module);
    let (mut variables, mut functions) = (String::new(), String::new());
    for region in module.own_regions(module.root()) {
        for block in module.blocks(region) {
            for op in module.ops(block) {
                if let Err(errors) = write_symbol(&mut m, module.op_ref(op), &mut variables, &mut functions) {
                    diagnostics.append(errors);
                }
            }
        }
    }
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    let mut head = String::new();
    write_head(&mut head, module, &m);
    head.push_str(&variables);
    // Functions are most of the text, so all else is moved instead.
    let mut text = functions;
    text.insert_str(0, &head);
    m.write_tail(&mut text);
    Ok(text)
}

/// Module name, target, named types.
fn write_head(text: &mut String, module: &Body, m: &Module) {
    let root = module.root_ref();
    let name = root.attr("sym_name").and_then(|name| name.as_str(&m.ctx)).unwrap_or("LLVMDialectModule");
    let _ = writeln!(text, "; ModuleID = '{}'", name.replace(['\n', '\r'], " "));
    let _ = writeln!(text, "source_filename = {}", names::quoted(name.as_bytes()));
    for (attr, keyword) in [("llvm.data_layout", "datalayout"), ("llvm.target_triple", "triple")] {
        if let Some(value) = root.attr(attr).and_then(|a| a.as_str(&m.ctx)).filter(|v| !v.is_empty()) {
            let _ = writeln!(text, "target {keyword} = {}", names::quoted(value.as_bytes()));
        }
    }
    let assembly = root.attr(MODULE_ASM).and_then(|lines| lines.as_array(&m.ctx)).unwrap_or_default();
    for (i, line) in assembly.iter().enumerate() {
        let line = match line.kind(&m.ctx) {
            AttrKind::String(bytes) => names::quoted(bytes),
            _ => continue,
        };
        let _ = writeln!(text, "{}module asm {line}", if i == 0 { "\n" } else { "" });
    }
    let definitions = m.types.definitions();
    if !definitions.is_empty() {
        let _ = write!(text, "\n{definitions}");
    }
}

fn write_symbol(
    m: &mut Module,
    op: OpRef<'_>,
    variables: &mut String,
    functions: &mut String,
) -> Result<(), Diagnostics> {
    if op.is(llvm::FuncOp::DEF) {
        return function::write_function(m, op, functions);
    }
    if op.is(llvm::GlobalOp::DEF) {
        if variables.is_empty() {
            variables.push('\n');
        }
        return globals::write_global(m, op, variables).map_err(Diagnostics::from);
    }
    if op.is(llvm::AliasOp::DEF) || op.is(llvm::IFuncOp::DEF) {
        return globals::write_alias(m, op, variables).map_err(Diagnostics::from);
    }
    if op.is(llvm::ModuleFlagsOp::DEF) {
        return Ok(());
    }
    if op.is(llvm::ComdatOp::DEF) {
        globals::write_comdats(m, op, variables);
        return Ok(());
    }
    let message = if op.is(builtin::ModuleOp::DEF) {
        "a module inside a module has no LLVM IR".to_owned()
    } else {
        format!("'{}' has no LLVM IR at the top of a module", op.name())
    };
    let diagnostic = Diagnostic::error(op.loc(), message);
    let is_llvm = m.ctx.str(op.info().dialect()) == "llvm";
    Err(if is_llvm { diagnostic } else { diagnostic.help("run convert-to-llvm first") }.into())
}

/// Returns the diagnostic for something that has no LLVM IR.
pub(crate) fn no_text(op: OpRef<'_>, what: &str) -> Diagnostic {
    Diagnostic::error(op.loc(), format!("'{}' {what} has no LLVM IR", op.name()))
}

/// Returns the text of a type, or the reason why it has none.
fn type_text(m: &mut Module, op: OpRef<'_>, ty: Type) -> Result<Rc<str>, Diagnostic> {
    m.types.get(ty).ok_or_else(|| no_text(op, "with a type that is not one of LLVM IR"))
}
