//! Operations of `memref` other than loads and stores of one element.

use loomir_ir::{DYNAMIC, OpRef, Type};

use super::super::form::{Constraint, Form};
use super::super::linear;
use super::super::model::{Free, Kind, ObjectKey, ScopeId};
use super::{Binding, Read, Reader, View, promises};

impl<'b> Reader<'b, '_> {
    pub(super) fn buffer_operation(&mut self, op: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        match op.name() {
            "memref.alloc" | "memref.alloca" => self.allocation(op, scope),
            "memref.dealloc" => self.free(op, scope),
            "memref.get_global" => self.global(op),
            "memref.dim" => self.extent(op, scope),
            "memref.cast" => self.cast(op),
            "memref.subview" => self.subview(op, scope),
            "memref.reinterpret_cast" => self.reinterpretation(op),
            "memref.copy" => self.copy(op, scope),
            "memref.extract_aligned_pointer_as_index" => self.address(op, scope),
            name => self.refuse(op, format!("'{name}' is not modelled")),
        }
    }

    fn allocation(&mut self, op: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        let ty = op.result_type(0);
        let shape = ty.shape(op.ctx()).unwrap_or_default().to_vec();
        let mut dynamic = op.operand_group("dynamicSizes").into_iter();
        let sizes: Vec<Option<Form>> = shape
            .iter()
            .map(|size| match *size {
                DYNAMIC => dynamic.next().and_then(|value| self.form(value).cloned()),
                size => Some(Form::constant(size)),
            })
            .collect();
        if !self.is_original && sizes.iter().flatten().any(|size| self.is_poisoned(size)) {
            return self.refuse(op, "the size of the buffer may be poison");
        }
        let key = ObjectKey::Allocation(self.allocations);
        self.allocations += 1;
        let view = self.new_object(key, ty, (op, scope), sizes, true);
        self.bindings[op.result(0).index()] = Binding::View(view);
        Ok(())
    }

    fn free(&mut self, op: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        let view = self.view(op.operand(0), op)?;
        if self.program.objects[view.object].is_visible() {
            return self.refuse(op, "the function frees a buffer of its caller");
        }
        let is_heap = self.program.objects[view.object].made.0.name() == "memref.alloc";
        if !(self.is_original || is_heap && self.is_whole(&view)) {
            return self.refuse(op, "what is freed is not known to be a whole buffer of 'memref.alloc'");
        }
        if !self.scope(scope).guards.is_empty() {
            return self.refuse(op, "a buffer is freed under a condition that is not affine");
        }
        let order = self.next_order();
        self.program.frees.push(Free { object: view.object, scope, order, op });
        Ok(())
    }

    fn global(&mut self, op: OpRef<'b>) -> Read<'b, ()> {
        let name = op.attr("name").and_then(|attr| attr.as_flat_symbol(op.ctx()));
        let Some(name) = name else { return self.refuse(op, "the global is not known") };
        let key = ObjectKey::Global(name);
        let ty = op.result_type(0);
        let view = match self.program.object(key) {
            Some(object) => {
                let sizes = self.program.objects[object].sizes.clone();
                let dims = sizes.iter().map(|_| (Form::default(), 1)).collect();
                View { object, dims, sizes, origin: None, dropped: Vec::new() }
            }
            None => {
                let shape = ty.shape(op.ctx()).unwrap_or_default();
                let sizes = shape.iter().map(|size| Some(Form::constant(*size))).collect();
                self.new_object(key, ty, (op, 0), sizes, false)
            }
        };
        self.bindings[op.result(0).index()] = Binding::View(view);
        Ok(())
    }

    fn extent(&mut self, op: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        let view = self.view(op.operand(0), op)?;
        let dim = self.form(op.operand(1)).and_then(Form::as_constant);
        let size = dim.and_then(|dim| view.extents().get(usize::try_from(dim).ok()?)?.clone());
        let Some(size) = size else { return self.refuse(op, "the extent of the buffer is not known") };
        let term = self.term(Kind::Number(size), scope, Type::INDEX, op);
        self.bind(op.result(0), term);
        Ok(())
    }

    fn cast(&mut self, op: OpRef<'b>) -> Read<'b, ()> {
        let view = self.view(op.operand(0), op)?;
        if op.result_type(0).shape(op.ctx()).map(<[i64]>::len) != Some(view.shown().count()) {
            return self.refuse(op, "the cast changes the rank of the buffer");
        }
        // A cast to other extents is undefined, so the other program must not have a new one.
        let shape = op.result_type(0).shape(op.ctx()).unwrap_or_default();
        let is_kept = shape.iter().zip(&view.extents()).all(|(size, known)| {
            *size == DYNAMIC || known.as_ref().and_then(Form::as_constant) == Some(*size)
        });
        let is_kept = is_kept && promises::keeps_layout(op);
        if !self.is_original && !is_kept {
            return self.refuse(op, "the extents or the layout that the cast promises are not known to hold");
        }
        self.bindings[op.result(0).index()] = Binding::View(view);
        Ok(())
    }

    fn subview(&mut self, op: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        let view = self.view(op.operand(0), op)?;
        let numbers = |name: &str, group: &str| -> Option<Vec<Option<Form>>> {
            let mut dynamic = op.operand_group(group).into_iter();
            let numbers = op.attr(name)?.as_dense_ints(op.ctx())?;
            let one = |number: i64| match number {
                DYNAMIC => dynamic.next().and_then(|value| self.form(value).cloned()),
                number => Some(Form::constant(number)),
            };
            Some(numbers.into_iter().map(one).collect())
        };
        let offsets = numbers("static_offsets", "offsets").unwrap_or_default();
        let strides = numbers("static_strides", "strides").unwrap_or_default();
        let sizes = numbers("static_sizes", "sizes").unwrap_or_default();
        let shown: Vec<usize> = view.shown().collect();
        if [offsets.len(), strides.len(), sizes.len()] != [shown.len(); 3] {
            return self.refuse(op, "the subview is malformed");
        }
        let Some(dropped) = dropped(op, &sizes) else {
            return self.refuse(op, "it is open which dimensions the subview drops");
        };
        let mut part = view.clone();
        part.dropped.extend(dropped.into_iter().map(|own| shown[own]));
        part.dropped.sort_unstable();
        for (((dim, offset), stride), size) in shown.into_iter().zip(offsets).zip(strides).zip(sizes) {
            let (base, step) = &view.dims[dim];
            let moved = offset.and_then(|offset| {
                let stride = stride.and_then(|stride| stride.as_constant())?;
                Some((offset.times(*step)?.plus(base)?, stride.checked_mul(*step)?))
            });
            match moved {
                Some(moved) => (part.dims[dim], part.sizes[dim]) = (moved, size),
                None => return self.refuse(op, "the offsets of the subview are not affine"),
            }
        }
        self.is_part(&part, &view, op, scope)?;
        self.bindings[op.result(0).index()] = Binding::View(part);
        Ok(())
    }

    /// Reads a cast to constant extents, whose elements are numbered from the start of the object.
    fn reinterpretation(&mut self, op: OpRef<'b>) -> Read<'b, ()> {
        let view = self.view(op.operand(0), op)?;
        let numbers = |name: &str| -> Option<Vec<i64>> {
            let numbers = op.attr(name)?.as_dense_ints(op.ctx())?;
            numbers.iter().all(|number| *number >= 0).then_some(numbers)
        };
        let all = ["static_offsets", "static_sizes", "static_strides"].map(numbers);
        let [Some(offsets), Some(sizes), Some(strides)] = all else {
            return self.refuse(op, "the offset, sizes or strides of the cast are not constants");
        };
        let ([offset], true) = (&offsets[..], sizes.len() == strides.len()) else {
            return self.refuse(op, "the cast is malformed");
        };
        let object = &mut self.program.objects[view.object];
        let Some(layout) = linear::layout(op.ctx(), object.ty) else {
            return self.refuse(op, "the cast is of a buffer whose layout is not constant");
        };
        object.is_linear = true;
        if linear::span(*offset, &sizes, &strides).is_none_or(|span| span > layout.total) {
            return self.refuse(op, "the cast is not known to stay within the buffer");
        }
        let dims = strides.into_iter().map(|stride| (Form::default(), stride)).collect();
        let sizes = sizes.into_iter().map(|size| Some(Form::constant(size))).collect();
        let origin = Some(Form::constant(*offset));
        let view = View { object: view.object, dims, sizes, origin, dropped: Vec::new() };
        self.bindings[op.result(0).index()] = Binding::View(view);
        Ok(())
    }

    /// Reads a copy as a loop nest over all elements.
    fn copy(&mut self, op: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        let (from, to) = (self.view(op.operand(0), op)?, self.view(op.operand(1), op)?);
        self.copies(&from, &to, op, scope)?;
        let mut inside = scope;
        let first = self.scope(scope).depth();
        let extents = [from.extents(), to.extents()];
        for (own, other) in extents[0].iter().zip(&extents[1]) {
            let Some(size) = own.clone().or_else(|| other.clone()) else {
                return self.refuse(op, "the extent of the buffer copied is not known");
            };
            inside = self.elements(size, inside, op)?;
        }
        let subscripts: Vec<usize> = (0..extents[0].len())
            .map(|dim| self.term(Kind::Number(Form::dim(first + dim)), inside, Type::INDEX, op))
            .collect();
        let [read, written] = [&from, &to].map(|view| self.of_buffer(view, subscripts.clone(), inside, op));
        let Some(element) = op.operand_type(0).element(op.ctx()) else {
            return self.refuse(op, "the buffer copied has no elements");
        };
        let value = self.load(&from, read, inside, op, element);
        self.store(&to, written, value, inside, op);
        Ok(())
    }

    /// Makes a loop over `0..size`.
    pub(super) fn elements(&mut self, size: Form, scope: ScopeId, op: OpRef<'b>) -> Read<'b, ScopeId> {
        let variable = Form::dim(self.scope(scope).depth());
        let below = size.minus(&variable).and_then(|rest| rest.offset(-1)).map(Constraint::at_least_zero);
        let Some(below) = below else { return self.refuse(op, "the extent is too large") };
        let space = vec![vec![Constraint::at_least_zero(variable), below]];
        let around = self.enclosed(vec![Form::default()], space, 1, scope, op)?;
        Ok(self.program.loops[around].inside)
    }

    fn address(&mut self, op: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        let view = self.view(op.operand(0), op)?;
        let ObjectKey::Argument(index) = self.program.objects[view.object].key else {
            return self.refuse(op, "the address of a buffer of the function is used as a number");
        };
        let term = self.term(Kind::Address(index), scope, Type::INDEX, op);
        self.bind(op.result(0), term);
        Ok(())
    }
}

/// Returns the dimensions of size one that a subview drops, counted among those of its operand;
/// `None` if it may be one of several.
fn dropped(op: OpRef<'_>, sizes: &[Option<Form>]) -> Option<Vec<usize>> {
    let rank = op.result_type(0).shape(op.ctx())?.len();
    let is_one = |size: &Option<Form>| size.as_ref().and_then(Form::as_constant) == Some(1);
    let ones: Vec<usize> = (0..sizes.len()).filter(|dim| is_one(&sizes[*dim])).collect();
    match sizes.len().checked_sub(rank)? {
        0 => Some(Vec::new()),
        count => (count == ones.len()).then_some(ones),
    }
}
