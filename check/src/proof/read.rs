//! Reads a function into a [`Program`].
//!
//! One walk over the operations in their order. Integers that are affine become forms
//! ([`numbers`]), accesses become elements of objects ([`memory`]), loops and conditionals become
//! scopes ([`control`]), blocks and branches of a graph too ([`graph`]). What is not understood
//! ends the reading with its place and a cause.
//!
//! **Stores under other conditions.** A store that runs only if a condition holds that is not
//! affine writes, in all iterations, the stored value or else the element as it was. So the data
//! flow stays exact.

mod accesses;
mod bits;
mod calls;
mod computations;
mod control;
mod graph;
mod memory;
mod numbers;
mod promises;
mod whiles;
mod words;

use hashbrown::HashSet;
use loomir_dialects::interfaces::{
    CallLike, Conditional, FunctionLike, LoopLike, MemoryAccess, MemoryEffects, ParallelLike,
};
use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::llvm::types;
use loomir_ir::{Block, Body, OpRef, Trait, Type, Value, ValueDef};

use super::form::{Atom, Condition, Constraint, Form};
use super::model::{
    Kind, Object, ObjectId, ObjectKey, Output, ParamKey, Params, Program, Scope, ScopeId, Term, TermId,
};
use super::sets::Solver;
pub(crate) use calls::says_of_values;
pub(super) use graph::{new_promises, promises};
use numbers::range_of;
pub(super) use promises::has_unknown_strides;
pub(crate) use words::bits as flag_bits;

/// The deepest nesting of regions that is read.
const MAX_NESTING: usize = 128;

/// An operation that is not understood.
#[derive(Debug)]
pub(super) struct Refusal<'b> {
    pub(super) op: OpRef<'b>,
    pub(super) message: String,
}

pub(super) type Read<'b, T> = Result<T, Refusal<'b>>;

/// The meaning of a value.
#[derive(Clone, Debug)]
enum Binding {
    Unknown,
    Term(TermId),
    View(View),
    Pointer(Pointer),
    /// The first buffer if the condition holds, else the second.
    Selected(TermId, Box<[View; 2]>),
}

/// An address: bytes behind the start of an object.
#[derive(Clone, Debug)]
struct Pointer {
    object: ObjectId,
    /// The affine part of the distance.
    offset: Form,
    /// Values that are not affine, and the bytes that one of each counts.
    others: Vec<(TermId, i64)>,
    /// Distances that are promised to be within the object too.
    between: Vec<Form>,
    /// True if a step on the way was not promised to be within the object.
    is_plain: bool,
}

/// A buffer as a memref value shows it: index `i` of a dimension is element
/// `offset + i * stride` of the object. With an origin, the element is the sum of the origin and
/// all dimensions, as a number in one row.
#[derive(Clone, Debug)]
struct View {
    object: ObjectId,
    dims: Vec<(Form, i64)>,
    sizes: Vec<Option<Form>>,
    origin: Option<Form>,
    /// The dimensions of the buffer that the view does not have, in order: at subscript zero.
    dropped: Vec<usize>,
}

impl View {
    /// The dimensions of the buffer that are dimensions of the view, in order.
    fn shown(&self) -> impl Iterator<Item = usize> {
        (0..self.dims.len()).filter(|dim| !self.dropped.contains(dim))
    }

    /// Returns the extents of the view.
    fn extents(&self) -> Vec<Option<Form>> {
        self.shown().map(|dim| self.sizes[dim].clone()).collect()
    }
}

/// The state of the walk.
struct Reader<'b, 'p> {
    /// The program, to find functions that are called.
    module: &'b Body,
    /// The function whose operations are read.
    body: &'b Body,
    /// The number of calls around.
    calls: usize,
    program: Program<'b>,
    params: &'p mut Params,
    solver: &'p mut Solver,
    bindings: Vec<Binding>,
    /// The next place in the text.
    order: usize,
    allocations: usize,
    nesting: usize,
    /// True for the original program, whose undefined behaviour allows anything.
    is_original: bool,
    /// True if buffers among the arguments do not overlap.
    distinct: bool,
    /// True if the other program has frozen what may be poison.
    has_frozen: bool,
    /// The parameters of the other program that may be poison.
    poison: Vec<u32>,
    /// The number of blocks of control-flow graphs that were read.
    blocks: usize,
    /// The number of sums around that are read again at a use.
    nested_sums: usize,
    /// The sizes of types in memory.
    target: DataLayout,
}

