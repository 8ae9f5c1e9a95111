//! The operations and accesses of leaves, examined once. Each loop around a leaf counts them, and
//! so does each tree of a search.
//!
//! **Assumptions.**
//! - One [`Leaves`] sees the leaves of one program and of one store of trees.

use std::rc::Rc;

use hashbrown::HashMap;
use loomir_dialects::interfaces::MemoryAccess;
use loomir_dialects::llvm;
use loomir_ir::{Body, DYNAMIC, Op, TypeKind};
use smallvec::SmallVec;

use super::operation::{CALL, Call, is_counted};
use crate::access::Class;
use crate::access::base::bytes_of_element;
use crate::affine::{AffineForm, Atom};
use crate::tree::access_summary::Spot;
use crate::tree::{Map, Program, StatementId, TreeStore};

/// The subscripts of each class of a statement, as far as they are known.
pub(super) type Subscripts = Rc<[Option<Vec<Option<AffineForm>>>]>;

/// The findings about leaves.
#[derive(Default)]
pub(crate) struct Leaves {
    statements: HashMap<StatementId, Rc<Statement>>,
    /// By statement and map, and by the number of loops around.
    subscripts: HashMap<(StatementId, Map, u32), Subscripts>,
}

/// The work of a statement.
pub(super) struct Statement {
    /// The number of operations. Calls count several times.
    pub(super) operations: f64,
    /// The operations.
    pub(super) ops: Vec<Op>,
    /// True if nothing in it prevents vectorization.
    pub(super) is_straight: bool,
    /// The elements of each class.
    pub(super) accessed: Vec<Option<Accessed>>,
    /// True if no form of its classes has a value that is computed inside of loops.
    is_known: bool,
}

impl Leaves {
    pub(super) fn statement(&mut self, ir: &Body, program: &Program, id: StatementId) -> Rc<Statement> {
        self.statements.entry(id).or_insert_with(|| Rc::new(Statement::of(ir, program, id))).clone()
    }

    /// Returns the subscripts of a statement's classes in a leaf with this map inside `levels`
    /// loops. Forms with values computed inside more than `known` loops are dropped.
    pub(super) fn subscripts(
        &mut self,
        (program, trees): (&Program, &TreeStore),
        (id, statement): (StatementId, &Statement),
        map: Map,
        (levels, known): (u32, u32),
    ) -> Subscripts {
        let make = || {
            let spot = Spot::of(program, trees.map(map), levels, known);
            program.statement(id).effects.classes.iter().map(|(class, _)| spot.subscripts(class)).collect()
        };
        match statement.is_known {
            true => self.subscripts.entry((id, map, levels)).or_insert_with(make).clone(),
            false => make(),
        }
    }
}

impl Statement {
    fn of(ir: &Body, program: &Program, id: StatementId) -> Statement {
        let info = program.statement(id);
        let has_regions = info.ops.iter().any(|op| ir.own_regions(*op).next().is_some());
        let all = info.ops.iter().flat_map(|op| ir.preorder(*op));
        let ops: Vec<Op> = all.filter(|op| is_counted(ir, *op)).collect();
        let calls = ops.iter().filter_map(|op| Call::of(ir, *op));
        let (mut operations, mut has_single) = (ops.len() as f64, false);
        for call in calls {
            operations += CALL - 1.0;
            has_single |= call == Call::Single;
        }
        let classes = &info.effects.classes;
        let is_plain = classes.iter().all(|(_, op)| is_load_or_store(ir, *op));
        let is_straight = info.effects.world.is_none() && !has_regions && !has_single && is_plain;
        let is_known = classes.iter().all(|(class, _)| {
            let subscripts = class.subscripts.iter().flatten().flatten();
            let mut forms = class.sizes.iter().chain(subscripts);
            let is_made_outside =
                class.origin.is_none_or(|own| program.is_known(&AffineForm::atom(Atom::Param(own)), 0));
            is_made_outside && forms.all(|form| program.is_known(form, 0))
        });
        let accessed = classes.iter().map(|(class, op)| Accessed::of(ir, class, *op)).collect();
        Statement { operations, ops, is_straight, accessed, is_known }
    }
}

/// The elements that an operation accesses.
pub(super) struct Accessed {
    /// The sizes of the object, where known.
    pub(super) shape: SmallVec<[Option<i64>; 4]>,
    /// The bytes of an element that subscripts count.
    pub(super) unit: i64,
    /// The bytes of an access.
    pub(super) bytes: i64,
}

impl Accessed {
    /// Returns the elements of a class of an operation. `None` if its memory has no name here.
    pub(super) fn of(ir: &Body, class: &Class, op: Op) -> Option<Accessed> {
        let ctx = ir.ctx();
        if class.unit > 0 {
            // A load results in the accessed value, and a store has it as its first operand.
            let value = ir.results(op).next().or_else(|| ir.operands(op).next());
            let width = value.and_then(|value| bytes_of_element(ctx, ir.value_type(value)));
            let width = width.filter(|_| is_load_or_store(ir, op));
            let sizes = class.sizes.iter().map(AffineForm::as_constant);
            let shape = std::iter::once(None).chain(sizes).collect();
            return Some(Accessed { shape, unit: class.unit, bytes: width.unwrap_or(class.unit) });
        }
        let view = ir.op_ref(op);
        let model = view.info().interface::<dyn MemoryAccess>();
        // The memory that a call touches has a name here, if any.
        let accessed = model.map(|model| model.access(view).memref).or(class.origin)?;
        let TypeKind::MemRef { shape, element, .. } = ir.value_type(accessed).kind(ctx) else {
            return Some(Accessed { shape: SmallVec::new(), unit: UNKNOWN_WIDTH, bytes: UNKNOWN_WIDTH });
        };
        let sizes = shape.iter().flatten().map(|size| Some(*size).filter(|size| *size != DYNAMIC));
        let bytes = bytes_of_element(ctx, *element).unwrap_or(UNKNOWN_WIDTH);
        Some(Accessed { shape: sizes.collect(), unit: bytes, bytes })
    }
}

/// The assumed bytes of an element of unknown width.
const UNKNOWN_WIDTH: i64 = 8;

/// True if an operation is a load or a store, which touches elements that it names itself.
fn is_load_or_store(ir: &Body, op: Op) -> bool {
    let is_through_pointer = ir.is(op, llvm::LoadOp::DEF) || ir.is(op, llvm::StoreOp::DEF);
    is_through_pointer || ir.info(op).interface::<dyn MemoryAccess>().is_some()
}
