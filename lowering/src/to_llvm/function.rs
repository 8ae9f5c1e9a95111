//! One function: the walk that builds its new body, and the services for a conversion.
//!
//! New blocks are made first, for the reachable old ones, in the order of the text. Operations are
//! then converted in reverse postorder: every block comes after its dominators, so that the new
//! value of an operand always exists. An operation that needs several blocks continues in another
//! one ([`FunctionConverter::enter`]). Later operations are appended there, and nothing is ever
//! split or moved.

use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::llvm::types::pointer;
use loomir_dialects::{func, llvm};
use loomir_ir::symbols::SYMBOL_NAME;
use loomir_ir::{
    Attr, Block, Body, Context, Diagnostic, Diagnostics, Loc, Op, OpDef, OpRef, OperationState, Type,
    TypeKind, Value,
};

use super::symbols::{BARE_POINTERS, Symbols};
use super::types::TypeConverter;
use super::{ConvertToLlvm, Converted, Options, descriptor};

/// The state of a conversion: the function so far, and the tables from old to new.
pub struct FunctionConverter<'a> {
    ctx: Context,
    new: Body,
    old: &'a Body,
    values: Vec<Option<Value>>,
    blocks: Vec<Option<Block>>,
    block: Block,
    loc: Loc,
    /// True if this function takes and returns memrefs as bare pointers.
    bare: bool,
    options: Options,
    types: &'a mut TypeConverter,
    symbols: &'a mut Symbols,
}

/// Returns the diagnostic for an operation without a conversion.
pub(super) fn no_conversion(op: OpRef<'_>) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(op.loc(), format!("'{}' cannot be converted to the llvm dialect", op.name()));
    match op.ctx().str(op.info().dialect()) {
        "affine" => diagnostic.help("run lower-affine first"),
        "scf" => diagnostic.help("run convert-scf-to-cf first"),
        _ => diagnostic,
    }
}

impl<'a> FunctionConverter<'a> {
    /// Returns the context.
    pub fn ctx(&self) -> Context {
        self.ctx.clone()
    }

    /// Returns the new function.
    pub fn body(&self) -> &Body {
        &self.new
    }

    /// Returns the layout of types on the target.
    pub(super) fn data_layout(&self) -> &DataLayout {
        &self.symbols.layout
    }

    // From old to new.

    /// Converts a type.
    ///
    /// # Errors
    /// If it has no counterpart.
    pub fn convert_type(&mut self, ty: Type) -> Result<Type, Diagnostic> {
        self.types.convert(ty).ok_or_else(|| {
            let why = match ty.kind(&self.ctx) {
                TypeKind::MemRef { shape: Some(_), .. } if ty.strides_and_offset(&self.ctx).is_none() => {
                    "a memref whose layout has no strides cannot be converted to the llvm dialect"
                }
                _ => "a type of this operation has no counterpart in the llvm dialect",
            };
            Diagnostic::error(self.loc, why)
        })
    }

    /// Converts the element type of a memref.
    ///
    /// # Errors
    /// If it has no counterpart.
    pub fn element_type(&mut self, memref: Type) -> Result<Type, Diagnostic> {
        let element = memref.element(&self.ctx).unwrap_or(memref);
        self.convert_type(element)
    }

    /// Returns the types of the values that an argument is passed as. The parts of a memref are
    /// separate values.
    ///
    /// # Errors
    /// If the type has no counterpart.
    pub fn convert_argument(&mut self, ty: Type) -> Result<Vec<Type>, Diagnostic> {
        self.convert_parameter(ty, false)
    }

    /// Returns the types of the values that an argument is passed as. A memref is one pointer if
    /// pointers are `bare`.
    ///
    /// # Errors
    /// If the type has no counterpart.
    pub fn convert_parameter(&mut self, ty: Type, bare: bool) -> Result<Vec<Type>, Diagnostic> {
        self.convert_type(ty)?;
        self.types.convert_argument(ty, bare).ok_or_else(|| not_bare(self.loc))
    }

    /// Returns the type of one result of a function. A memref is one pointer if pointers are
    /// `bare`.
    ///
    /// # Errors
    /// If the type has no counterpart.
    pub fn convert_result(&mut self, ty: Type, bare: bool) -> Result<Type, Diagnostic> {
        self.convert_type(ty)?;
        self.types.convert_result(ty, bare).ok_or_else(|| not_bare(self.loc))
    }

    /// True if this function takes and returns memrefs as bare pointers.
    pub fn is_bare(&self) -> bool {
        self.bare
    }

