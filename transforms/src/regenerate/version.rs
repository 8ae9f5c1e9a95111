//! Versioning: an `scf.if` on a run-time check of what an edit assumes.
//!
//! Loops run changed where the check holds, and as before elsewhere. All assumptions of the edits
//! of a nest are one check. What is checked: that arrays do not overlap, that numbers are equal, or
//! that they are small enough. With `alias=distinct` nothing is checked, because the user promises
//! it; with `alias=may` nothing is assumed.
//!
//! Two single values are compared directly; sums are compared in 128 bits, where they don't wrap.
//! Values that might be poison are frozen, because the program need not have used them. Exempt are
//! the bounds of a loop that runs next.
//!
//! **Never illegal.** An illegal change has no check that would make it legal.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<8xf32>, %b: memref<8xf32>, %x: f32) {
//!   affine.for %i = 0 to 8 {
//!     affine.store %x, %a[%i] : memref<8xf32>
//!   }
//!   affine.for %i = 0 to 8 {
//!     affine.store %x, %b[%i] : memref<8xf32>
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir fuse old.mlir --fusion-profitability=always --contract=false -q -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=zeros --arg=1 --order=images/version-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=zeros --arg=1 --order=images/version-1.svg
//! ```
//!
//! The order of stores, before and after:
//!
//! ![The order of stores before](images/version-0.svg)
//! ![The order of stores after](images/version-1.svg)
//!
//! # Assumptions
//!
//! - Bounds of the loops that run next are not poison; their initial values may be, and are frozen.
//!   Tried in `fixtures/fusion/versioned_numbers.mlir`.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::{arith, llvm, memref, scf};
use loomir_ir::opdef::OpDef;
use loomir_ir::{Attr, Body, Builder, InsertPoint, Op, Type, Value};

use super::Emit;
use super::expression::Sum;
use super::extents::{Reached, is_pointer};
use super::extents_apart::Stretch;
use super::known::Computed;
use super::overlap::{Make, Overlap};
use crate::access::base::Named;
use crate::affine::AffineForm;
use crate::affine::range::fits;
use crate::assumption::Assumption;
use crate::marks;
use crate::tree::Arm;
use crate::tree::{Green, Node};

/// A place where checks are made.
struct At<'a, 'e> {
    emit: &'a mut Emit<'e>,
    at: InsertPoint,
}

impl Make for At<'_, '_> {
    fn body(&mut self) -> &Body {
        self.emit.body
    }

    fn index(&mut self, number: i64) -> Value {
        self.emit.number(number, Type::INDEX, self.at)
    }

    fn make(&mut self, def: &'static OpDef, operands: &[Value]) -> Value {
        self.emit.make(def, operands, self.at)
    }

    fn compare(&mut self, predicate: &str, operands: [Value; 2]) -> Value {
        self.emit.compare(predicate, operands, self.at)
    }
}

