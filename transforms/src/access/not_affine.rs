//! The reasons why a load or store through a pointer is not an affine class.

use loomir_dialects::interfaces::LoopLike;
use loomir_dialects::llvm::{AddressOfOp, LoadOp, SelectOp, StoreOp};
use loomir_dialects::scf;
use loomir_ir::{Block, Body, Op, Value, ValueDef};

use super::pointers;
use super::reader::Reader;
use crate::affine::AffineForm;
use crate::affine::operation::{Binary, Operation};

/// The maximal number of operations between a subscript and the reason.
const MAX_STEPS: usize = 64;

/// The reason why an access may be anywhere in its object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NotAffine {
    /// It is volatile or atomic.
    Ordered,
    /// Its size or the width of its address is unknown.
    Width,
    /// The address of its object is loaded from memory in the nest.
    LoadedObject,
    /// The address of its object is computed in the nest in another way.
    Object,
    /// A subscript is loaded from memory.
    Memory,
    /// A subscript is carried from one iteration to the next, without fixed step.
    Carried,
    /// A subscript depends on the variable of an unsigned loop.
    Unsigned,
    /// A subscript depends on a condition.
    Chosen,
    /// A subscript may wrap around.
    Wraps,
    /// A subscript multiplies numbers that change in the nest.
    Product,
    /// A subscript is computed in a way that is not affine.
    Operation,
}

impl NotAffine {
    /// Returns the reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            NotAffine::Ordered => "it is volatile or atomic",
            NotAffine::Width => "its size or the width of its address is unknown",
            NotAffine::LoadedObject => "the address of its object is loaded in the loop",
            NotAffine::Object => "the address of its object changes in the loop",
            NotAffine::Memory => "a subscript is loaded from memory",
            NotAffine::Carried => "a subscript is carried without a fixed step",
            NotAffine::Unsigned => "a subscript depends on a counter that may pass 2^63",
            NotAffine::Chosen => "a subscript depends on a condition",
            NotAffine::Wraps => "a subscript may wrap around",
            NotAffine::Product => "a subscript multiplies numbers that change",
            NotAffine::Operation => "a subscript is not a sum of multiples",
        }
    }
}

/// An access that is an affine class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IsAffine {
    /// In any case.
    Always,
    /// If a run-time test of numbers before the nest holds.
    Tested,
}

/// The loops of a nest that were entered, by their bodies.
#[derive(Debug)]
pub struct Entered<'n>(pub &'n [Block]);