/// Reads a function. `function` is a view of the operation with its body.
pub(super) fn read<'b>(
    module: &'b Body,
    function: OpRef<'b>,
    params: &mut Params,
    solver: &mut Solver,
    is_original: bool,
    distinct: bool,
) -> Read<'b, Program<'b>> {
    let body = function.body();
    // The other program may rely on what holds wherever the original is defined.
    let facts = if is_original { Vec::new() } else { params.promised.clone() };
    let program = Program {
        body,
        scopes: vec![Scope { loops: Vec::new(), domain: vec![facts], guards: Vec::new() }],
        loops: Vec::new(),
        terms: Vec::new(),
        accesses: Vec::new(),
        objects: Vec::new(),
        outputs: Vec::new(),
        frees: Vec::new(),
        traps: Vec::new(),
        finals: Vec::new(),
        domains: Vec::new(),
        computed: hashbrown::HashMap::new(),
        assumed_exact: None,
        assumed_subscripts: false,
        assumed_bounds: false,
        strict: HashSet::new(),
        branches: Vec::new(),
    };
    let mut reader = Reader {
        module,
        body,
        calls: 0,
        program,
        params,
        solver,
        bindings: vec![Binding::Unknown; body.num_value_slots()],
        order: 0,
        allocations: 0,
        nesting: 0,
        is_original,
        distinct,
        has_frozen: false,
        poison: Vec::new(),
        blocks: 0,
        nested_sums: 0,
        target: DataLayout::of(module.root_ref()),
    };
    let refuse = |message: &str| Refusal { op: function, message: message.to_string() };
    let Some(model) = function.info().interface::<dyn FunctionLike>() else {
        return Err(refuse("this is no function"));
    };
    let region = model.body(function);
    let is_words = function.name() == "llvm.func";
    let Some(block) = body.single_block(region).filter(|_| !is_words) else {
        reader.graph(function, region)?;
        reader.finals(function)?;
        return Ok(reader.program);
    };
    reader.arguments(function, block)?;
    reader.block(block, 0)?;
    reader.results(block)?;
    reader.finals(function)?;
    Ok(reader.program)
}

