//! Decoded functions: operations are analysed once and executed many times.
//!
//! When a function is first called, each of its operations is *decoded*. The model attached under
//! [`Evaluate`] reads the operation's attributes, types and operands. It returns an [`Action`], a
//! closure over register numbers. Actions of a block are consecutive, so that control flow is a
//! number, and a structured operation is a target like any other:
//!
//! - a branch writes the arguments of a block and jumps ([`Flow::Goto`]);
//! - a loop enters its region in the same way and keeps its state in registers of its own
//!   ([`Decoder::scratch`]): a region is active at most once in a frame, so registers are enough
//!   and nests need no stack;
//! - a terminator that hands control back to its parent operation returns [`Flow::Yield`], and the
//!   parent is [resumed](Execute::resume).
//!
//! An operation that cannot be decoded becomes an action that reports so. Code that never runs does
//! no harm.
//!
//! Cost: decoding is linear in the function; executing touches no IR.

use loomir_ir::{Attr, Block, Body, Context, Loc, Name, Op, OpDef, OpRef, Region, Trait, Type, Value};

use super::datum::Pointer;
use super::fault::Fault;
use super::layout::{DataLayout, Layout};
use super::machine::Machine;
use super::memory::Memory;
use super::program::{Callee, Program};
use crate::interfaces::FunctionLike;

/// The execution of an operation: an interface, attached to operations in the registry. Functions
/// of this shape implement it.
pub trait Evaluate: Send + Sync {
    /// Decodes the operation. Everything that is the same in all executions is computed here.
    fn decode(&self, op: OpRef<'_>, decoder: &mut Decoder<'_>) -> Decoded;
}

impl<F> Evaluate for F
where
    F: Fn(OpRef<'_>, &mut Decoder<'_>) -> Decoded + Send + Sync,
{
    fn decode(&self, op: OpRef<'_>, decoder: &mut Decoder<'_>) -> Decoded {
        self(op, decoder)
    }
}

/// A decoded operation, or the fault that prevents its execution.
pub type Decoded = Result<Action, Box<Fault>>;
/// A decoded operation.
pub type Action = Box<dyn Execute>;
/// The control flow after an action, or the fault that ends the run.
pub type Step = Result<Flow, Box<Fault>>;

/// The behaviour of a decoded operation.
pub trait Execute {
    /// Executes the operation once: reads registers and writes the registers of its results.
    fn execute(&self, m: &mut Machine) -> Step;

    /// Continues after region `region` of the operation yielded the values of `yielded`.
    /// [`Flow::Next`] leaves the operation.
    fn resume(&self, _m: &mut Machine, _region: usize, _yielded: &[Slot]) -> Step {
        Err(Fault::unsupported("control returns to an operation that does not expect it"))
    }

    /// Continues after the called function returned. The results are in its registers.
    fn returned(&self, _m: &mut Machine) -> Step {
        Ok(Flow::Next)
    }
}

impl<F: Fn(&mut Machine) -> Step> Execute for F {
    fn execute(&self, m: &mut Machine) -> Step {
        self(m)
    }
}

/// Returns a closure as an action.
pub fn action(f: impl Fn(&mut Machine) -> Step + 'static) -> Action {
    Box::new(f)
}

/// The control flow after an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// To the next operation.
    Next,
    /// Continue at the start of a block. Its arguments are already written.
    Goto(Target),
    /// Resume the operation around, with the operands of this one.
    Yield,
    /// Call a function. Its arguments are in [`Machine::transfer`].
    Call(FunctionId),
    /// Return from the function. Its results are in [`Machine::transfer`].
    Return,
    /// Run the iterations of a parallel loop as strands.
    Fork,
    /// End the iteration of a parallel loop, a strand.
    Join,
}

/// The start of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target(pub(super) u32);

/// A function of the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FunctionId(pub(super) u32);

/// A register of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot(pub(super) u32);

/// A block as a branch target: its first action, and the registers of its arguments.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The first action of the block.
    pub target: Target,
    /// Its arguments.
    pub arguments: Box<[Slot]>,
}

