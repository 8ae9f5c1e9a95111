//! Memory behind pointers: addresses as bytes behind the start of an object.
//!
//! An object is what an argument points to, a global, or room on the stack. All its accesses are of
//! one type, at multiples of its size, so its elements are numbered in one row.
//!
//! The extents of arguments and globals are taken to be unknown. So the other program accesses
//! elements only that the original accesses too.

use loomir_dialects::interp::layout::{Layout, Repr};
use loomir_dialects::llvm::memory::address::{Index, steps};
use loomir_dialects::llvm::types::{self, LlvmType};
use loomir_ir::{OpRef, Type, TypeKind};

use super::super::super::form::Form;
use super::super::super::model::{Kind, ObjectId, ObjectKey, Promise, ScopeId, TermId};
use super::super::numbers::NATURAL;
use super::super::{Binding, Pointer, Read, Reader, View, words};
use super::metadata;

/// The flags of an address computation: within the object, and no wrap as signed or unsigned.
pub(super) const IN_BOUNDS: u64 = 1;
const NO_SIGNED_WRAP: u64 = 2;
const NO_UNSIGNED_WRAP: u64 = 4;
/// The attributes of an access that are looked at by themselves, or say nothing.
const OWN_ATTRIBUTES: [&str; 5] = ["alignment", "ordering", "volatile_", "syncscope", "nontemporal"];

/// Promises about the value that a load yields.
const VALUE_PROMISES: [&str; 5] = ["range", "nonnull", "noundef", "dereferenceable", "align"];

impl Pointer {
    fn to_start(object: ObjectId) -> Pointer {
        let (others, between) = (Vec::new(), Vec::new());
        Pointer { object, offset: Form::default(), others, between, is_plain: false }
    }
}