impl Emit<'_> {
    pub(super) fn versioned(
        &mut self,
        assumed: &[Assumption],
        fast: Green,
        fallback: Green,
        at: InsertPoint,
    ) {
        let bounds = self.bounds_of(fallback);
        let condition = self.test(assumed, fallback, &bounds, at);
        let old = self.handed_on(fast);
        let types: Vec<Type> = old.iter().map(|v| self.body.value_type(*v)).collect();
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        let ctx = builder.body().ctx().clone();
        let state = builder.state(scf::IfOp::DEF).operands(&[condition]).results(&types);
        let state = state.attr(&ctx, marks::VERSIONED, Attr::UNIT);
        let version = builder.insert(state);
        let around = self.arm;
        for (arm, tree) in [(Arm::Fast, fast), (Arm::Fallback, fallback)] {
            self.arm = Some(arm);
            let region = self.body.region(version, arm as usize);
            let block = self.body.append_block(region, &[]);
            let end = InsertPoint::End(block);
            // Values computed in one version are available neither in the other version nor behind
            // both.
            let (outside, outermost) = (self.known.open_outside(), self.outermost.take());
            self.sequence(tree, end);
            self.known.close_outside(outside);
            self.outermost = outermost;
            let results: Vec<Value> = old.iter().map(|value| self.mapping.value(*value)).collect();
            let mut builder = Builder::new(self.body, end);
            builder.set_loc(self.loc);
            let state = builder.state(scf::YieldOp::DEF).operands(&results);
            builder.insert(state);
        }
        self.arm = around;
        self.mark_tested(version, assumed);
        for (i, value) in old.into_iter().enumerate() {
            self.mapping.map(value, self.body.result(version, i));
        }
    }

    /// Returns the results of both versions: all results of loops, and of other operations those
    /// used outside.
    fn handed_on(&self, sequence: Green) -> Vec<Value> {
        let mut ops: Vec<(Op, bool)> = Vec::new();
        for item in self.trees.items(sequence) {
            match self.trees.get(item) {
                Node::Loop { header, .. } => {
                    let origins = &self.trees.header(header).origins;
                    ops.extend(origins.iter().map(|origin| (self.program.loop_info(origin.of).op, true)));
                }
                Node::Leaf { statement, .. } => {
                    ops.extend(self.program.statement(statement).ops.iter().map(|op| (*op, false)));
                }
                // A guard may contain several conditionals. Each of them yields inside.
                Node::Guard { body, .. } => {
                    ops.extend(self.conditionals_yielded(body).into_iter().map(|(op, _)| (op, false)));
                }
                Node::Empty | Node::Sequence { .. } | Node::Versioned { .. } => {}
            }
        }
        let mut known: HashSet<Op> = HashSet::new();
        ops.retain(|(op, _)| known.insert(*op));
        let is_inside = |op| {
            let mut around = std::iter::successors(Some(op), |op| self.body.parent_op(*op));
            around.any(|op| known.contains(&op))
        };
        let is_used = |value: &Value| self.body.uses(*value).any(|used| !is_inside(used.op));
        let results = |(op, is_loop): (Op, bool)| {
            self.body.results(op).filter(move |value| is_loop || is_used(value)).collect::<Vec<_>>()
        };
        ops.into_iter().flat_map(results).collect()
    }

    /// Returns the values in the bounds of the loops that a sequence begins with. These values are
    /// used, so they are not poison.
    fn bounds_of(&self, sequence: Green) -> Vec<Value> {
        let loops = self.trees.items(sequence).map_while(|item| match self.trees.get(item) {
            Node::Loop { header, .. } => Some(header),
            _ => None,
        });
        let origins = loops.flat_map(|header| &self.trees.header(header).origins);
        let bounds = origins.flat_map(|origin| {
            let op = self.program.loop_info(origin.of).op;
            // The initial values come last and may be poison.
            self.body.operands(op).take(self.body.num_operands(op) - self.body.num_results(op))
        });
        bounds.collect()
    }

    /// Returns the conjunction of all assumptions about a versioned node with these items. None of
    /// `defined` is poison.
    fn test(&mut self, assumed: &[Assumption], items: Green, defined: &[Value], at: InsertPoint) -> Value {
        let (mut overlap, mut reached) = (Overlap::default(), Reached::default());
        let mut stretches: HashMap<Named, Option<Stretch>> = HashMap::new();
        let mut conditions: Vec<AffineForm> = Vec::new();
        let mut all: Option<Value> = None;
        for assumption in assumed {
            let holds = match assumption {
                Assumption::Apart(a, b) if is_pointer(self.body, *a) => {
                    let mut stretch = |object: Named| {
                        *stretches.entry(object).or_insert_with(|| {
                            let code = (&*self.body, self.program, self.trees);
                            let extent = reached.behind(code, &[items], object)?;
                            conditions.extend(extent.conditions.iter().cloned());
                            Some(self.stretch((object, &extent), defined, at))
                        })
                    };
                    match (stretch(*a), stretch(*b)) {
                        (Some(a), Some(b)) => self.are_apart([a, b], at),
                        // Fusion makes no such check.
                        _ => self.truth(false, at),
                    }
                }
                Assumption::Apart(Named::Value(a), Named::Value(b)) => {
                    let memrefs = [*a, *b].map(|value| self.mapping.value(value));
                    overlap.apart(&mut At { emit: self, at }, memrefs)
                }
                // No mode assumes anything of globals without a test.
                Assumption::Apart(..) => self.truth(false, at),
                Assumption::Zero(form) => self.compare_with_zero("eq", form, defined, at),
                Assumption::Natural(forms) => {
                    let any = forms.iter().map(|form| self.compare_with_zero("sge", form, defined, at));
                    let any: Vec<Value> = any.collect();
                    let either = |a, b| self.make(arith::OrIOp::DEF, &[a, b], at);
                    any.into_iter().reduce(either).unwrap_or_else(|| self.truth(false, at))
                }
            };
            all = Some(match all {
                Some(others) => self.make(arith::AndIOp::DEF, &[others, holds], at),
                None => holds,
            });
        }
        let mut tested: HashSet<AffineForm> = assumed.iter().flat_map(Assumption::facts).collect();
        for form in conditions {
            if tested.insert(form.clone()) {
                let holds = self.compare_with_zero("sge", &form, defined, at);
                all = Some(all.map_or(holds, |others| self.make(arith::AndIOp::DEF, &[others, holds], at)));
            }
        }
        // What assumes nothing holds.
        all.unwrap_or_else(|| self.truth(true, at))
    }

    fn truth(&mut self, value: bool, at: InsertPoint) -> Value {
        let ty = self.body.ctx().int_type(1);
        self.number(i64::from(value), ty, at)
    }

    /// Compares a form, a sum of values, with zero: equal, or at least zero.
    fn compare_with_zero(
        &mut self,
        predicate: &'static str,
        form: &AffineForm,
        defined: &[Value],
        at: InsertPoint,
    ) -> Value {
        let terms =
            form.terms().iter().filter_map(|(atom, factor)| Some((atom.factors()?.first()?, *factor)));
        let terms: Vec<(Value, i64)> = terms.map(|(value, factor)| (*value, factor)).collect();
        let terms: Vec<(Value, i64)> =
            terms.into_iter().map(|(value, factor)| (self.frozen(value, defined, at), factor)).collect();
        let constant = form.constant_part();
        let of = |value: Value, this: &Self| this.body.value_type(value);
        let turned = if predicate == "sge" { "sle" } else { predicate };
        match (&terms[..], constant) {
            ([(a, 1), (b, -1)] | [(b, -1), (a, 1)], 0) if of(*a, self) == of(*b, self) => {
                self.compare(predicate, [*a, *b], at)
            }
            ([(a, 1), (b, -1)] | [(b, -1), (a, 1)], -1)
                if predicate == "sge" && of(*a, self) == of(*b, self) =>
            {
                self.compare("sgt", [*a, *b], at)
            }
            ([(a, 1)], _) if self.has_number(*a, constant.checked_neg()) => {
                let number = self.number(-constant, of(*a, self), at);
                self.compare(predicate, [*a, number], at)
            }
            ([(a, -1)], _) if self.has_number(*a, Some(constant)) => {
                let number = self.number(constant, of(*a, self), at);
                self.compare(turned, [*a, number], at)
            }
            _ => {
                let wide = self.body.ctx().int_type(128);
                let sum = self.value_of(Sum::of_terms(&terms, constant), wide, at);
                let zero = self.number(0, wide, at);
                self.compare(predicate, [sum, zero], at)
            }
        }
    }

    /// True if a number fits the type of a value.
    fn has_number(&self, value: Value, number: Option<i64>) -> bool {
        let width = self.body.value_type(value).integer_width(self.body.ctx()).unwrap_or(64);
        number.is_some_and(|number| fits((number.into(), number.into()), width))
    }

    /// Returns a value of the program at this place, frozen if it might be poison.
    pub(super) fn frozen(&mut self, value: Value, defined: &[Value], at: InsertPoint) -> Value {
        let here = self.mapping.value(value);
        let made_by =
            |def: &'static OpDef| self.body.defining_op(value).is_some_and(|op| self.body.is(op, def));
        if defined.contains(&value) || made_by(memref::DimOp::DEF) || made_by(arith::ConstantOp::DEF) {
            return here;
        }
        let key = Computed::Frozen(here);
        if let Some(known) = self.known.get(&key) {
            return known;
        }
        // Indices cannot be frozen.
        let ty = self.body.value_type(here);
        let fixed = if ty == Type::INDEX { Type::I64 } else { ty };
        let number = self.value_of(Sum::offset(here, 0), fixed, at);
        let frozen = self.make(llvm::FreezeOp::DEF, &[number], at);
        let frozen = self.value_of(Sum::offset(frozen, 0), ty, at);
        self.known.insert(key, frozen, false);
        frozen
    }

    pub(super) fn compare(&mut self, predicate: &str, operands: [Value; 2], at: InsertPoint) -> Value {
        let ctx = self.body.ctx().clone();
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        let predicate =
            arith::CMPI_PREDICATE.attr(&ctx, arith::CMPI_PREDICATE.value_of(predicate).unwrap_or(0));
        let state = builder.state(arith::CmpIOp::DEF).operands(&operands).attr(&ctx, "predicate", predicate);
        builder.value(state)
    }
}