/// A decoded function.
pub(super) struct Code {
    pub(super) function: FunctionId,
    pub(super) name: Name,
    pub(super) actions: Vec<Action>,
    pub(super) places: Vec<Place>,
    operands: Vec<Slot>,
    /// Registers of a frame.
    pub(super) slots: usize,
    pub(super) entry: Entry,
    /// True if the function takes more arguments than its first block.
    pub(super) variadic: bool,
    /// The action that the function itself performs on entry, before its first block.
    pub(super) prologue: Option<Action>,
}

/// The data about an operation that is needed when control leaves it, or a fault is reported.
pub(super) struct Place {
    pub(super) loc: Loc,
    /// The operation, or none at the end of a block without a terminator.
    pub(super) op: Option<Op>,
    /// The operation around, or `NONE` in the function's own region.
    pub(super) parent: u32,
    /// The index of its region among its parent's.
    pub(super) region: u32,
    operands: (u32, u32),
    results: (u32, u32),
    /// True if objects of the stack end when a region of this operation yields.
    pub(super) ends_objects: bool,
}

pub(super) const NONE: u32 = u32::MAX;

impl Code {
    pub(super) fn operands(&self, place: &Place) -> &[Slot] {
        &self.operands[place.operands.0 as usize..place.operands.1 as usize]
    }
}

impl Place {
    pub(super) fn results(&self) -> impl ExactSizeIterator<Item = Slot> + use<> {
        (self.results.0..self.results.1).map(Slot)
    }
}

/// Helps a model read an operation of the function that is being decoded.
pub struct Decoder<'d> {
    program: &'d Program<'d>,
    memory: &'d mut Memory,
    function: FunctionId,
    body: &'d Body,
    /// Start of each block, by its index.
    starts: Vec<u32>,
    /// Number of each operation's action, by its index.
    numbers: Vec<u32>,
    slots: u32,
    scopes: Vec<u32>,
}

