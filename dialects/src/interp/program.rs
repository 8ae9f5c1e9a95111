//! The program around a run: its symbols, functions and globals.
//!
//! Symbols are looked up as MLIR does: in the innermost symbol table around the user, nested
//! references step by step. The meaning of a symbol comes from interfaces, [`FunctionLike`] and
//! [`DefineGlobal`]; no operation is named here.
//!
//! Cost: linear in the number of symbols, once; a lookup is one hash.

use std::rc::Rc;

use hashbrown::HashMap;
use loomir_ir::attributes::AttrKind;
use loomir_ir::{Attr, Body, Context, Name, Op, OpRef, Region, Trait, Type};

use super::Target;
use super::code::{Code, FunctionId, decode};
use super::datum::Pointer;
use super::external::{External, external};
use super::fault::Fault;
use super::layout::{DataLayout, Layout};
use super::memory::{Memory, ObjectKind};
use crate::interfaces::FunctionLike;

/// A global variable: an interface of the operations that define one.
pub trait DefineGlobal: Send + Sync {
    /// Returns the global's definition, or the reason why it can't be made.
    fn define(&self, op: OpRef<'_>, target: &DataLayout) -> Result<GlobalDefinition, Box<Fault>>;
}

/// The definition of a global variable.
#[derive(Clone, Debug)]
pub struct GlobalDefinition {
    /// Its size in bytes.
    pub size: u64,
    /// Its alignment.
    pub align: u64,
    /// True if it must not be written.
    pub constant: bool,
    /// The initial contents.
    pub contents: Contents,
}

/// The initial contents of a global.
#[derive(Clone, Debug)]
pub enum Contents {
    /// No value. A read before the first write is a fault.
    Uninitialised,
    /// These bytes.
    Bytes(Vec<u8>),
    /// The value of this type that a region of the operation returns.
    Region(Region, Type),
    /// None of its own: the global is another name of the address that a region of the operation
    /// returns.
    Address(Region),
}

/// The target of a call.
#[derive(Clone, Copy, Debug)]
pub enum Callee {
    /// A function with a body.
    Defined(FunctionId),
    /// An external function that the interpreter knows.
    External(External),
}

/// Returns the layout of a module, if this interpreter's machine supports it.
fn executable_layout(module: &Body) -> Result<DataLayout, Box<Fault>> {
    let layout = DataLayout::of(module.root_ref());
    let own = layout.pointer(0);
    if !layout.is_known() {
        return Err(Fault::unsupported("a data layout that cannot be read"));
    }
    if layout.is_big_endian() {
        return Err(Fault::unsupported("a big-endian data layout"));
    }
    match (own.bits, own.index_bits) {
        (64, 64) => Ok(layout),
        (64, bits) => {
            let what = format!("indices of {bits} bits in addresses of 64, which the data layout states");
            Err(Fault::unsupported(what))
        }
        (bits, _) => Err(odd_pointers(bits)),
    }
}

fn odd_pointers(bits: u32) -> Box<Fault> {
    Fault::unsupported(format!("pointers of {bits} bits, which the data layout states"))
}

pub(super) struct Program<'m> {
    ctx: &'m Context,
    pub(super) module: OpRef<'m>,
    scopes: Vec<Scope>,
    pub(super) functions: Vec<Function<'m>>,
    pub(super) globals: Vec<Global<'m>>,
    pub(super) target: Target,
    /// True if the run looks for races.
    pub(super) looks_for_races: bool,
    data_layout: DataLayout,
}

struct Scope {
    symbols: HashMap<Name, Symbol>,
}

#[derive(Clone, Copy)]
enum Symbol {
    Function(u32),
    Global(u32),
    Scope(u32),
}

pub(super) struct Function<'m> {
    pub(super) op: OpRef<'m>,
    pub(super) name: Name,
    /// The symbol table it sees.
    scope: u32,
    /// The region to decode; `None` for a declaration.
    region: Option<Region>,
    pub(super) signature: (Vec<Type>, Vec<Type>),
    pub(super) code: Option<Rc<Code>>,
    /// The object that represents its address.
    pointer: Pointer,
}

pub(super) struct Global<'m> {
    pub(super) op: OpRef<'m>,
    pub(super) definition: Result<GlobalDefinition, Box<Fault>>,
    pub(super) pointer: Pointer,
    /// The function that computes the initial contents.
    pub(super) initialiser: Option<FunctionId>,
}