impl<'b> Reader<'b, '_> {
    fn body(&self) -> &'b Body {
        self.body
    }

    fn refuse<T>(&self, op: OpRef<'b>, message: impl Into<String>) -> Read<'b, T> {
        Err(Refusal { op, message: message.into() })
    }

    fn scope(&self, scope: ScopeId) -> &Scope {
        &self.program.scopes[scope]
    }

    fn term(&mut self, kind: Kind, scope: ScopeId, ty: Type, op: OpRef<'b>) -> TermId {
        self.program.terms.push(Term { kind, scope, ty, op });
        self.program.terms.len() - 1
    }

    fn bind(&mut self, value: Value, term: TermId) {
        self.bindings[value.index()] = Binding::Term(term);
    }

    /// Returns the term of an operand.
    fn value(&self, value: Value, user: OpRef<'b>) -> Read<'b, TermId> {
        match &self.bindings[value.index()] {
            Binding::Term(term) => Ok(*term),
            Binding::View(_) | Binding::Selected(..) => self.refuse(user, "a buffer is used as a value"),
            Binding::Pointer(_) => self.refuse(user, "a pointer is used as a value"),
            Binding::Unknown => self.refuse(user, "an operand is not understood"),
        }
    }

    fn view(&self, value: Value, user: OpRef<'b>) -> Read<'b, View> {
        match &self.bindings[value.index()] {
            Binding::View(view) => Ok(view.clone()),
            _ => self.refuse(user, "the buffer accessed is not known"),
        }
    }

    /// Returns the form of a value, if it is a number.
    fn form(&self, value: Value) -> Option<&Form> {
        match &self.bindings[value.index()] {
            Binding::Term(term) => self.form_of(*term),
            _ => None,
        }
    }

    fn form_of(&self, term: TermId) -> Option<&Form> {
        match &self.program.terms[term].kind {
            Kind::Number(form) => Some(form),
            _ => None,
        }
    }

    fn next_order(&mut self) -> usize {
        self.order += 1;
        self.order
    }

    fn arguments(&mut self, function: OpRef<'b>, block: Block) -> Read<'b, ()> {
        let (body, ctx) = (self.body(), function.ctx());
        let attributes = function.attr("arg_attrs").and_then(|attr| attr.as_array(ctx)).unwrap_or_default();
        for (index, argument) in body.arguments(block).enumerate() {
            let ty = body.value_type(argument);
            if ty.shape(ctx).is_some() && ty.element(ctx).is_some() && numbers::is_buffer(ctx, ty) {
                if !promises::has_own_elements(ctx, ty) {
                    return self.refuse(function, "elements of an argument may lie on each other");
                }
                let is_alone = attributes.get(index).is_some_and(|attr| is_alone_argument(ctx, *attr));
                let view = self.argument_buffer(index, ty, is_alone);
                self.bindings[argument.index()] = Binding::View(view);
                continue;
            }
            if types::is_pointer(ctx, ty) {
                let is_alone = attributes.get(index).is_some_and(|attr| is_alone_argument(ctx, *attr));
                let pointer = self.new_pointer(ObjectKey::Argument(index), ty, (function, 0), is_alone);
                self.bindings[argument.index()] = Binding::Pointer(pointer);
                continue;
            }
            if numbers::is_unranked_buffer(ctx, ty) {
                return self.refuse(function, "an argument is a buffer of unknown rank");
            }
            let kind = self.argument_value(index, ty);
            let term = self.term(kind, 0, ty, function);
            self.bind(argument, term);
        }
        Ok(())
    }

    fn argument_value(&mut self, index: usize, ty: Type) -> Kind {
        let ctx = self.body().ctx();
        if let Some(range) = range_of(ctx, ty) {
            return Kind::Number(Form::atom(Atom::Param(
                self.params.number(ParamKey::Argument(index), range),
            )));
        }
        if ty.integer_width(ctx) == Some(1) {
            return Kind::Truth(self.truth_param(ParamKey::Argument(index)));
        }
        Kind::Argument(index)
    }

    /// Returns the condition that a parameter of type `i1` is true.
    fn truth_param(&mut self, key: ParamKey) -> Condition {
        let param = self.params.number(key, (0, 1));
        let form = Form::atom(Atom::Param(param));
        // A truth value is 0 or 1: at least 1, or at most 0.
        let holds = form.offset(-1).map(Constraint::at_least_zero);
        let fails = form.times(-1).map(Constraint::at_least_zero);
        Condition { holds: vec![holds.into_iter().collect()], fails: vec![fails.into_iter().collect()] }
    }

    fn argument_buffer(&mut self, index: usize, ty: Type, is_alone: bool) -> View {
        let ctx = self.body().ctx();
        let shape = ty.shape(ctx).unwrap_or_default().to_vec();
        let sizes = shape
            .iter()
            .enumerate()
            .map(|(dim, size)| {
                if *size >= 0 {
                    return Some(Form::constant(*size));
                }
                let param = self.params.number(ParamKey::Size(index, dim), (0, i128::from(i64::MAX)));
                Some(Form::atom(Atom::Param(param)))
            })
            .collect();
        self.new_object(ObjectKey::Argument(index), ty, (self.body().root_ref(), 0), sizes, is_alone)
    }

    fn new_object(
        &mut self,
        key: ObjectKey,
        ty: Type,
        made: (OpRef<'b>, ScopeId),
        sizes: Vec<Option<Form>>,
        is_alone: bool,
    ) -> View {
        let depth = self.scope(made.1).depth();
        let dims = sizes.iter().map(|_| (Form::default(), 1)).collect();
        let object = Object {
            key,
            ty,
            depth,
            sizes: sizes.clone(),
            is_alone,
            made,
            stores: Vec::new(),
            is_linear: false,
            is_ordered: false,
        };
        self.program.objects.push(object);
        View { object: self.program.objects.len() - 1, dims, sizes, origin: None, dropped: Vec::new() }
    }

    fn results(&mut self, block: Block) -> Read<'b, ()> {
        let body = self.body();
        let Some(end) = body.terminator(block) else { return Ok(()) };
        if !body.has_trait(end, Trait::ReturnLike) {
            return self.refuse(body.op_ref(end), "the function does not end with a return");
        }
        for operand in body.operands(end).collect::<Vec<_>>() {
            let output = match &self.bindings[operand.index()] {
                Binding::Term(term) => Output::Value(*term),
                Binding::View(view) if self.is_whole(view) => {
                    self.outlives(view, body.op_ref(end))?;
                    Output::Buffer(view.object)
                }
                _ => return self.refuse(body.op_ref(end), "a result of the function is not understood"),
            };
            self.program.outputs.push(output);
        }
        Ok(())
    }

    /// Adds a load of every element of each buffer that others see, behind all else.
    fn finals(&mut self, function: OpRef<'b>) -> Read<'b, ()> {
        for object in 0..self.program.objects.len() {
            let own = &self.program.objects[object];
            let is_returned =
                |output: &Output| matches!(output, Output::Buffer(returned) if *returned == object);
            if !own.is_visible() && !self.program.outputs.iter().any(is_returned) {
                continue;
            }
            if types::is_pointer(self.body().ctx(), own.ty) {
                // Nothing is accessed through the pointer.
                continue;
            }
            if !self.is_shaped(own.ty) {
                let load = self.final_element(object, function)?;
                self.program.finals.push((object, load));
                continue;
            }
            if own.depth > 0 {
                return self.refuse(function, "a buffer allocated in a loop is returned");
            }
            let (sizes, ty) = (own.sizes.clone(), own.ty);
            let mut scope = 0;
            let mut subscripts = Vec::new();
            for (dim, size) in sizes.iter().enumerate() {
                let Some(size) = size.clone() else {
                    return self.refuse(function, "the extent of a buffer is not known");
                };
                scope = self.elements(size, scope, function)?;
                let index = Kind::Number(Form::dim(dim));
                subscripts.push(self.term(index, scope, Type::INDEX, function));
            }
            let Some(element) = ty.element(self.body().ctx()) else { continue };
            let dims = sizes.iter().map(|_| (Form::default(), 1)).collect();
            let view = View { object, dims, sizes, origin: None, dropped: Vec::new() };
            let load = self.load(&view, subscripts, scope, function, element);
            self.make_virtual(load);
            self.program.finals.push((object, load));
        }
        Ok(())
    }

    /// Reads the operations of a block but its terminator.
    fn block(&mut self, block: Block, scope: ScopeId) -> Read<'b, ()> {
        let body = self.body();
        self.nesting += 1;
        let end = body.terminator(block);
        for op in body.ops(block) {
            if self.nesting > MAX_NESTING {
                return self.refuse(body.op_ref(op), "regions are nested too deep");
            }
            if Some(op) != end {
                self.operation(body.op_ref(op), scope)?;
            }
        }
        self.nesting -= 1;
        Ok(())
    }

    fn operation(&mut self, op: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        let info = op.info();
        if let Some(model) = info.interface::<dyn LoopLike>() {
            return self.counted_loop(op, model, scope);
        }
        if let Some(model) = info.interface::<dyn ParallelLike>() {
            return self.parallel_loop(op, model, scope);
        }
        if let Some(model) = info.interface::<dyn Conditional>() {
            return self.conditional(op, model, scope);
        }
        if let Some(model) = info.interface::<dyn MemoryAccess>()
            && matches!(op.name(), "memref.load" | "memref.store" | "affine.load" | "affine.store")
        {
            let access = model.access(op);
            return self.element_access(op, &access, scope);
        }
        if op.name() == "scf.execute_region" {
            return self.executed_region(op, scope);
        }
        if op.name() == "scf.while" {
            return self.while_loop(op, scope);
        }
        if let Some(model) = info.interface::<dyn CallLike>() {
            return self.call(op, model, scope);
        }
        if matches!(op.name(), "llvm.load" | "llvm.store") {
            return self.pointer_access(op, scope);
        }
        if matches!(op.name(), "llvm.getelementptr" | "llvm.alloca" | "llvm.mlir.addressof") {
            return self.pointer_operation(op, scope);
        }
        if op.name().starts_with("memref.") {
            return self.buffer_operation(op, scope);
        }
        self.computation(op, scope)
    }
}

/// True if the attributes of an argument say that nothing overlaps it.
pub(crate) fn is_alone_argument(ctx: &loomir_ir::Context, attributes: loomir_ir::Attr) -> bool {
    matches!(attributes.kind(ctx), loomir_ir::AttrKind::Dictionary(dict)
        if dict.get(ctx, "llvm.noalias").is_some())
}

/// True if an operation only computes its results from its operands.
pub(crate) fn is_computation(op: OpRef<'_>) -> bool {
    let info = op.info();
    let has_no_effect = |model: &dyn MemoryEffects| model.effects(op).is_empty() && !model.may_not_return(op);
    let is_pure = match info.interface::<dyn MemoryEffects>() {
        Some(model) => has_no_effect(model),
        None => info.has_trait(Trait::Pure),
    };
    is_pure && op.regions().len() == 0 && op.successors().len() == 0 && op.num_results() > 0
}

/// Returns the operation that defines a value in a body.
fn defining(body: &Body, value: Value) -> Option<OpRef<'_>> {
    match body.def(value) {
        ValueDef::OpResult { op, .. } => Some(body.op_ref(op)),
        ValueDef::BlockArgument { .. } => None,
    }
}