impl<'d> Decoder<'d> {
    /// Returns the context.
    pub fn ctx(&self) -> &'d Context {
        self.program.ctx()
    }

    /// Returns the register of a value.
    pub fn slot(&self, value: Value) -> Slot {
        Slot(value.index() as u32)
    }

    /// Returns the registers of values.
    pub fn slots(&self, values: impl IntoIterator<Item = Value>) -> Box<[Slot]> {
        values.into_iter().map(|v| self.slot(v)).collect()
    }

    /// Returns the register of operand `index`.
    pub fn operand(&self, op: OpRef<'_>, index: usize) -> Result<Slot, Box<Fault>> {
        if index < op.num_operands() {
            Ok(self.slot(op.operand(index)))
        } else {
            Err(malformed("an operand"))
        }
    }

    /// Returns the register of result `index`.
    pub fn result(&self, op: OpRef<'_>, index: usize) -> Result<Slot, Box<Fault>> {
        if index < op.num_results() { Ok(self.slot(op.result(index))) } else { Err(malformed("a result")) }
    }

    /// Returns the sizes of the operand segments of an operation with `count` segments.
    pub fn segments(&self, op: OpRef<'_>, count: usize) -> Result<Vec<Vec<Value>>, Box<Fault>> {
        let sizes = op.body().segments(op.op(), false).ok_or_else(|| malformed("operandSegmentSizes"))?;
        let mut operands = op.operands();
        let groups: Vec<Vec<Value>> =
            sizes.map(|n| operands.by_ref().take(usize::try_from(n).unwrap_or(0)).collect()).collect();
        if groups.len() == count { Ok(groups) } else { Err(malformed("operandSegmentSizes")) }
    }

    /// Allocates a register for the operation's own use.
    pub fn scratch(&mut self) -> Slot {
        self.slots += 1;
        Slot(self.slots - 1)
    }

    /// Returns the entry of a block.
    pub fn block(&self, block: Block) -> Entry {
        Entry {
            target: Target(self.starts[block.index()]),
            arguments: self.slots(self.body.arguments(block)),
        }
    }

    /// Returns the first block of a region.
    pub fn region(&self, region: Region) -> Result<Entry, Box<Fault>> {
        let block = self.body.entry_block(region).ok_or_else(|| malformed("a block in its region"))?;
        Ok(self.block(block))
    }

    /// Returns the first block of region `index` of an operation.
    pub fn region_of(&self, op: OpRef<'_>, index: usize) -> Result<Entry, Box<Fault>> {
        if index >= op.regions().len() {
            return Err(malformed("a region"));
        }
        self.region(op.region(index))
    }

    /// Returns the outermost module.
    pub fn module(&self) -> OpRef<'d> {
        self.program.module
    }

    /// Returns the function being decoded.
    pub fn function(&self) -> OpRef<'d> {
        self.program.functions[self.function.0 as usize].op
    }

    /// Returns the scope of stack objects that end with the function.
    pub fn function_scope(&self) -> u32 {
        NONE
    }

    /// True if the target rounds `fmuladd` once.
    pub fn fuses_multiply_add(&self) -> bool {
        self.program.target.fuses_multiply_add
    }

    /// True if the run looks for races: accesses have to be [recorded](Machine::touch).
    pub fn looks_for_races(&self) -> bool {
        self.program.looks_for_races
    }

    /// Returns the layout of the program's target.
    pub fn data_layout(&self) -> &DataLayout {
        self.program.data_layout()
    }

    /// Checks that addresses of an address space are numbers of 64 bits.
    ///
    /// # Errors
    /// If they are not. Then no operation that computes with them can be executed.
    pub fn check_address_space(&self, space: u32) -> Result<(), Box<Fault>> {
        self.program.check_address_space(space)
    }

    /// Returns the layout of a type.
    ///
    /// # Errors
    /// If the type has none, or holds pointers that the interpreter does not support.
    pub fn layout(&self, ty: Type) -> Result<Layout, Box<Fault>> {
        self.program.layout(ty)
    }

    /// Returns the function that a symbol names, resolved from this function.
    pub fn callee(&self, symbol: Attr) -> Result<Callee, Box<Fault>> {
        self.program.callee(self.function, symbol)
    }

    /// Returns the address of the global or function that a symbol names, resolved from this
    /// function.
    pub fn address_of(&self, symbol: Attr) -> Result<Pointer, Box<Fault>> {
        self.program.address_of(self.function, symbol)
    }

    /// Returns the number of the function being decoded.
    pub fn function_id(&self) -> FunctionId {
        self.function
    }

    /// Returns the address of the block with a tag in the function that a symbol names.
    ///
    /// # Errors
    /// If the symbol names no function, or no memory is left.
    pub fn block_address(&mut self, symbol: Attr, tag: i64) -> Result<Pointer, Box<Fault>> {
        let FunctionId(function) = self.program.function_of(self.function, symbol)?;
        self.memory.block(function, tag)
    }

    /// Ends stack objects of `op` with the innermost surrounding operation that is a scope of
    /// automatic allocation. Returns the number under which the objects are recorded.
    pub fn allocation_scope(&mut self, op: OpRef<'_>) -> u32 {
        let mut parent = op.parent();
        while let Some(around) = parent {
            if around.info().has_trait(Trait::AutomaticAllocationScope) && around.op() != self.body.root() {
                let number = self.numbers[around.op().index()];
                self.scopes.push(number);
                return number;
            }
            parent = around.parent();
        }
        NONE
    }

    /// Ends stack objects when a region of `op` yields, for operations that are always allocation
    /// scopes.
    pub fn ends_objects(&mut self, op: OpRef<'_>) -> u32 {
        let number = self.numbers[op.op().index()];
        self.scopes.push(number);
        number
    }

    /// Returns the integer value of an enumeration attribute in any representation, or `default` if
    /// it is absent.
    pub fn enum_value(&self, op: OpRef<'_>, name: &str, default: u64) -> u64 {
        use loomir_ir::AttrKind;
        match op.attr(name).map(|a| a.kind(self.ctx())) {
            Some(AttrKind::Enum { value, .. }) => *value,
            Some(AttrKind::Integer { value, .. }) => *value as u64,
            _ => default,
        }
    }
}

/// Returns the fault of a malformed operation, which verified IR does not contain.
#[cold]
pub fn malformed(what: &str) -> Box<Fault> {
    Fault::unsupported(format!("the operation is malformed: it lacks {what}"))
}

/// The action in place of an operation that could not be decoded.
struct Refusal(Fault);

impl Execute for Refusal {
    fn execute(&self, _m: &mut Machine) -> Step {
        Err(Box::new(self.0.clone()))
    }
}

/// Returns the action behind a block that ends without a terminator.
fn end_of_block(terminator_needed: bool) -> Action {
    action(move |_| match terminator_needed {
        false => Ok(Flow::Yield),
        true => Err(Fault::unsupported("control reaches the end of a block without a terminator")),
    })
}