    /// True if a called function takes and returns memrefs as bare pointers. Without a name it is
    /// any function that is called through a value.
    pub fn is_callee_bare(&self, callee: Option<Attr>) -> bool {
        let name = callee.and_then(|callee| callee.as_flat_symbol(&self.ctx));
        self.options.bare_pointers || name.is_some_and(|name| self.symbols.is_bare(name))
    }

    /// True if any function of the program may take bare pointers, so that the pointer to free has
    /// to be the pointer to the elements.
    pub fn has_bare_functions(&self) -> bool {
        self.options.bare_pointers || self.symbols.has_bare()
    }

    /// Returns the new value of an old one.
    ///
    /// # Errors
    /// If there is none: the old value is used outside of its scope.
    pub fn value(&self, old: Value) -> Result<Value, Diagnostic> {
        self.values
            .get(old.index())
            .copied()
            .flatten()
            .ok_or_else(|| Diagnostic::error(self.loc, "an operand is used where it is not defined"))
    }

    /// Returns the new value of operand `index`.
    ///
    /// # Errors
    /// As for [`FunctionConverter::value`], and if there is no such operand.
    pub fn operand(&self, op: OpRef<'_>, index: usize) -> Result<Value, Diagnostic> {
        match op.operands().nth(index) {
            Some(old) => self.value(old),
            None => Err(self.malformed(op)),
        }
    }

    /// Returns the new values of all operands.
    ///
    /// # Errors
    /// As for [`FunctionConverter::value`].
    pub fn operands(&self, op: OpRef<'_>) -> Result<Vec<Value>, Diagnostic> {
        op.operands().map(|old| self.value(old)).collect()
    }

    /// Returns the new values of some old ones.
    ///
    /// # Errors
    /// As for [`FunctionConverter::value`].
    pub fn values(&self, old: &[Value]) -> Result<Vec<Value>, Diagnostic> {
        old.iter().map(|old| self.value(*old)).collect()
    }

    /// Maps an old value to a new one.
    pub fn set(&mut self, old: Value, new: Value) {
        self.values[old.index()] = Some(new);
    }

    /// Maps the results of `op` to new values.
    pub fn set_results(&mut self, op: OpRef<'_>, new: &[Value]) {
        for (old, new) in op.results().zip(new) {
            self.set(old, *new);
        }
    }

    /// Returns the new block of an old one.
    ///
    /// # Errors
    /// Not for a successor of an operation that can be reached.
    pub fn block_of(&self, old: Block) -> Result<Block, Diagnostic> {
        let new = self.blocks.get(old.index()).copied().flatten();
        new.ok_or_else(|| Diagnostic::error(self.loc, "a successor cannot be reached"))
    }

    /// Returns the integer value of an old value that is the result of a constant.
    pub fn constant_of(&self, old: Value) -> Option<i64> {
        loomir_ir::rewrite::constant_of(self.old, old)?.as_int(&self.ctx)
    }

    // Making new operations.

    /// Returns the location for new operations: the location of the converted operation.
    pub fn loc(&self) -> Loc {
        self.loc
    }

    /// Returns the state of an operation of a definition, which is not inserted yet.
    pub fn state(&self, def: &OpDef) -> OperationState {
        OperationState::of(&self.ctx, def, self.loc)
    }

    /// Inserts an operation at the end of the current block.
    pub fn insert(&mut self, mut state: OperationState) -> Op {
        state.set_defaults(&self.ctx);
        let op = self.new.create(state);
        self.new.append_op(self.block, op);
        op
    }

    /// Inserts an operation with one result.
    pub fn emit(&mut self, state: OperationState) -> Value {
        let op = self.insert(state);
        self.new.result(op, 0)
    }

    /// Returns the type of a new value.
    pub fn type_of(&self, new: Value) -> Type {
        self.new.value_type(new)
    }

    /// Returns the block to which operations are appended.
    pub fn current_block(&self) -> Block {
        self.block
    }

    /// Adds a block behind `after`.
    pub fn new_block(&mut self, after: Block, arguments: &[Type]) -> Block {
        let region = self.new.region(self.new.root(), 0);
        self.new.create_block(region, Some(after), arguments)
    }

    /// Argument `index` of a new block.
    pub fn argument(&self, block: Block, index: usize) -> Value {
        self.new.argument(block, index)
    }

    /// Makes `block` the block to which operations are appended.
    pub fn enter(&mut self, block: Block) {
        self.block = block;
    }

    /// Ensures that the module has a function of this name and type. Returns the symbol to call.
    ///
    /// # Errors
    /// If the name is taken by something else.
    pub fn declare(&mut self, name: &str, ty: Type) -> Result<Attr, Diagnostic> {
        match self.symbols.declare(&self.ctx, name, ty, self.loc) {
            true => Ok(self.ctx.symbol_attr(name)),
            false => Err(Diagnostic::error(
                self.loc,
                format!("'@{name}' is needed as a function, and is something else"),
            )),
        }
    }

