//! The machine that executes one function with all values open.
//!
//! Where a condition depends on values, both sides run: stores write the old element where their
//! condition fails, and results are choices. Loops run as often as constants and arguments say.

use std::rc::Rc;

use loomir_dialects::interfaces::{
    CallLike, Conditional, FunctionLike, LoopLike, MemoryAccess, ParallelLike,
};
use loomir_ir::{Block, Body, Op, OpRef, Region, Trait, Type, TypeKind, Value, symbols};

use super::memory::{Memory, Scalar};
use super::race::Race;
use super::store::{FALSE, Key, Node, Run, Stop, Store, TRUE, TermId, refused};
use crate::proof::{is_alone_argument, says_of_values};

/// The deepest nesting of regions and calls.
const MAX_NESTING: usize = 96;

/// A buffer as a memref shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct View {
    pub(super) buffer: usize,
    pub(super) offset: i64,
    pub(super) sizes: Vec<i64>,
    pub(super) strides: Vec<i64>,
}

/// The meaning of an SSA value.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    Unknown,
    Scalar(Scalar),
    View(Rc<View>),
}

/// A condition under which a program is undefined.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault<'b> {
    pub(super) condition: TermId,
    pub(super) op: OpRef<'b>,
    pub(super) message: &'static str,
    /// True if iterations of a parallel loop race there.
    pub(super) is_race: bool,
}

/// The state of a run.
pub(super) struct Machine<'b, 's> {
    /// The program, to find functions and globals.
    pub(super) module: &'b Body,
    pub(super) body: &'b Body,
    pub(super) store: &'s mut Store,
    pub(super) memory: Memory,
    /// True for the program whose undefined behaviour allows anything.
    pub(super) is_original: bool,
    pub(super) faults: Vec<Fault<'b>>,
    /// The condition under which the current operation runs.
    pub(super) guard: TermId,
    /// The current operation.
    pub(super) place: OpRef<'b>,
    pub(super) race: Option<Race>,
    pub(super) allocations: usize,
    bindings: Vec<Binding>,
    nesting: usize,
}

impl<'b, 's> Machine<'b, 's> {
    pub(super) fn new(
        module: &'b Body,
        function: OpRef<'b>,
        store: &'s mut Store,
        is_original: bool,
        distinct: bool,
    ) -> Machine<'b, 's> {
        let body = function.body();
        Machine {
            module,
            body,
            store,
            memory: Memory::new(distinct),
            is_original,
            faults: Vec::new(),
            guard: TRUE,
            place: function,
            race: None,
            allocations: 0,
            bindings: vec![Binding::Unknown; body.num_value_slots()],
            nesting: 0,
        }
    }

    /// Executes the function; returns its results.
    pub(super) fn run(&mut self, function: OpRef<'b>) -> Run<Vec<Scalar>> {
        let Some(model) = function.info().interface::<dyn FunctionLike>() else {
            return refused("this is no function");
        };
        let Some(block) = self.body.single_block(model.body(function)) else {
            return refused("the function has no body, or more than one block");
        };
        self.arguments(function, block)?;
        self.block(block)?;
        let Some(end) =
            self.body.terminator(block).filter(|end| self.body.has_trait(*end, Trait::ReturnLike))
        else {
            return refused("the function does not end with a return");
        };
        self.place = self.body.op_ref(end);
        self.body.operands(end).map(|value| self.scalar(value)).collect()
    }

    fn arguments(&mut self, function: OpRef<'b>, block: Block) -> Run<()> {
        let ctx = function.ctx();
        let attributes = function.attr("arg_attrs").and_then(|attr| attr.as_array(ctx)).unwrap_or_default();
        for (index, argument) in self.body.arguments(block).enumerate() {
            let ty = self.body.value_type(argument);
            let binding = match ty.kind(ctx) {
                TypeKind::MemRef { layout: None, shape: Some(shape), .. } => {
                    if shape.iter().any(|size| *size < 0) {
                        return refused("an argument is a buffer of open extents");
                    }
                    let is_alone = attributes.get(index).is_some_and(|attr| is_alone_argument(ctx, *attr));
                    let Some(element) = ty.element(ctx) else { return refused("a buffer has no elements") };
                    let key = Key::Argument(index);
                    let buffer = self.memory.add(key, element, shape.to_vec(), is_alone)?;
                    Binding::View(Rc::new(self.whole(buffer)))
                }
                TypeKind::MemRef { .. } => return refused("an argument is a buffer with a layout"),
                _ if loomir_dialects::llvm::types::is_pointer(ctx, ty) => {
                    return refused("an argument is a pointer");
                }
                _ => Binding::Scalar(Scalar::plain(self.argument(index, ty)?)),
            };
            self.bindings[argument.index()] = binding;
        }
        Ok(())
    }