/// Decodes the region of a function, stored in `body`.
pub(super) fn decode<'d>(
    (program, memory): (&'d Program<'d>, &'d mut Memory),
    (function, name): (FunctionId, Name),
    body: &'d Body,
    region: Region,
) -> Result<Code, Box<Fault>> {
    let Some(first) = body.entry_block(region) else { return Err(malformed("a body")) };
    let mut decoder = Decoder {
        program,
        memory,
        function,
        body,
        starts: vec![NONE; body.num_block_slots()],
        numbers: vec![NONE; body.num_op_slots()],
        slots: body.num_value_slots() as u32,
        scopes: Vec::new(),
    };
    let order = number(&mut decoder, region);
    let mut code = Code {
        function,
        name,
        actions: Vec::with_capacity(order.len()),
        places: Vec::with_capacity(order.len()),
        operands: Vec::new(),
        slots: 0,
        entry: decoder.block(first),
        variadic: false,
        prologue: None,
    };
    let owner = decoder.function();
    code.variadic =
        owner.info().interface::<dyn FunctionLike>().is_some_and(|model| model.is_variadic(owner));
    if let Some(model) = owner.info().interface::<dyn Evaluate>() {
        code.prologue =
            Some(model.decode(owner, &mut decoder).unwrap_or_else(|fault| Box::new(Refusal(*fault))));
    }
    for item in order {
        let (parent, region, action, op) = match item {
            Item::Op { op, parent, region } => {
                let op = body.op_ref(op);
                let action = decode_op(op, &mut decoder);
                (parent, region, action, Some(op))
            }
            Item::End { terminator_needed, parent, region } => {
                (parent, region, end_of_block(terminator_needed), None)
            }
        };
        let operands = code.operands.len() as u32;
        let mut results = (0, 0);
        if let Some(op) = op {
            code.operands.extend(op.operands().map(|v| Slot(v.index() as u32)));
            if op.num_results() > 0 {
                let start = op.result(0).index() as u32;
                results = (start, start + op.num_results() as u32);
            }
        }
        code.actions.push(action);
        code.places.push(Place {
            loc: op.map_or(Loc::UNKNOWN, OpRef::loc),
            op: op.map(OpRef::op),
            parent,
            region,
            operands: (operands, code.operands.len() as u32),
            results,
            ends_objects: false,
        });
    }
    for scope in decoder.scopes {
        code.places[scope as usize].ends_objects = true;
    }
    code.slots = decoder.slots as usize;
    Ok(code)
}

fn decode_op(op: OpRef<'_>, decoder: &mut Decoder<'_>) -> Action {
    let decoded = match op.info().interface::<dyn Evaluate>() {
        Some(model) => model.decode(op, decoder),
        None => Err(Fault::unsupported(format!("`{}` cannot be interpreted", op.name()))),
    };
    decoded.unwrap_or_else(|fault| Box::new(Refusal(*fault)))
}

enum Item {
    Op { op: Op, parent: u32, region: u32 },
    End { terminator_needed: bool, parent: u32, region: u32 },
}

/// Fixes the order of all operations inside a region: blocks one after the other, nested operations
/// after them.
fn number(decoder: &mut Decoder<'_>, region: Region) -> Vec<Item> {
    let body = decoder.body;
    let mut order = Vec::new();
    let mut pending = std::collections::VecDeque::from([(region, NONE, 0)]);
    while let Some((region, parent, index)) = pending.pop_front() {
        for block in body.blocks(region) {
            decoder.starts[block.index()] = order.len() as u32;
            let mut last = None;
            for op in body.ops(block) {
                let number = order.len() as u32;
                decoder.numbers[op.index()] = number;
                order.push(Item::Op { op, parent, region: index });
                pending.extend(body.own_regions(op).enumerate().map(|(i, r)| (r, number, i as u32)));
                last = Some(op);
            }
            if !last.is_some_and(|op| body.has_trait(op, Trait::Terminator)) {
                let owner: Option<&OpDef> = body.info(body.region_parent(region)).def();
                let terminator_needed = !owner.is_some_and(|def| def.traits.has(Trait::NoTerminator));
                order.push(Item::End { terminator_needed, parent, region: index });
            }
        }
    }
    order
}
