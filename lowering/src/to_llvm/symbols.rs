//! The symbols of a module under conversion: existing ones, and those that conversions need.
//!
//! New declarations and constants are collected while functions are converted. They are put at the
//! start of the module at the end, in the order of the first request.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::llvm;
use loomir_dialects::llvm::attributes::LINKAGE;
use loomir_dialects::llvm::types::array;
use loomir_ir::symbols::{SYMBOL_NAME, SymbolTable, symbol_name};
use loomir_ir::{Attr, AttrKind, Body, Context, Loc, Name, OperationState, Type, TypeKind};

/// The attribute of a function that takes its memrefs as bare pointers.
pub(super) const BARE_POINTERS: &str = "llvm.bareptr";

/// The symbols of a module.
#[derive(Debug)]
pub(super) struct Symbols {
    there: SymbolTable,
    /// The layout of types on the module's target.
    pub(super) layout: DataLayout,
    /// Functions that take bare pointers by their own attribute.
    bare: HashSet<Name>,
    /// The new symbols, with their types.
    added: HashMap<Name, Type>,
    strings: HashMap<Box<[u8]>, (Attr, Type)>,
    /// The number to continue the search for a free name with.
    next_string: usize,
    new: Vec<Body>,
}

impl Symbols {
    pub(super) fn of(module: &Body) -> Self {
        Symbols {
            there: SymbolTable::of(module),
            layout: DataLayout::of(module.root_ref()),
            bare: bare_functions(module),
            added: HashMap::new(),
            strings: HashMap::new(),
            next_string: 0,
            new: Vec::new(),
        }
    }

    /// True if the function of this name takes bare pointers by its own attribute.
    pub(super) fn is_bare(&self, name: Name) -> bool {
        self.bare.contains(&name)
    }

    /// True if any function takes bare pointers by its own attribute.
    pub(super) fn has_bare(&self) -> bool {
        !self.bare.is_empty()
    }

    /// True if the module has a function of this name with a body.
    pub(super) fn is_defined(&self, name: Name) -> bool {
        self.there.get(name).is_some_and(|own| own.has_body)
    }

    /// True if something has this name already.
    pub(super) fn is_taken(&self, name: Name) -> bool {
        self.there.get(name).is_some() || self.added.contains_key(&name)
    }

    /// Ensures that there is a function of this name and type. False if the name is taken by
    /// something else.
    pub(super) fn declare(&mut self, ctx: &Context, name: &str, ty: Type, loc: Loc) -> bool {
        let id = ctx.name(name);
        if let Some(there) = self.there.get(id) {
            // Any signature is accepted: pointers are opaque, and the program is responsible for
            // the signature.
            return matches!(ctx.op_str(there.name), "llvm.func" | "func.func");
        }
        if let Some(added) = self.added.get(&id) {
            return *added == ty;
        }
        self.added.insert(id, ty);
        let state = OperationState::of(ctx, llvm::FuncOp::DEF, loc)
            .attr(ctx, SYMBOL_NAME, ctx.string_attr(name))
            .attr(ctx, "function_type", ctx.type_attr(ty));
        self.push(ctx, state);
        true
    }

    /// Returns a private constant with `bytes` and a zero byte. Equal constants are created once.
    pub(super) fn string_constant(
        &mut self,
        ctx: &Context,
        name: &str,
        bytes: &[u8],
        loc: Loc,
    ) -> (Attr, Type) {
        if let Some(known) = self.strings.get(bytes) {
            return *known;
        }
        let mut all = bytes.to_vec();
        all.push(0);
        let ty = array(ctx, all.len() as u64, Type::I8);
        let name = self.fresh(ctx, name, ty);
        let tensor = ctx.ty(TypeKind::Tensor {
            shape: Some([all.len() as i64].into()),
            element: Type::I8,
            encoding: None,
        });
        let splat = all.len() == 1;
        let value = ctx.attr(AttrKind::DenseElements { ty: tensor, splat, bytes: all.into() });
        let private = LINKAGE.value_of("private").unwrap_or(0);
        let state = OperationState::of(ctx, llvm::GlobalOp::DEF, loc)
            .attr(ctx, SYMBOL_NAME, ctx.string_attr(&name))
            .attr(ctx, "global_type", ctx.type_attr(ty))
            .attr(ctx, "linkage", LINKAGE.attr(ctx, private))
            .attr(ctx, "constant", Attr::UNIT)
            .attr(ctx, "addr_space", ctx.int_attr(Type::I32, 0))
            .attr(ctx, "value", value);
        self.push(ctx, state);
        let known = (ctx.symbol_attr(&name), ty);
        self.strings.insert(bytes.into(), known);
        known
    }

    /// Adds a function with a body, whose name was [found free](Self::fresh).
    pub(super) fn add(&mut self, body: Body) {
        self.new.push(body);
    }

    /// Returns a name that nothing has, and takes it: the given one, or one with a number behind.
    pub(super) fn fresh(&mut self, ctx: &Context, base: &str, ty: Type) -> String {
        let mut name = base.to_owned();
        while self.is_taken(ctx.name(&name)) {
            name = format!("{base}_{}", self.next_string);
            self.next_string += 1;
        }
        self.added.insert(ctx.name(&name), ty);
        name
    }

    fn push(&mut self, ctx: &Context, mut state: OperationState) {
        state.set_defaults(ctx);
        self.new.push(Body::new(ctx, state));
    }

    /// Inserts the new symbols at the start of the module.
    pub(super) fn place(self, module: &mut Body) {
        let Some(block) = module.own_regions(module.root()).next().and_then(|r| module.entry_block(r)) else {
            return;
        };
        for body in self.new.into_iter().rev() {
            let op = module.adopt(body);
            module.prepend_op(block, op);
        }
    }
}

/// Returns the names of the functions with [`BARE_POINTERS`].
fn bare_functions(module: &Body) -> HashSet<Name> {
    let functions = module.all_ops().filter(|op| module.attr(*op, BARE_POINTERS).is_some());
    functions.filter_map(|op| symbol_name(module, op)).collect()
}
