//! Refuses promises of the other program that may not hold: flags, views, copies, alignments.
//!
//! The original may promise anything, for nothing is asked of its undefined runs. The other program
//! may promise only what is seen to hold.

use loomir_ir::{Context, DYNAMIC, OpRef, Type, TypeKind, Value};

use super::super::form::{Condition, Form};
use super::super::model::{Invariant, Kind, ObjectId, ObjectKey, ScopeId, TermId};
use super::words::NATURAL;
use super::{Read, Reader, View, defining, is_computation};

/// The bit of `overflowFlags` for arithmetic that does not wrap as unsigned.
const NO_UNSIGNED_WRAP: u64 = 2;
/// The most operands looked at for poison.
const MAX_OPERANDS: usize = 64;
/// The bits of `fastmath` for operands that are neither NaN nor infinite.
const FINITE: u64 = 2 | 4;
/// The same bits of `fastmathFlags`, which is of `llvm`.
const FINITE_WORDS: u64 = 1 | 2;

impl<'b> Reader<'b, '_> {
    /// True if the other program says `nuw` of numbers that may be negative.
    pub(super) fn breaks_no_unsigned_wrap(&mut self, op: OpRef<'_>, forms: &[&Form], scope: ScopeId) -> bool {
        !self.is_original
            && flags(op, "overflowFlags") & NO_UNSIGNED_WRAP != 0
            && forms.iter().any(|form| self.may_leave(form, scope, NATURAL))
    }

    /// True if the other program says `exact` of a division that may leave a rest.
    pub(super) fn may_leave_a_rest(&self, op: OpRef<'_>, dividend: &Form, divisor: i64) -> bool {
        let is_exact = !self.is_original && op.attr("isExact").is_some();
        is_exact && (divisor <= 0 || dividend.modulo(divisor).and_then(|rest| rest.as_constant()) != Some(0))
    }

    /// True if an operation may yield poison for operands that are none.
    pub(super) fn may_be_poison(&self, op: OpRef<'_>) -> bool {
        let has_flags = flags(op, "overflowFlags") != 0
            || flags(op, "fastmath") & FINITE != 0
            || flags(op, "fastmathFlags") & FINITE_WORDS != 0
            || super::words::is_same_sign(op)
            || ["isExact", "nonNeg", "isDisjoint"].iter().any(|name| op.attr(name).is_some());
        let name = op.name().split_once('.').map_or("", |(_, name)| name);
        match name {
            "shli" | "shrsi" | "shrui" | "shl" | "shrs" | "shru" | "lshr" | "ashr" | "intr.sshl.sat"
            | "intr.ushl.sat" => {
                let width = op.result_type(0).integer_width(op.ctx()).map_or(32, i64::from);
                let amount = self.form(op.operand(1)).and_then(Form::as_constant);
                has_flags || !amount.is_some_and(|amount| (0..width).contains(&amount))
            }
            "fptosi" | "fptoui" => true,
            // A position outside of the vector.
            "extract" | "insert" | "shuffle" | "extractelement" | "insertelement" | "shufflevector" => true,
            // A fold of `abs`, of leading or of trailing zeros.
            "intr.abs" | "intr.ctlz" | "intr.cttz" => true,
            _ => has_flags,
        }
    }

    /// True if what may be poison in the other program is no longer part of a result.
    pub(super) fn forgets_poison(&self, operands: [&Form; 2], result: &Form) -> bool {
        let is_in = |form: &Form, param: u32| {
            let mut found = false;
            self.params.for_each_source(form, &mut |own| found |= own == param);
            found
        };
        let is_used = |param: u32| operands.iter().any(|form| is_in(form, param));
        self.poison.iter().any(|param| is_used(*param) && !is_in(result, *param))
    }

    /// True if a frozen value is one number wherever it is frozen.
    pub(super) fn may_freeze(&mut self, value: Value, scope: ScopeId) -> bool {
        if self.is_original || self.is_never_poison(value) {
            return true;
        }
        let is_first = !self.has_frozen && self.scope(scope).depth() == 0;
        self.has_frozen = true;
        is_first
    }

    /// Refuses a branch of the other program on numbers that may be poison.
    /// Other conditions are compared with those of the original later.
    pub(super) fn may_branch(&mut self, condition: Value, op: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        let term = self.value(condition, op)?;
        if self.is_original || !self.is_never_poison(condition) {
            if !self.is_original && matches!(self.program.terms[term].kind, Kind::Truth(_)) {
                return self.refuse(op, "the condition may be poison");
            }
            self.program.branches.push((term, scope));
        }
        Ok(())
    }

    /// True if a value is computed from arguments without an operation that may yield poison.
    pub(super) fn is_never_poison(&self, value: Value) -> bool {
        let mut pending = vec![value];
        let mut seen = 0;
        while let Some(value) = pending.pop() {
            seen += 1;
            // Flags of the other program's numbers were shown to hold when these were read.
            if !self.is_original && self.is_free_number(value) {
                continue;
            }
            // Arguments and variables of loops are no poison; carried values may be.
            let Some(op) = defining(self.body(), value) else {
                if self.is_original && self.calls == 0 && self.form(value).is_some() {
                    continue;
                }
                return false;
            };
            // Where a buffer is, and how large, is no poison, nor is what is frozen.
            if matches!(op.name(), "memref.extract_aligned_pointer_as_index" | "memref.dim" | "llvm.freeze") {
                continue;
            }
            let is_known = is_computation(op) && !is_undefined(op) && !self.may_be_poison(op);
            if !is_known || seen > MAX_OPERANDS {
                return false;
            }
            pending.extend(op.operands());
        }
        true
    }

    /// True if a value is a number or a condition that no parameter makes poison.
    fn is_free_number(&self, value: Value) -> bool {
        match (self.form(value), self.truth(value)) {
            (Some(form), _) => !self.is_poisoned(form),
            (None, Some(truth)) => !self.is_poisoned_truth(truth),
            (None, None) => false,
        }
    }

    /// True if a parameter of a form may be poison in the other program.
    pub(super) fn is_poisoned(&self, form: &Form) -> bool {
        let mut found = false;
        self.params.for_each_source(form, &mut |param| found |= self.poison.contains(&param));
        found
    }

    /// Takes the parameters of a result to be poison if those of an operand may be.
    pub(super) fn spread_poison<'f>(&mut self, operands: impl IntoIterator<Item = &'f Form>, result: &Form) {
        if operands.into_iter().any(|form| self.is_poisoned(form)) {
            self.params.for_each_source(result, &mut |param| self.poison.push(param));
        }
    }

    /// True if a parameter of a condition may be poison in the other program.
    pub(super) fn is_poisoned_truth(&self, truth: &Condition) -> bool {
        let mut all = truth.holds.iter().chain(&truth.fails).flatten();
        all.any(|constraint| self.is_poisoned(&constraint.form))
    }

    /// True if an operand of a parameter's computation may be poison in the other program.
    pub(super) fn is_poisoned_operand(&self, operand: &Invariant) -> bool {
        match operand {
            Invariant::Number(form, _) => self.is_poisoned(form),
            Invariant::Truth(truth) => self.is_poisoned_truth(truth),
            _ => false,
        }
    }

    /// True if a view shows all of its buffer.
    pub(super) fn is_whole(&self, view: &View) -> bool {
        view.origin.is_none()
            && view.dropped.is_empty()
            && view.dims.iter().all(|dim| *dim == (Form::default(), 1))
            && view.sizes == self.program.objects[view.object].sizes
    }

    /// Refuses to return a buffer of the other program that ends with it.
    pub(super) fn outlives(&self, view: &View, op: OpRef<'b>) -> Read<'b, ()> {
        let is_freed = self.program.frees.iter().any(|free| free.object == view.object);
        let is_on_stack = self.program.objects[view.object].made.0.name() == "memref.alloca";
        match !self.is_original && (is_freed || is_on_stack) {
            true => self.refuse(op, "a buffer is returned that does not outlive the function"),
            false => Ok(()),
        }
    }

    /// Refuses a buffer on the stack of a function that the other program calls, behind the call.
    pub(super) fn outlives_call(&self, object: ObjectId, known: usize, op: OpRef<'b>) -> Read<'b, ()> {
        let is_on_stack = self.program.objects[object].made.0.name() == "memref.alloca";
        match !self.is_original && object >= known && is_on_stack {
            true => self.refuse(op, "a buffer on the stack of the function called is used behind it"),
            false => Ok(()),
        }
    }

    /// Refuses a part of a view of the other program that may go beyond it.
    pub(super) fn is_part(
        &mut self,
        part: &View,
        whole: &View,
        op: OpRef<'b>,
        scope: ScopeId,
    ) -> Read<'b, ()> {
        let key = self.program.objects[part.object].key;
        let views = (key, [part, whole].map(|view| (view.dims.clone(), view.sizes.clone())));
        if self.is_original {
            // Whoever calls the original sees to it that the part fits.
            if scope == 0 && !matches!(key, ObjectKey::Allocation(_)) {
                self.params.parts.push(views);
            }
            return Ok(());
        }
        if self.params.parts.contains(&views) {
            return Ok(());
        }
        for (dim, (offset, stride)) in part.dims.iter().enumerate() {
            let (base, step) = &whole.dims[dim];
            let distance = offset.minus(base);
            // The last element shown, and how far it is before the end of the whole.
            let room = || {
                let (own, all) = (part.sizes[dim].as_ref()?, whole.sizes[dim].as_ref()?);
                let last = own.offset(-1)?.times(*stride)?.plus(distance.as_ref()?)?;
                let end = all.offset(-1)?.times(*step)?;
                Some([distance.clone()?, own.clone(), end.minus(&last)?])
            };
            let fits = *stride > 0
                && *step > 0
                && room().is_some_and(|room| room.iter().all(|form| !self.may_leave(form, scope, NATURAL)));
            if !fits {
                return self.refuse(op, "the subview may go beyond its buffer");
            }
        }
        Ok(())
    }

    /// Refuses accesses that the other program may not make: of elements that a view does not show,
    /// at places it claims to be aligned, of constants that it writes.
    pub(super) fn accesses(
        &mut self,
        view: &View,
        subscripts: &[TermId],
        writes: bool,
        op: OpRef<'b>,
    ) -> Read<'b, ()> {
        if self.is_original {
            return Ok(());
        }
        let own = &self.program.objects[view.object];
        let (ty, key, is_whole) = (own.ty, own.key, own.sizes == view.sizes);
        if let ObjectKey::Global(name) = key
            && writes
            && loomir_ir::symbols::lookup(self.module, op.ctx().str(name))
                .is_none_or(|global| self.module.op_ref(global).attr("constant").is_some())
        {
            return self.refuse(op, "a constant global is written");
        }
        let width = match ty.element(op.ctx()).map(|element| (element, element.kind(op.ctx()))) {
            Some((_, TypeKind::Float(kind))) => kind.width(),
            Some((element, _)) if element.is_index() => 64,
            Some((element, _)) => element.integer_width(op.ctx()).unwrap_or(8),
            None => 8,
        };
        let alignment = op.attr("alignment").and_then(|attr| attr.as_int(op.ctx())).unwrap_or(0);
        if alignment > i64::from(width / 8).max(1) {
            return self.refuse(op, "the access claims an alignment that is not known");
        }
        if subscripts.iter().any(|term| self.form_of(*term).is_some_and(|form| self.is_poisoned(form))) {
            return self.refuse(op, "a subscript may be poison");
        }
        if is_whole {
            return Ok(());
        }
        // Affine subscripts are looked at with the other obligations.
        let is_affine = view.sizes.iter().all(Option::is_some)
            && subscripts.iter().all(|subscript| self.form_of(*subscript).is_some());
        match is_affine {
            true => Ok(()),
            false => self.refuse(op, "it may access an element that the subview does not show"),
        }
    }

    /// Refuses copies that are not a loop over all elements: within a buffer, or, in the other
    /// program, of buffers whose extents may differ.
    pub(super) fn copies(&mut self, from: &View, to: &View, op: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        let objects = [from, to].map(|view| &self.program.objects[view.object]);
        let is_apart = from.object != to.object && (self.distinct || objects.iter().any(|own| own.is_alone));
        if !is_apart {
            return self.refuse(op, "the buffers of a copy may overlap");
        }
        let sizes = [from.extents(), to.extents()];
        if self.is_original {
            if scope == 0 {
                self.params.copies.push(sizes);
            }
            return Ok(());
        }
        let is_known = sizes[0].iter().all(Option::is_some);
        if !(is_known && sizes[0] == sizes[1] || self.params.copies.contains(&sizes)) {
            return self.refuse(op, "the extents of the buffers copied may differ");
        }
        self.accesses(to, &[], true, op)
    }
}