    /// Does the same for a function of the C library.
    ///
    /// # Errors
    /// If the name is taken by something else, or if the module defines the function: it would run
    /// instead of the library's.
    pub(super) fn declare_library(&mut self, name: &str, ty: Type) -> Result<Attr, Diagnostic> {
        if self.symbols.is_defined(self.ctx.name(name)) {
            let text = format!("'@{name}' of the C library is needed, and the module defines another one");
            return Err(Diagnostic::error(self.loc, text).help("give the function another name"));
        }
        self.declare(name, ty)
    }

    /// Adds a constant string, with a zero byte behind it, to the module. Returns its symbol and
    /// type.
    pub fn string_constant(&mut self, name: &str, bytes: &[u8]) -> (Attr, Type) {
        self.symbols.string_constant(&self.ctx, name, bytes, self.loc)
    }

    /// Returns a name that no symbol of the module has, for one of type `ty`, and takes it.
    pub(super) fn fresh_symbol(&mut self, base: &str, ty: Type) -> String {
        self.symbols.fresh(&self.ctx, base, ty)
    }

    /// Adds a function with a [fresh](Self::fresh_symbol) name to the module.
    pub(super) fn add_function(&mut self, body: Body) {
        self.symbols.add(body);
    }

    /// Returns another function, `new`, after `fill` emitted its first block.
    pub(super) fn beside(
        &mut self,
        new: Body,
        fill: &mut dyn FnMut(&mut FunctionConverter<'_>) -> Converted,
    ) -> Result<Body, Diagnostic> {
        // It has no old values.
        let old = Body::new(&self.ctx, OperationState::of(&self.ctx, func::FuncOp::DEF, self.loc));
        let mut cx = FunctionConverter::new(&old, new, self.options, self.types, self.symbols);
        fill(&mut cx)?;
        Ok(cx.finish())
    }

    /// Emits `llvm.alloca` of one element at the start of the function, so that a loop around does
    /// not repeat it.
    pub(super) fn alloca_at_entry(&mut self, element: Type) -> Value {
        let region = self.new.region(self.new.root(), 0);
        let entry = self.new.entry_block(region).unwrap_or(self.block);
        let (around, at) = (self.block, self.new.first_op(entry));
        self.block = entry;
        let last = self.new.last_op(entry);
        let one = self.index(1);
        let ptr = pointer(&self.ctx);
        let place = self.alloca(one, element, ptr, None);
        self.block = around;
        if let (Some(at), Some(last)) = (at, last) {
            for op in
                std::iter::successors(self.new.next_op(last), |op| self.new.next_op(*op)).collect::<Vec<_>>()
            {
                self.new.move_before(op, at);
            }
        }
        place
    }

    // What is wrong.

    /// Returns the diagnostic for an operation that the verifier would refuse.
    pub fn malformed(&self, op: OpRef<'_>) -> Diagnostic {
        Diagnostic::error(op.loc(), format!("'{}' is malformed and cannot be converted", op.name()))
    }

    /// Returns the diagnostic for an operation without a counterpart.
    pub fn unsupported(&self, op: OpRef<'_>, what: &str) -> Diagnostic {
        Diagnostic::error(op.loc(), format!("'{}' {what} cannot be converted to the llvm dialect", op.name()))
    }

    fn convert_op(&mut self, op: OpRef<'_>) -> Converted {
        self.loc = op.loc();
        if let Some(conversion) = op.info().interface::<dyn ConvertToLlvm>() {
            return conversion.convert(self, op);
        }
        if op.ctx().str(op.info().dialect()) == "llvm" && op.regions().len() == 0 {
            return self.keep(op);
        }
        Err(no_conversion(op))
    }

    /// Copies an operation that is already of the `llvm` dialect.
    fn keep(&mut self, op: OpRef<'_>) -> Converted {
        let mut state = OperationState::named(self.ctx.op_name(op.name()), self.loc);
        state.operands = self.operands(op)?;
        for result in op.results() {
            let ty = self.convert_type(op.type_of(result))?;
            state.result_types.push(ty);
        }
        (state.properties, state.attributes) = (op.properties(), op.attributes());
        for successor in op.successors() {
            state.successors.push(self.block_of(successor)?);
        }
        let new = self.new.create(state);
        self.new.append_op(self.block, new);
        for (old, new) in op.results().zip(self.new.results(new).collect::<Vec<_>>()) {
            self.set(old, new);
        }
        Ok(())
    }
}

/// Returns the diagnostic for a memref that cannot be passed as a bare pointer.
fn not_bare(loc: Loc) -> Diagnostic {
    Diagnostic::error(loc, "a memref cannot be passed as a bare pointer")
        .note(loc, "its sizes, strides and offset have to be static")
        .help("cast it to a static type, or do not use bare pointers for this function")
}

/// True if a function takes and returns memrefs as bare pointers.
pub(super) fn is_bare(function: &Body, options: Options) -> bool {
    let root = function.root();
    let is_asked = options.bare_pointers || function.attr(root, BARE_POINTERS).is_some();
    is_asked && function.is(root, func::FuncOp::DEF)
}

/// Converts a function to an `llvm.func`.
pub(super) fn convert_function(
    old: &Body,
    options: Options,
    types: &mut TypeConverter,
    symbols: &mut Symbols,
) -> Result<Body, Diagnostics> {
    let ctx = old.ctx().clone();
    let root = old.root();
    let loc = old.loc(root);
    let bare = is_bare(old, options);
    let mut state = header(old, bare, types).ok_or_else(|| {
        if bare && header(old, false, types).is_some() { not_bare(loc) } else { no_type(loc) }
    })?;
    state.set_defaults(&ctx);
    let new = Body::new(&ctx, state);
    let Some(entry) = old.entry_block(old.region(root, 0)) else { return Ok(new) };

    let mut cx = FunctionConverter::new(old, new, options, types, symbols);
    let order = reverse_postorder(old, entry);
    cx.make_blocks(entry, &order)?;
    let mut diagnostics = Diagnostics::new();
    for block in order {
        cx.enter(cx.block_of(block)?);
        for op in old.ops(block) {
            let op = OpRef::new(old, op);
            if !diagnostics.has_errors() {
                if let Err(diagnostic) = cx.convert_op(op) {
                    diagnostics.push(diagnostic);
                }
            } else if op.info().interface::<dyn ConvertToLlvm>().is_none()
                && op.ctx().str(op.info().dialect()) != "llvm"
            {
                // Behind an error, only operations without a conversion are reported.
                diagnostics.push(no_conversion(op));
            }
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(cx.new) }
}

/// Returns the diagnostic for a function with a type without counterpart.
fn no_type(loc: Loc) -> Diagnostic {
    Diagnostic::error(loc, "the type of this function has no counterpart in the llvm dialect")
}

impl<'a> FunctionConverter<'a> {
    /// A converter that appends to a first block, without arguments, of the new function `new`.
    pub(super) fn new(
        old: &'a Body,
        mut new: Body,
        options: Options,
        types: &'a mut TypeConverter,
        symbols: &'a mut Symbols,
    ) -> Self {
        let region = new.region(new.root(), 0);
        let block = new.append_block(region, &[]);
        FunctionConverter {
            ctx: old.ctx().clone(),
            new,
            old,
            values: vec![None; old.num_value_slots()],
            blocks: vec![None; old.num_block_slots()],
            block,
            loc: old.loc(old.root()),
            bare: is_bare(old, options),
            options,
            types,
            symbols,
        }
    }

    /// Adds an argument to the current block.
    pub(super) fn add_argument(&mut self, ty: Type) -> Value {
        self.new.add_argument(self.block, ty)
    }

    /// Returns the new function.
    pub(super) fn finish(self) -> Body {
        self.new
    }
}

impl FunctionConverter<'_> {
    /// Creates a new block for each reachable old block, and the arguments of all.
    fn make_blocks(&mut self, entry: Block, reachable: &[Block]) -> Converted {
        let old = self.old;
        let mut is_reachable = vec![false; old.num_block_slots()];
        for block in reachable {
            is_reachable[block.index()] = true;
        }
        let region = self.new.region(self.new.root(), 0);
        self.blocks[entry.index()] = Some(self.block);
        self.make_entry_arguments(entry)?;
        for block in old.blocks(old.block_region(entry)).skip(1).filter(|b| is_reachable[b.index()]) {
            let new = self.new.append_block(region, &[]);
            self.blocks[block.index()] = Some(new);
            for argument in old.arguments(block) {
                let ty = self.convert_type(old.value_type(argument))?;
                let value = self.new.add_argument(new, ty);
                self.set(argument, value);
            }
        }
        Ok(())
    }

    /// Makes the arguments of the function. Memrefs come in parts, or as bare pointers.
    fn make_entry_arguments(&mut self, entry: Block) -> Converted {
        let old = self.old;
        let is_llvm = old.is(old.root(), llvm::FuncOp::DEF);
        let mut parts_of = Vec::new();
        for argument in old.arguments(entry) {
            let ty = old.value_type(argument);
            let types =
                if is_llvm { vec![self.convert_type(ty)?] } else { self.convert_parameter(ty, self.bare)? };
            let parts: Vec<Value> = types.iter().map(|ty| self.new.add_argument(self.block, *ty)).collect();
            parts_of.push((argument, parts));
        }
        for (argument, parts) in parts_of {
            let ty = old.value_type(argument);
            let value = match parts.as_slice() {
                [pointer] if self.bare && matches!(ty.kind(&self.ctx), TypeKind::MemRef { .. }) => {
                    descriptor::from_bare_pointer(self, ty, *pointer).ok_or_else(|| not_bare(self.loc))?
                }
                [one] => *one,
                parts => {
                    let ty = self.convert_type(ty)?;
                    descriptor::from_parts(self, ty, parts)
                }
            };
            self.set(argument, value);
        }
        Ok(())
    }
}

/// Returns the state of the new function.
fn header(old: &Body, bare: bool, types: &mut TypeConverter) -> Option<OperationState> {
    let (ctx, root) = (old.ctx(), old.root());
    let mut state = OperationState::of(ctx, llvm::FuncOp::DEF, old.loc(root));
    let ty = old.attr(root, "function_type")?.as_type(ctx)?;
    if old.is(root, llvm::FuncOp::DEF) {
        (state.properties, state.attributes) = (old.properties(root), old.attributes(root));
        return Some(state);
    }
    debug_assert!(old.is(root, func::FuncOp::DEF));
    let (inputs, results) = ty.function(ctx)?;
    let variadic = old.attr(root, "func.varargs") == Some(Attr::TRUE);
    let (new_ty, counts) = types.convert_signature(inputs, results, variadic, bare)?;
    state.set_attr(ctx, "function_type", ctx.type_attr(new_ty));
    for name in [SYMBOL_NAME, "no_inline"] {
        if let Some(attr) = old.attr(root, name) {
            state.set_attr(ctx, name, attr);
        }
    }
    if let Some(linkage) = old.attr(root, "llvm.linkage") {
        state.set_attr(ctx, "linkage", linkage);
    }
    keep_attributes(old, &mut state);
    if let Some(attrs) = old.attr(root, "arg_attrs").and_then(|a| a.as_array(ctx)) {
        state.set_attr(ctx, "arg_attrs", spread_attributes(ctx, attrs, &counts));
    }
    if let (Some(attrs), [_]) = (old.attr(root, "res_attrs"), results) {
        state.set_attr(ctx, "res_attrs", attrs);
    }
    Some(state)
}

/// Gives a new function the visibility and the discardable attributes of the old one.
pub(super) fn keep_attributes(old: &Body, state: &mut OperationState) {
    let (ctx, root) = (old.ctx(), old.root());
    if let Some(visibility) = old.attr(root, "sym_visibility") {
        state.set_attr(ctx, "sym_visibility", visibility);
    }
    for (name, attr) in old.attributes(root).entries(ctx) {
        match ctx.str(*name) {
            "func.varargs" | "llvm.readnone" | "llvm.linkage" => {}
            name => state.set_attr(ctx, name, *attr),
        }
    }
}

/// Returns attributes of arguments after each became as many as `counts` says. Attributes of
/// memrefs are about the whole memref and are dropped.
fn spread_attributes(ctx: &Context, attrs: &[Attr], counts: &[usize]) -> Attr {
    let empty = ctx.attr(loomir_ir::AttrKind::Dictionary(loomir_ir::Dict::EMPTY));
    let mut spread = Vec::new();
    for (attr, count) in attrs.iter().zip(counts) {
        match count {
            1 => spread.push(*attr),
            _ => spread.extend(std::iter::repeat_n(empty, *count)),
        }
    }
    ctx.array_attr(&spread)
}

/// Returns the blocks reachable from `entry`, each after its dominators.
fn reverse_postorder(body: &Body, entry: Block) -> Vec<Block> {
    let mut seen = vec![false; body.num_block_slots()];
    let mut order = Vec::new();
    // Blocks with the successors still to visit. The last successor is visited first, so that the
    // order follows the text where possible.
    let mut stack = vec![(entry, body.block_successors(entry).collect::<Vec<_>>())];
    seen[entry.index()] = true;
    while let Some((block, successors)) = stack.last_mut() {
        match successors.pop() {
            Some(next) if !std::mem::replace(&mut seen[next.index()], true) => {
                stack.push((next, body.block_successors(next).collect()));
            }
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