impl Reader<'_> {
    /// Tells if a load or store through a pointer, inside `depth` loops, is an affine class: its
    /// object and its subscripts depend on the entered loops as sums of multiples of their
    /// variables alone. `None` for other operations.
    ///
    /// # Errors
    /// The reason why it is not.
    pub fn is_affine(
        &mut self,
        op: Op,
        depth: u32,
        entered: &Entered<'_>,
    ) -> Option<Result<IsAffine, NotAffine>> {
        let (body, analyses) = (self.body, self.analyses);
        if ![LoadOp::DEF, StoreOp::DEF].iter().any(|def| body.is(op, def)) {
            return None;
        }
        let layout = analyses.layout.as_deref()?;
        let Some((pointer, _)) = pointers::accessed(body, op, layout) else {
            let is_ordered = ["volatile_", "ordering"].iter().any(|name| body.attr(op, name).is_some());
            return Some(Err(if is_ordered { NotAffine::Ordered } else { NotAffine::Width }));
        };
        let root = pointers::root(body, pointer);
        let is_variable = body.defining_op(root).is_some_and(|op| body.is(op, AddressOfOp::DEF));
        if !is_variable && !self.is_fixed(root, entered) {
            let is_loaded = body.defining_op(root).is_some_and(|op| body.is(op, LoadOp::DEF));
            return Some(Err(if is_loaded { NotAffine::LoadedObject } else { NotAffine::Object }));
        }
        let domain = self.everywhere(depth);
        let class = self.located_bytes(op, true, &domain);
        let (subscripts, conditional) = class.map(|class| (class.subscripts, class.conditional)).unzip();
        let subscripts = subscripts.flatten().and_then(|all| all.into_iter().collect::<Option<Vec<_>>>());
        if subscripts.is_some_and(|all| all.iter().all(|form| self.is_sum(form, entered))) {
            return Some(Ok(IsAffine::Always));
        }
        if conditional.flatten().is_some_and(|own| own.forms().all(|form| self.is_sum(form, entered))) {
            return Some(Ok(IsAffine::Tested));
        }
        let indices = pointers::indices(body, pointer, layout);
        let unknown = indices.into_iter().find(|index| !self.follows(*index, entered));
        Some(Err(unknown.map_or(NotAffine::Wraps, |index| self.why(index, entered))))
    }

    /// True if a value does not change in the entered loops.
    fn is_fixed(&self, value: Value, entered: &Entered<'_>) -> bool {
        self.forms.is_parameter(value)
            && self.body.value_block(value).is_some_and(|block| !entered.contains(self.body, block))
    }

    /// True if a value is a sum of multiples of the variables of the entered loops.
    fn follows(&mut self, value: Value, entered: &Entered<'_>) -> bool {
        self.forms.of(value).is_some_and(|form| self.is_sum(&form, entered))
    }

    /// True if the parameters of a form do not change in the entered loops.
    fn is_sum(&self, form: &AffineForm, entered: &Entered<'_>) -> bool {
        let mut all = true;
        form.each_parameter(&mut |value| all &= self.is_fixed(value, entered));
        all
    }

    /// Returns the reason why a value is no sum of multiples.
    fn why(&mut self, value: Value, entered: &Entered<'_>) -> NotAffine {
        let (body, mut value) = (self.body, value);
        for _ in 0..MAX_STEPS {
            let Some(op) = body.defining_op(value) else {
                let is_unsigned = is_unsigned_variable(body, value);
                return if is_unsigned { NotAffine::Unsigned } else { NotAffine::Carried };
            };
            if body.is(op, LoadOp::DEF) {
                return NotAffine::Memory;
            }
            if [SelectOp::DEF, scf::IfOp::DEF, scf::IndexSwitchOp::DEF].iter().any(|def| body.is(op, def)) {
                return NotAffine::Chosen;
            }
            if [scf::ForOp::DEF, scf::WhileOp::DEF].iter().any(|def| body.is(op, def)) {
                return NotAffine::Carried;
            }
            let operands: Vec<Value> = body.operands(op).collect();
            if let Some(next) = operands.iter().find(|operand| !self.follows(**operand, entered)) {
                value = *next;
                continue;
            }
            let mut is_number =
                |value: &Value| self.forms.of(*value).is_some_and(|form| form.as_constant().is_some());
            return match Operation::of(body, op) {
                Some(
                    Operation::Signed
                    | Operation::Unsigned
                    | Operation::Binary(Binary::Add | Binary::Sub | Binary::Shl),
                ) => NotAffine::Wraps,
                Some(Operation::Binary(Binary::Mul)) => match operands.iter().any(&mut is_number) {
                    true => NotAffine::Wraps,
                    false => NotAffine::Product,
                },
                _ => NotAffine::Operation,
            };
        }
        NotAffine::Operation
    }
}

/// True if a value is the variable of an unsigned loop.
fn is_unsigned_variable(body: &Body, value: Value) -> bool {
    let ValueDef::BlockArgument { block, index: 0 } = body.def(value) else { return false };
    let view = body.op_ref(body.region_parent(body.block_region(block)));
    view.info().interface::<dyn LoopLike>().is_some_and(|model| model.is_unsigned(view))
}

impl Entered<'_> {
    /// True if a block is inside one of the loops. Linear in the depth of the block.
    fn contains(&self, body: &Body, block: Block) -> bool {
        let mut current = Some(block);
        while let Some(block) = current {
            if self.0.contains(&block) {
                return true;
            }
            current = body.block_of(body.region_parent(body.block_region(block)));
        }
        false
    }
}