/// True for promises of an operation that are none of its properties.
pub(super) fn has_other_promises(op: OpRef<'_>) -> bool {
    super::words::is_same_sign(op) || op.attr("llvm.metadata").is_some()
}

/// True if the sign of a zero is free by the flags of an operation.
pub(super) fn ignores_signs(op: OpRef<'_>) -> bool {
    flags(op, "fastmath") & 8 != 0 || flags(op, "fastmathFlags") & 4 != 0
}

/// True for an operation whose result is another value at each use.
pub(super) fn is_undefined(op: OpRef<'_>) -> bool {
    matches!(op.name(), "llvm.mlir.undef" | "llvm.mlir.poison" | "ub.poison")
}

pub(super) fn flags(op: OpRef<'_>, name: &str) -> u64 {
    super::words::bits(op, name)
}

/// True if a cast promises no stride or offset that its operand does not have.
pub(super) fn keeps_layout(op: OpRef<'_>) -> bool {
    let ctx = op.ctx();
    let layouts = [op.operand_type(0), op.result_type(0)].map(|ty| ty.strides_and_offset(ctx));
    let [Some((strides, offset)), Some((promised, start))] = layouts else { return false };
    let is_kept = |(was, is): (&i64, &i64)| *is == DYNAMIC || was == is;
    is_kept((&offset, &start)) && strides.iter().zip(&promised).all(is_kept)
}