    fn argument(&mut self, index: usize, ty: Type) -> Run<TermId> {
        let range = self.store.facts.ranges.get(index).copied().flatten();
        match (range, self.width(ty)) {
            (Some((low, high)), Some(width)) if low == high => self.store.int(width, low),
            (_, Some(1)) => self.store.truth(Node::Argument(index)),
            _ => self.store.term(Node::Argument(index)),
        }
    }

    /// Returns the width of an integer of at most 64 bits.
    pub(super) fn width(&self, ty: Type) -> Option<u32> {
        super::width(self.body.ctx(), ty)
    }

    pub(super) fn whole(&self, buffer: usize) -> View {
        let sizes = self.memory.buffers[buffer].sizes.clone();
        let strides = super::row_major(&sizes);
        View { buffer, offset: 0, sizes, strides }
    }

    pub(super) fn binding(&self, value: Value) -> &Binding {
        &self.bindings[value.index()]
    }

    /// Returns a value as it is where the current operation runs.
    pub(super) fn scalar(&mut self, value: Value) -> Run<Scalar> {
        match *self.binding(value) {
            Binding::Scalar(scalar) if self.guard == TRUE => Ok(scalar),
            Binding::Scalar(Scalar { term, poison }) => Ok(Scalar {
                term: self.store.assuming(self.guard, term)?,
                poison: self.store.assuming(self.guard, poison)?,
            }),
            Binding::View(_) => refused("a buffer is used as a value"),
            Binding::Unknown => refused("an operand is not understood"),
        }
    }

    pub(super) fn view(&self, value: Value) -> Run<Rc<View>> {
        match self.binding(value) {
            Binding::View(view) => Ok(view.clone()),
            _ => refused("the buffer accessed is not known"),
        }
    }

    pub(super) fn bind(&mut self, value: Value, binding: Binding) {
        self.bindings[value.index()] = binding;
    }

    /// Records a condition under which the current operation is undefined.
    pub(super) fn undefined_if(&mut self, condition: TermId, message: &'static str) -> Run<()> {
        self.fault_if(condition, message, false)
    }

    /// Records a condition under which the current operation is undefined, perhaps by a race.
    pub(super) fn fault_if(&mut self, condition: TermId, message: &'static str, is_race: bool) -> Run<()> {
        let condition = self.store.and(self.guard, condition)?;
        match condition {
            FALSE => Ok(()),
            TRUE if self.is_original => {
                self.store.has_races |= is_race;
                Err(Stop::Undefined)
            }
            TRUE => refused(message),
            _ => {
                if self.faults.iter().rev().take(8).all(|fault| fault.condition != condition) {
                    self.faults.push(Fault { condition, op: self.place, message, is_race });
                }
                Ok(())
            }
        }
    }