impl<'b> Reader<'b, '_> {
    /// Makes an object and a pointer to its start.
    pub(in super::super) fn new_pointer(
        &mut self,
        key: ObjectKey,
        ty: Type,
        made: (OpRef<'b>, ScopeId),
        is_alone: bool,
    ) -> Pointer {
        let view = self.new_object(key, ty, made, vec![None], is_alone);
        Pointer::to_start(view.object)
    }

    fn pointer(&self, value: loomir_ir::Value, user: OpRef<'b>) -> Read<'b, Pointer> {
        match &self.bindings[value.index()] {
            Binding::Pointer(pointer) => Ok(pointer.clone()),
            _ => self.refuse(user, "it is not known what the pointer points to"),
        }
    }

    /// Reads an operation that yields an address.
    pub(in super::super) fn pointer_operation(&mut self, op: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        let pointer = match op.name() {
            "llvm.getelementptr" => self.address_of_part(op, scope)?,
            "llvm.alloca" => {
                let key = ObjectKey::Allocation(self.allocations);
                self.allocations += 1;
                let pointer = self.new_pointer(key, op.result_type(0), (op, scope), true);
                let Some(bytes) = self.room(op) else {
                    return self.refuse(op, "the size of the room on the stack is not a constant");
                };
                self.program.objects[pointer.object].sizes = vec![Some(Form::constant(bytes))];
                pointer
            }
            _ => {
                let name = op.attr("global_name").and_then(|attr| attr.as_flat_symbol(op.ctx()));
                let global = name
                    .and_then(|name| loomir_ir::symbols::lookup(self.module, op.ctx().str(name)))
                    .map(|global| self.module.op_ref(global));
                let (Some(name), Some(_)) = (name, global.filter(|own| own.name() == "llvm.mlir.global"))
                else {
                    return self.refuse(op, "the address is not one of a global variable");
                };
                let key = ObjectKey::Global(name);
                match self.program.object(key) {
                    Some(object) => Pointer::to_start(object),
                    None => self.new_pointer(key, op.result_type(0), (op, 0), false),
                }
            }
        };
        self.bindings[op.result(0).index()] = Binding::Pointer(pointer);
        Ok(())
    }

    /// Returns the bytes of room on the stack.
    fn room(&self, op: OpRef<'_>) -> Option<i64> {
        let ty = op.attr("elem_type")?.as_type(op.ctx())?;
        let size = Layout::of(op.ctx(), ty, &self.target).ok()?.size;
        let count = self.form(op.operand(0))?.as_constant().filter(|count| *count >= 0)?;
        i64::try_from(size).ok()?.checked_mul(count)
    }

    fn address_of_part(&mut self, op: OpRef<'b>, scope: ScopeId) -> Read<'b, Pointer> {
        let mut pointer = self.pointer(op.operand(0), op)?;
        let flags = words::bits(op, "noWrapFlags");
        let is_plain_space =
            matches!(LlvmType::of(op.ctx(), op.operand_type(0)), Some(LlvmType::Pointer { space: 0 }));
        if !is_plain_space || self.target.pointer(0).index_bits != 64 {
            return self.refuse(op, "addresses are not computed in 64 bits");
        }
        let Ok(steps) = steps(op, &self.target) else {
            return self.refuse(op, "the sizes of the types are not known");
        };
        if flags & IN_BOUNDS != 0 && !self.is_original {
            // The pointer computed from is promised to be within the object, too.
            if !pointer.others.is_empty() {
                return self.refuse(op, "a pointer on the way is not known to be within its object");
            }
            pointer.between.push(pointer.offset.clone());
        }
        pointer.is_plain |= flags & IN_BOUNDS == 0;
        let is_sum =
            steps.iter().filter(|(index, bytes)| *bytes != 0 && *index != Index::Constant(0)).count() > 1;
        for (index, bytes) in steps {
            let (form, term) = match index {
                Index::Constant(number) => (Some(Form::constant(number)), None),
                Index::Value(value) => {
                    let width = self.body().value_type(value).integer_width(op.ctx());
                    if width.is_none_or(|width| width > 64) {
                        return self.refuse(op, "a subscript is no integer of at most 64 bits");
                    }
                    (self.form(value).cloned(), Some(self.value(value, op)?))
                }
            };
            if !self.is_original && form.as_ref().is_some_and(|form| self.is_poisoned(form)) {
                return self.refuse(op, "a subscript may be poison");
            }
            let may_be_negative = form.as_ref().is_some_and(|form| self.may_leave(form, scope, NATURAL));
            // Parts of either sign may wrap though their sum does not.
            let promised = if is_sum { NO_SIGNED_WRAP | NO_UNSIGNED_WRAP } else { NO_UNSIGNED_WRAP };
            if !self.is_original && flags & promised != 0 && may_be_negative {
                return self.refuse(op, "the address is promised not to wrap, which is not known to hold");
            }
            match (form, term) {
                (Some(form), _) => {
                    let sum = form.times(bytes).and_then(|part| pointer.offset.plus(&part));
                    let Some(sum) = sum else { return self.refuse(op, "the address is too large a sum") };
                    pointer.offset = sum;
                }
                (None, Some(term)) => {
                    let plain = (NO_SIGNED_WRAP | NO_UNSIGNED_WRAP) & !flags;
                    if self.is_original {
                        self.params.wraps_addresses |= plain;
                    } else if self.params.wraps_addresses & !plain != 0 {
                        return self.refuse(op, "the address is promised not to wrap, and may do so before");
                    }
                    pointer.others.push((term, bytes));
                }
                (None, None) => return self.refuse(op, "a subscript is not understood"),
            }
        }
        let distances = (i128::from(i64::MIN), i128::from(i64::MAX));
        if flags & NO_SIGNED_WRAP == 0 && self.may_leave(&pointer.offset, scope, distances) {
            self.program.assumed_subscripts = true;
        }
        Ok(pointer)
    }

    /// Reads a load or a store.
    pub(in super::super) fn pointer_access(&mut self, op: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        if op.attr("volatile_").is_some() {
            return self.refuse(op, "the access is volatile");
        }
        if words::bits(op, "ordering") != 0 {
            return self.refuse(op, "the access is atomic");
        }
        let is_store = op.name() == "llvm.store";
        let (ty, pointer) = match is_store {
            true => (op.operand_type(0), self.pointer(op.operand(1), op)?),
            false => (op.result_type(0), self.pointer(op.operand(0), op)?),
        };
        let size = self.element(&pointer, ty, op)?;
        let promise = self.promised(&pointer, ty, size, is_store, scope, op)?;
        let Some(origin) = pointer.offset.divided(size) else {
            return self.refuse(op, "the address is not known to be a multiple of the element's size");
        };
        let (mut dims, mut subscripts) = (Vec::new(), Vec::new());
        for (term, bytes) in &pointer.others {
            if bytes % size != 0 {
                return self.refuse(op, "the address is not known to be a multiple of the element's size");
            }
            dims.push((Form::default(), bytes / size));
            subscripts.push(*term);
        }
        let view = View {
            object: pointer.object,
            dims,
            sizes: Vec::new(),
            origin: Some(origin),
            dropped: Vec::new(),
        };
        if is_store {
            let stored = self.value(op.operand(0), op)?;
            self.store(&view, subscripts, stored, scope, op);
        } else {
            let loaded = self.load(&view, subscripts, scope, op, ty);
            self.bind(op.result(0), loaded);
        }
        // The access itself is the last one that was added.
        if let Some(last) = self.program.accesses.last_mut() {
            last.promise = promise;
        }
        Ok(())
    }

    /// Returns the size of an element, and makes its type the object's.
    fn element(&mut self, pointer: &Pointer, ty: Type, op: OpRef<'b>) -> Read<'b, i64> {
        let ctx = op.ctx();
        let is_number = ty.integer_width(ctx).is_some() || matches!(ty.kind(ctx), TypeKind::Float(_));
        let layout = Layout::of(ctx, ty, &self.target).ok().filter(|_| is_number);
        let size = layout.filter(|own| {
            let fills = matches!(own.repr, Repr::Scalar { bits, bytes } if bits == 8 * bytes);
            fills && own.size == own.store_size && own.size.is_power_of_two()
        });
        let Some(size) = size.and_then(|own| i64::try_from(own.size).ok()) else {
            return self.refuse(op, "elements of this type are not modelled");
        };
        let object = &mut self.program.objects[pointer.object];
        if types::is_pointer(ctx, object.ty) {
            object.ty = ty;
            if let Some(bytes) = object.sizes[0].as_ref().and_then(Form::as_constant) {
                object.sizes = vec![Some(Form::constant(bytes / size))];
            }
        }
        if object.ty != ty {
            return self.refuse(op, "the buffer is accessed with elements of two types");
        }
        Ok(size)
    }

    /// Returns what an access promises; refuses what one of the other program may not promise.
    fn promised(
        &mut self,
        pointer: &Pointer,
        ty: Type,
        size: i64,
        writes: bool,
        scope: ScopeId,
        op: OpRef<'b>,
    ) -> Read<'b, Promise> {
        let ctx = op.ctx();
        let own = &self.program.objects[pointer.object];
        let (key, made) = (own.key, own.made.0);
        let natural = Layout::of(ctx, ty, &self.target).map_or(1, |own| own.align);
        let said = |op: OpRef<'_>| {
            op.attr("alignment").and_then(|attr| attr.as_int(ctx)).and_then(|own| u64::try_from(own).ok())
        };
        let alignment = said(op).unwrap_or(natural);
        let mut attributes = Vec::new();
        for (name, attr) in [op.properties(), op.attributes()].iter().flat_map(|dict| dict.entries(ctx)) {
            let name = ctx.str(*name);
            if !OWN_ATTRIBUTES.contains(&name) {
                attributes.push(format!("{name} = {}", metadata::resolved(self.module, *attr)));
            }
        }
        let is_private = attributes.iter().any(|text| text.contains("distinct") || text.contains('!'));
        let is_of_value =
            attributes.iter().any(|text| VALUE_PROMISES.iter().any(|promise| text.contains(promise)));
        let (is_plain, is_inside) = (pointer.is_plain, !pointer.between.is_empty());
        let promise = Promise { alignment, attributes, is_private, is_of_value, is_plain, is_inside };
        if self.is_original {
            return Ok(promise);
        }
        if let ObjectKey::Global(name) = key
            && writes
            && loomir_ir::symbols::lookup(self.module, ctx.str(name))
                .is_none_or(|global| self.module.op_ref(global).attr("constant").is_some())
        {
            return self.refuse(op, "a constant global is written");
        }
        if matches!(key, ObjectKey::Allocation(_)) {
            let inner = made.attr("elem_type").and_then(|attr| attr.as_type(ctx));
            let inner =
                inner.and_then(|ty| Layout::of(ctx, ty, &self.target).ok()).map_or(1, |own| own.align);
            let is_kept = alignment <= said(made).unwrap_or(inner)
                && i64::try_from(alignment).is_ok_and(|own| own <= size)
                && promise.attributes.is_empty();
            if !is_kept {
                return self.refuse(op, "an alignment or other promise of the access is not known to hold");
            }
        }
        for between in &pointer.between {
            let room = pointer.offset.minus(between);
            let within = |me: &mut Self, sign: i64| {
                let (inner, room) = (between.times(sign), room.as_ref().and_then(|room| room.times(sign)));
                inner.zip(room).is_some_and(|(inner, room)| {
                    !me.may_leave(&inner, scope, NATURAL) && !me.may_leave(&room, scope, NATURAL)
                })
            };
            let is_affine = pointer.others.is_empty();
            let is_start = between.as_constant() == Some(0) || is_affine && *between == pointer.offset;
            if !is_start && !(is_affine && (within(self, 1) || within(self, -1))) {
                return self.refuse(op, "a pointer on the way is not known to be within its object");
            }
        }
        Ok(promise)
    }

    /// True for the type of a buffer; elements behind pointers have a type without a shape.
    pub(in super::super) fn is_shaped(&self, ty: Type) -> bool {
        ty.shape(self.body().ctx()).is_some()
    }

    /// Adds a load of any element behind a pointer.
    pub(in super::super) fn final_element(
        &mut self,
        object: ObjectId,
        function: OpRef<'b>,
    ) -> Read<'b, TermId> {
        let around = self.enclosed(vec![Form::default()], vec![Vec::new()], 1, 0, function)?;
        let scope = self.program.loops[around].inside;
        let view = View {
            object,
            dims: Vec::new(),
            sizes: Vec::new(),
            origin: Some(Form::dim(0)),
            dropped: Vec::new(),
        };
        let ty = self.program.objects[object].ty;
        let load = self.load(&view, Vec::new(), scope, function, ty);
        self.make_virtual(load);
        debug_assert!(matches!(self.program.terms[load].kind, Kind::Load(_)));
        Ok(load)
    }
}