/// True if the layout of a memref has strides that are known at run time only.
pub(in crate::proof) fn has_unknown_strides(ctx: &Context, ty: Type) -> bool {
    let has_layout = matches!(ty.kind(ctx), TypeKind::MemRef { layout: Some(_), .. });
    has_layout && ty.strides_and_offset(ctx).is_none_or(|(strides, _)| strides.contains(&DYNAMIC))
}

/// True if no two elements of a memref are known to lie in one place.
pub(super) fn has_own_elements(ctx: &Context, ty: Type) -> bool {
    let (Some((strides, _)), Some(shape)) = (ty.strides_and_offset(ctx), ty.shape(ctx)) else { return false };
    let mut dims: Vec<(i64, i64)> =
        strides.into_iter().zip(shape.iter().copied()).filter(|(stride, _)| *stride != DYNAMIC).collect();
    dims.sort_by_key(|(stride, _)| stride.unsigned_abs());
    let mut span = 1i64;
    dims.into_iter().filter(|(_, size)| *size != 1).all(|(stride, size)| {
        let is_apart = stride.unsigned_abs() >= span.unsigned_abs();
        let size = if size == DYNAMIC { 1 } else { size };
        span = size.saturating_sub(1).saturating_mul(stride.saturating_abs()).saturating_add(span);
        is_apart
    })
}