    /// Executes the operations of a block but its terminator.
    pub(super) fn block(&mut self, block: Block) -> Run<()> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return refused("regions and calls are nested too deep");
        }
        let body = self.body;
        let end = body.terminator(block);
        for op in body.ops(block).filter(|op| Some(*op) != end) {
            self.place = body.op_ref(op);
            self.store.spend(1)?;
            self.operation(self.place)?;
        }
        self.nesting -= 1;
        Ok(())
    }

    fn operation(&mut self, op: OpRef<'b>) -> Run<()> {
        let info = op.info();
        if let Some(model) = info.interface::<dyn LoopLike>() {
            return self.counted_loop(op, model);
        }
        if let Some(model) = info.interface::<dyn ParallelLike>() {
            return self.parallel_loop(op, model);
        }
        if let Some(model) = info.interface::<dyn Conditional>() {
            return self.conditional(op, model);
        }
        if let Some(model) = info.interface::<dyn MemoryAccess>()
            && matches!(op.name(), "memref.load" | "memref.store" | "affine.load" | "affine.store")
        {
            let access = model.access(op);
            return self.element_access(op, &access);
        }
        match op.name() {
            "scf.while" => return self.while_loop(op),
            "scf.execute_region" => {
                let values = self.region(op.region(0))?;
                return self.bind_all(op, values);
            }
            "llvm.call" => return refused("calls between functions of LLVM are not executed"),
            _ => {}
        }
        if let Some(model) = info.interface::<dyn CallLike>() {
            return self.call(op, model);
        }
        if op.name().starts_with("memref.") {
            return self.buffer_operation(op);
        }
        self.computation(op)
    }

    /// Executes a region of one block; returns what its terminator passes on.
    pub(super) fn region(&mut self, region: Region) -> Run<Vec<Binding>> {
        let body = self.body;
        if body.entry_block(region).is_none() {
            return Ok(Vec::new());
        }
        let Some(block) = body.single_block(region) else {
            return refused("a region is not one block");
        };
        self.block(block)?;
        let Some(end) = body.terminator(block) else { return Ok(Vec::new()) };
        self.passed_on(end)
    }

    /// Returns what a terminator passes on.
    fn passed_on(&self, end: Op) -> Run<Vec<Binding>> {
        let values: Vec<Binding> = self.body.operands(end).map(|value| self.binding(value).clone()).collect();
        for value in &values {
            // The life of a buffer on the stack may end with the region.
            if let Binding::View(view) = value
                && !self.is_original
                && matches!(self.memory.buffers[view.buffer].key, Key::Own(_))
                && !self.memory.buffers[view.buffer].is_heap
            {
                return refused("a buffer on the stack is passed on");
            }
        }
        Ok(values)
    }

    pub(super) fn bind_all(&mut self, op: OpRef<'b>, values: Vec<Binding>) -> Run<()> {
        if values.len() != op.num_results() {
            return refused("the operation yields other results");
        }
        op.results().zip(values).for_each(|(result, value)| self.bind(result, value));
        Ok(())
    }

    /// Executes the body of a function that is called in place.
    fn call(&mut self, op: OpRef<'b>, model: &dyn CallLike) -> Run<()> {
        let ctx = op.ctx();
        let name = model.callee(op).and_then(|callee| callee.as_flat_symbol(ctx));
        let callee = name.and_then(|name| symbols::lookup(self.module, ctx.str(name)));
        let Some(callee) = callee.map(|callee| self.module.op_ref(callee)) else {
            return refused("the function called is not known");
        };
        if !self.is_original && [op, callee].into_iter().any(says_of_values) {
            return refused("the call promises something of its arguments or results");
        }
        let function = callee.info().interface::<dyn FunctionLike>();
        let block = function.and_then(|function| callee.body().single_block(function.body(callee)));
        let Some(block) = block else {
            return refused("the function called has no body, or more than one block");
        };
        let arguments: Vec<Binding> =
            model.arguments(op).iter().map(|value| self.binding(*value).clone()).collect();
        let inside = callee.body();
        let parameters: Vec<Value> = inside.arguments(block).collect();
        if parameters.len() != arguments.len() {
            return refused("the function called takes other arguments");
        }
        let mut bindings = vec![Binding::Unknown; inside.num_value_slots()];
        self.store.spend(1 + bindings.len() / 64)?;
        parameters.iter().zip(arguments).for_each(|(own, value)| bindings[own.index()] = value);
        let outer = std::mem::replace(&mut self.bindings, bindings);
        let body = std::mem::replace(&mut self.body, inside);
        self.block(block)?;
        let Some(end) = inside.terminator(block).filter(|end| inside.has_trait(*end, Trait::ReturnLike))
        else {
            return refused("the function called does not return");
        };
        let results = self.passed_on(end)?;
        (self.bindings, self.body, self.place) = (outer, body, op);
        self.bind_all(op, results)
    }
}