impl<'m> Program<'m> {
    /// Reads the symbols of a module and of nested modules, and creates the objects of globals and
    /// functions. If `only` is given, it lists the symbols of the module itself.
    pub(super) fn new(
        module: &'m Body,
        only: Option<&[Op]>,
        target: Target,
        memory: &mut Memory,
    ) -> Result<Program<'m>, Box<Fault>> {
        let mut program = Program {
            ctx: module.ctx(),
            module: module.root_ref(),
            scopes: vec![Scope { symbols: HashMap::new() }],
            functions: Vec::new(),
            globals: Vec::new(),
            target,
            looks_for_races: false,
            data_layout: executable_layout(module)?,
        };
        let mut pending = vec![(module.root_ref(), 0u32)];
        while let Some((table, scope)) = pending.pop() {
            let members = match only.filter(|_| scope == 0) {
                Some(only) => only.iter().map(|op| module.op_ref(*op)).collect(),
                None => members(table),
            };
            for op in members {
                let Some(name) = op.attr("sym_name").and_then(|a| a.as_str(op.ctx())) else { continue };
                let name = op.ctx().name(name);
                let symbol = if let Some(model) = op.info().interface::<dyn FunctionLike>() {
                    program.add_function(op, model, name, scope, memory)?
                } else if let Some(model) = op.info().interface::<dyn DefineGlobal>() {
                    program.add_global(op, model, name, scope, memory)?
                } else if op.info().has_trait(Trait::SymbolTable) {
                    let inner = program.scopes.len() as u32;
                    program.scopes.push(Scope { symbols: HashMap::new() });
                    pending.push((op, inner));
                    Symbol::Scope(inner)
                } else {
                    continue;
                };
                program.scopes[scope as usize].symbols.entry(name).or_insert(symbol);
            }
        }
        Ok(program)
    }

    fn add_function(
        &mut self,
        op: OpRef<'m>,
        model: &dyn FunctionLike,
        name: Name,
        scope: u32,
        memory: &mut Memory,
    ) -> Result<Symbol, Box<Fault>> {
        let id = self.functions.len() as u32;
        let region = (op.regions().len() > 0).then(|| model.body(op));
        let region = region.filter(|r| op.body().entry_block(*r).is_some());
        let pointer = memory.allocate(0, 16, ObjectKind::Function(id))?;
        let signature = model.signature(op);
        self.functions.push(Function { op, name, scope, region, signature, code: None, pointer });
        Ok(Symbol::Function(id))
    }

    fn add_global(
        &mut self,
        op: OpRef<'m>,
        model: &dyn DefineGlobal,
        name: Name,
        scope: u32,
        memory: &mut Memory,
    ) -> Result<Symbol, Box<Fault>> {
        let (mut pointer, mut initialiser) = (Pointer::NULL, None);
        let definition = model.define(op, &self.data_layout);
        if let Ok(definition) = &definition {
            let kind = ObjectKind::Global { constant: definition.constant };
            pointer = match &definition.contents {
                Contents::Address(_) => Pointer::NULL,
                Contents::Bytes(bytes) => memory.allocate_bytes(bytes, definition.align, kind)?,
                _ => memory.allocate(definition.size, definition.align, kind)?,
            };
            let computed = match definition.contents {
                Contents::Region(region, ty) => Some((region, vec![ty])),
                Contents::Address(region) => Some((region, Vec::new())),
                _ => None,
            };
            if let Some((region, results)) = computed {
                initialiser = Some(FunctionId(self.functions.len() as u32));
                self.functions.push(Function {
                    op,
                    name,
                    scope,
                    region: Some(region),
                    signature: (Vec::new(), results),
                    code: None,
                    pointer: Pointer::NULL,
                });
            }
        }
        self.globals.push(Global { op, definition, pointer, initialiser });
        Ok(Symbol::Global(self.globals.len() as u32 - 1))
    }

    pub(super) fn ctx(&self) -> &'m Context {
        self.ctx
    }

    /// Returns the layout of a type in this program.
    pub(super) fn layout(&self, ty: Type) -> Result<Layout, Box<Fault>> {
        let layout = Layout::of(self.ctx, ty, &self.data_layout)?;
        match layout.repr.odd_pointer() {
            Some(bytes) => Err(odd_pointers(bytes * 8)),
            None => Ok(layout),
        }
    }

    /// Fails if addresses of an address space are not numbers of 64 bits.
    pub(super) fn check_address_space(&self, space: u32) -> Result<(), Box<Fault>> {
        let own = self.data_layout.pointer(space);
        if (own.bits, own.index_bits) == (64, 64) { Ok(()) } else { Err(odd_pointers(own.index_bits)) }
    }

    /// Returns the layout of the program's target.
    pub(super) fn data_layout(&self) -> &DataLayout {
        &self.data_layout
    }

    /// Returns the function of this name in the outermost symbol table.
    pub(super) fn entry(&self, name: &str) -> Option<FunctionId> {
        match self.scopes[0].symbols.get(&self.ctx.name(name)) {
            Some(Symbol::Function(id)) => Some(FunctionId(*id)),
            _ => None,
        }
    }

    /// Returns the decoded function. The blocks whose addresses it takes get addresses.
    pub(super) fn code(&mut self, id: FunctionId, memory: &mut Memory) -> Result<Rc<Code>, Box<Fault>> {
        let function = &self.functions[id.0 as usize];
        if let Some(code) = &function.code {
            return Ok(code.clone());
        }
        let Some(region) = function.region else {
            return Err(Fault::unsupported(format!("`@{}` has no body", self.ctx.str(function.name))));
        };
        let code = Rc::new(decode((self, memory), (id, function.name), function.op.body(), region)?);
        self.functions[id.0 as usize].code = Some(code.clone());
        Ok(code)
    }

    fn symbol(&self, from: FunctionId, symbol: Attr) -> Result<Symbol, Box<Fault>> {
        let AttrKind::Symbol { root, nested } = symbol.kind(self.ctx) else {
            return Err(Fault::unsupported("a symbol reference that is none"));
        };
        let mut scope = self.functions[from.0 as usize].scope;
        let mut names = std::iter::once(root).chain(nested.iter()).peekable();
        while let Some(name) = names.next() {
            let found = self.scopes[scope as usize].symbols.get(name).copied();
            match (found, names.peek()) {
                (Some(symbol), None) => return Ok(symbol),
                (Some(Symbol::Scope(inner)), Some(_)) => scope = inner,
                _ => break,
            }
        }
        let text = loomir_ir::text::attr_to_string(self.ctx, symbol);
        Err(Fault::unsupported(format!("{text} names nothing that can be executed")))
    }

    pub(super) fn callee(&self, from: FunctionId, symbol: Attr) -> Result<Callee, Box<Fault>> {
        match self.symbol(from, symbol)? {
            Symbol::Function(id) => self.resolve(FunctionId(id)),
            _ => Err(Fault::unsupported("a call of something that is no function")),
        }
    }

    /// Returns the function that a symbol names.
    pub(super) fn function_of(&self, from: FunctionId, symbol: Attr) -> Result<FunctionId, Box<Fault>> {
        match self.symbol(from, symbol)? {
            Symbol::Function(id) => Ok(FunctionId(id)),
            _ => Err(Fault::unsupported("the address of a block of something that is no function")),
        }
    }

    /// Returns a function with its body, or the external function of its name.
    pub(super) fn resolve(&self, id: FunctionId) -> Result<Callee, Box<Fault>> {
        let function = &self.functions[id.0 as usize];
        if function.region.is_some() {
            return Ok(Callee::Defined(id));
        }
        let name = self.ctx.str(function.name);
        match external(name) {
            Some(external) => Ok(Callee::External(external)),
            None => Err(Fault::unsupported(format!(
                "`@{name}` has no body, and the interpreter knows no external function of this name"
            ))),
        }
    }

    /// Returns the globals with a computed address. Each follows the globals that its address
    /// depends on.
    pub(super) fn aliases(&self) -> Result<Vec<usize>, Box<Fault>> {
        let is_alias = |at: usize| match &self.globals[at].definition {
            Ok(definition) => matches!(definition.contents, Contents::Address(_)),
            Err(_) => false,
        };
        let (mut order, mut entered) = (Vec::new(), vec![false; self.globals.len()]);
        let mut done = entered.clone();
        let mut stack: Vec<usize> = (0..self.globals.len()).filter(|at| is_alias(*at)).collect();
        while let Some(at) = stack.pop() {
            if done[at] {
                continue;
            }
            let others = self.names_in(at).into_iter().filter(|other| is_alias(*other) && !done[*other]);
            let others: Vec<usize> = others.collect();
            if others.is_empty() {
                done[at] = true;
                order.push(at);
            } else if std::mem::replace(&mut entered[at], true) {
                let loc = self.globals[at].op.loc();
                return Err(Fault::unsupported("an alias that stands for itself").at(loc));
            } else {
                stack.push(at);
                stack.extend(others);
            }
        }
        Ok(order)
    }

    /// Returns the globals that the initialiser of a global names.
    fn names_in(&self, at: usize) -> Vec<usize> {
        let Some(function) = self.globals[at].initialiser else { return Vec::new() };
        let op = self.globals[at].op;
        let blocks = op.regions().flat_map(|region| op.body().blocks(region));
        let ops = blocks.flat_map(|block| op.body().ops(block)).map(|inner| op.body().op_ref(inner));
        let symbols = ops.flat_map(|inner| inner.properties().entries(self.ctx)).map(|(_, attr)| *attr);
        let symbols = symbols.filter(|attr| matches!(attr.kind(self.ctx), AttrKind::Symbol { .. }));
        let named = symbols.filter_map(|attr| self.symbol(function, attr).ok());
        named
            .filter_map(|symbol| if let Symbol::Global(id) = symbol { Some(id as usize) } else { None })
            .collect()
    }

    pub(super) fn address_of(&self, from: FunctionId, symbol: Attr) -> Result<Pointer, Box<Fault>> {
        match self.symbol(from, symbol)? {
            Symbol::Function(id) => Ok(self.functions[id as usize].pointer),
            Symbol::Global(id) => {
                let global = &self.globals[id as usize];
                global.definition.as_ref().map_err(Clone::clone)?;
                Ok(global.pointer)
            }
            Symbol::Scope(_) => Err(Fault::unsupported("the address of a symbol table")),
        }
    }
}

/// Returns the operations directly inside a symbol table.
fn members<'m>(table: OpRef<'m>) -> Vec<OpRef<'m>> {
    let body = table.body();
    let blocks = table.regions().flat_map(|region| body.blocks(region));
    blocks.flat_map(|block| body.ops(block)).map(|op| body.op_ref(op)).collect()
}
