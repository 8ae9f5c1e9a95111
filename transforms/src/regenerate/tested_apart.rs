//! Accesses that the test of a versioned arm found apart.
//!
//! In a function of the `llvm` dialect, each access behind a tested object lists its object and
//! those that the test compared with it ([`marks::APART`]). Lowering makes alias scopes of that.
//!
//! # Assumptions
//!
//! - The test covers all accesses of the arm behind each tested object, so no two of them overlap,
//!   whatever iterations they belong to.
//! - A nest that runs again in a loop around it is left out: the test holds for one run, but an
//!   alias scope speaks of all accesses of these instructions.

use hashbrown::HashMap;
use loomir_dialects::interfaces::Conditional;
use loomir_dialects::llvm;
use loomir_dialects::llvm::attributes::ATOMIC_ORDERING;
use loomir_ir::{Attr, Body, Op, Value};

use super::Emit;
use super::extents::is_pointer;
use crate::access::base::Named;
use crate::assumption::Assumption;
use crate::marks;

/// The tested objects, and for each object those that are apart from it. Objects are numbered.
#[derive(Default)]
struct Tested {
    numbers: HashMap<Named, usize>,
    apart: Vec<Vec<usize>>,
}

impl Tested {
    fn number(&mut self, object: Named) -> usize {
        let Tested { numbers, apart } = self;
        *numbers.entry(object).or_insert_with(|| {
            apart.push(Vec::new());
            apart.len() - 1
        })
    }
}

impl Emit<'_> {
    /// Marks the accesses in the first region of a versioned node's conditional.
    pub(super) fn mark_tested(&mut self, version: Op, assumed: &[Assumption]) {
        if !self.body.is(self.body.root(), llvm::FuncOp::DEF) || !runs_once(self.body, version) {
            return;
        }
        let mut tested = Tested::default();
        for assumption in assumed {
            let Assumption::Apart(a, b) = assumption else { continue };
            if ![*a, *b].into_iter().all(|object| is_pointer(self.body, object)) {
                continue;
            }
            let [a, b] = [*a, *b].map(|object| tested.number(self.written(object)));
            tested.apart[a].push(b);
            tested.apart[b].push(a);
        }
        let inside: Vec<Op> = match self.body.single_block(self.body.region(version, 0)) {
            Some(block) if !tested.numbers.is_empty() => {
                self.body.ops(block).flat_map(|op| self.body.preorder(op)).collect()
            }
            _ => return,
        };
        for op in inside {
            let Some(number) =
                accessed(self.body, op).and_then(|address| behind(self.body, address, &tested))
            else {
                continue;
            };
            let ctx = self.body.ctx();
            let list = std::iter::once(&number).chain(&tested.apart[number]);
            let list: Vec<Attr> = list.map(|number| ctx.index_attr(*number as i64)).collect();
            let list = ctx.array_attr(&list);
            self.body.set_attr(op, marks::APART, list);
        }
    }

    /// Returns an object of the program by its name in the written code.
    fn written(&self, object: Named) -> Named {
        match object {
            Named::Value(value) => Named::Value(self.mapping.value(value)),
            Named::Global(_) => object,
        }
    }
}

/// True if an operation is in no loop, neither a structured one nor one of blocks.
fn runs_once(body: &Body, op: Op) -> bool {
    let mut around = std::iter::successors(Some(op), |op| body.parent_op(*op));
    around.all(|inside| {
        let is_alone = body.region_of(inside).is_none_or(|region| body.single_block(region).is_some());
        let is_taken = inside == op || body.info(inside).interface::<dyn Conditional>().is_some();
        is_alone && (is_taken || body.parent_op(inside).is_none())
    })
}

/// Returns the address of an ordinary load or store.
fn accessed(body: &Body, op: Op) -> Option<Value> {
    let address = match () {
        () if body.is(op, llvm::LoadOp::DEF) => body.operand(op, 0),
        () if body.is(op, llvm::StoreOp::DEF) => body.operand(op, 1),
        () => return None,
    };
    let ordering = body.attr(op, "ordering").and_then(|own| ATOMIC_ORDERING.value(body.ctx(), own));
    let is_atomic = ordering.is_some_and(|own| own != 0);
    (!is_atomic && body.attr(op, "volatile_").is_none()).then_some(address)
}

/// Returns the number of the tested object that an address is computed from.
fn behind(body: &Body, address: Value, tested: &Tested) -> Option<usize> {
    let mut current = address;
    loop {
        let made = body.defining_op(current);
        let name = match made.filter(|op| body.is(*op, llvm::AddressOfOp::DEF)) {
            Some(op) => Named::Global(body.attr(op, "global_name")?.as_flat_symbol(body.ctx())?),
            // Arrays of this function may be replaced by smaller ones.
            None if made.is_some_and(|op| body.is(op, llvm::AllocaOp::DEF)) => return None,
            None => Named::Value(current),
        };
        if let Some(number) = tested.numbers.get(&name) {
            return Some(*number);
        }
        current = body.operand(made.filter(|op| body.is(*op, llvm::GEPOp::DEF))?, 0);
    }
}
