//! Accesses, and operations on buffers.

use std::rc::Rc;

use loomir_dialects::interfaces::Access;
use loomir_ir::{DYNAMIC, OpRef, symbols};

use super::machine::{Binding, Machine, View};
use super::memory::Scalar;
use super::race::Touch;
use super::store::{ANYTHING, FALSE, Key, Node, Run, TRUE, TermId, refused};

/// The most elements that one access may touch.
const MAX_ALTERNATIVES: usize = 128;
const OUTSIDE: &str = "it may access an element outside of the buffer";

impl<'b> Machine<'b, '_> {
    pub(super) fn element_access(&mut self, op: OpRef<'b>, access: &Access) -> Run<()> {
        let view = self.view(access.memref)?;
        let data = access.subscripts.map.data(op.ctx());
        let (subscripts, poison) =
            self.applied(&data.results, data.dims as usize, &access.subscripts.operands)?;
        self.undefined_if(poison, "a subscript may be poison")?;
        self.is_alive(view.buffer)?;
        if !self.is_original && self.claims_alignment(op, view.buffer) {
            return refused("the access claims an alignment that is not known");
        }
        if subscripts.len() != view.sizes.len() {
            return refused("the access has other subscripts than its buffer dimensions");
        }
        let elements = self.alternatives(&view, &subscripts)?;
        match access.stored {
            None => {
                let mut value = Scalar::plain(ANYTHING);
                for (condition, element) in elements {
                    let own = self.load(view.buffer, element, condition)?;
                    value.term = self.store.ite(condition, own.term, value.term)?;
                    value.poison = self.store.ite(condition, own.poison, value.poison)?;
                }
                let binding = self.loaded(value)?;
                self.bind(op.result(0), binding);
            }
            Some(stored) => {
                let value = self.scalar(stored)?;
                self.is_writable(view.buffer)?;
                for (condition, element) in elements {
                    self.write(view.buffer, element, value, condition)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the meaning of an element that was loaded, which perhaps was never written.
    ///
    /// The interpreter calls such a load undefined, and LLVM gives it any bits. So the original is
    /// not held to be undefined there, but no use of the bits is understood. The other program is.
    fn loaded(&mut self, value: Scalar) -> Run<Binding> {
        let unwritten = self.store.unwritten(value.term)?;
        if self.is_original && self.store.and(self.guard, unwritten)? != FALSE {
            return Ok(Binding::Unknown);
        }
        self.undefined_if(unwritten, "it may load an element that was never written")?;
        Ok(Binding::Scalar(value))
    }

    /// Returns the elements that subscripts name, each with its condition.
    fn alternatives(&mut self, view: &View, subscripts: &[TermId]) -> Run<Vec<(TermId, usize)>> {
        let mut found = vec![(TRUE, view.offset)];
        for (dim, subscript) in subscripts.iter().enumerate() {
            let (size, stride) = (view.sizes[dim], view.strides[dim]);
            let [zero, end] = [self.store.int(64, 0)?, self.store.int(64, size)?];
            let below = self.store.less(false, 64, [*subscript, zero])?;
            let within = self.store.less(false, 64, [*subscript, end])?;
            let numbers: Vec<(TermId, i64)> = match self.store.number(*subscript)? {
                Some(value) if (0..size).contains(&value) => vec![(TRUE, value)],
                Some(_) => Vec::new(),
                None if below == TRUE || within == FALSE => Vec::new(),
                None => {
                    if size as usize > MAX_ALTERNATIVES {
                        return refused("a subscript depends on values, in a large buffer");
                    }
                    let mut numbers = Vec::new();
                    for number in 0..size {
                        let own = self.store.int(64, number)?;
                        numbers.push((self.store.equal(64, [*subscript, own])?, number));
                    }
                    numbers
                }
            };
            let mut inside = FALSE;
            for (condition, _) in &numbers {
                inside = self.store.or(*condition, inside)?;
            }
            let outside = self.store.not(inside)?;
            self.undefined_if(outside, OUTSIDE)?;
            if found.len() * numbers.len() > MAX_ALTERNATIVES {
                return refused("subscripts depend on too many values");
            }
            let mut next = Vec::new();
            for (condition, offset) in &found {
                for (own, number) in &numbers {
                    let both = self.store.and(*condition, *own)?;
                    if both != FALSE {
                        next.push((both, offset + number * stride));
                    }
                }
            }
            found = next;
        }
        Ok(found.into_iter().map(|(condition, element)| (condition, element as usize)).collect())
    }

    fn load(&mut self, buffer: usize, element: usize, condition: TermId) -> Run<Scalar> {
        let condition = self.store.and(self.guard, condition)?;
        self.touch(buffer, element, false, condition)?;
        self.memory.load(self.store, buffer, element)
    }

    fn write(&mut self, buffer: usize, element: usize, value: Scalar, condition: TermId) -> Run<()> {
        let condition = self.store.and(self.guard, condition)?;
        self.touch(buffer, element, true, condition)?;
        self.memory.store(self.store, buffer, element, value, condition)
    }

    /// Records an access of a parallel loop.
    fn touch(&mut self, buffer: usize, element: usize, writes: bool, condition: TermId) -> Run<()> {
        self.store.spend(1)?;
        let Some(mut race) = self.race.take() else { return Ok(()) };
        let memory = &mut self.memory;
        self.store.spend(memory.buffers.len() / 8)?;
        let mut meets = Vec::new();
        for other in 0..memory.buffers.len() {
            if memory.may_meet(self.store, buffer, other) {
                meets.push((other, memory.buffers[other].key));
            }
        }
        let key = memory.buffers[buffer].key;
        let races = race.touch(self.store, &Touch { buffer, element, key, writes, condition }, &meets)?;
        self.race = Some(race);
        self.fault_if(races, "iterations of a parallel loop may access one element", true)
    }

    fn is_alive(&mut self, buffer: usize) -> Run<()> {
        let freed = self.memory.buffers[buffer].freed;
        self.undefined_if(freed, "the buffer accessed may have been freed")
    }

    /// Refuses writes to a constant of the other program.
    fn is_writable(&self, buffer: usize) -> Run<()> {
        let Key::Global(global) = self.memory.buffers[buffer].key else { return Ok(()) };
        let name = self.module.ctx().str(self.store.globals[global]);
        let is_constant = symbols::lookup(self.module, name)
            .is_none_or(|global| self.module.op_ref(global).attr("constant").is_some());
        if is_constant && !self.is_original { refused("a constant global is written") } else { Ok(()) }
    }

    /// True if an access promises more than elements of its type have.
    fn claims_alignment(&self, op: OpRef<'_>, buffer: usize) -> bool {
        let claimed = op.attr("alignment").and_then(|attr| attr.as_int(op.ctx())).unwrap_or(0);
        let bytes = super::bytes_of(op.ctx(), self.memory.buffers[buffer].ty).unwrap_or(1);
        claimed > bytes
    }

    pub(super) fn buffer_operation(&mut self, op: OpRef<'b>) -> Run<()> {
        match op.name() {
            "memref.alloc" | "memref.alloca" => self.allocation(op),
            "memref.dealloc" => self.free(op),
            "memref.get_global" => self.global(op),
            "memref.dim" => self.extent(op),
            "memref.cast" => self.cast_view(op),
            "memref.subview" => self.subview(op),
            "memref.reinterpret_cast" => self.reinterpretation(op),
            "memref.copy" => self.copy(op),
            "memref.extract_aligned_pointer_as_index" => self.address(op),
            name => refused(format!("'{name}' is not executed with open values")),
        }
    }

    fn bind_view(&mut self, op: OpRef<'b>, view: View) {
        self.bind(op.result(0), Binding::View(Rc::new(view)));
    }

    fn allocation(&mut self, op: OpRef<'b>) -> Run<()> {
        let ctx = op.ctx();
        let ty = op.result_type(0);
        let is_plain = matches!(ty.kind(ctx), loomir_ir::TypeKind::MemRef { layout: None, .. });
        let (Some(shape), Some(element), true) = (ty.shape(ctx), ty.element(ctx), is_plain) else {
            return refused("a buffer with a layout is allocated");
        };
        let sizes = self.numbers(op, shape, "dynamicSizes")?;
        if sizes.iter().any(|size| *size < 0) {
            self.undefined_if(TRUE, "the size of a buffer is negative")?;
            return refused("the size of a buffer is negative");
        }
        let key = Key::Own(self.allocations);
        self.allocations += 1;
        self.store.spend(16)?;
        let buffer = self.memory.add(key, element, sizes, true)?;
        self.memory.buffers[buffer].is_heap = op.name() == "memref.alloc";
        let view = self.whole(buffer);
        self.bind_view(op, view);
        Ok(())
    }

    fn free(&mut self, op: OpRef<'b>) -> Run<()> {
        let view = self.view(op.operand(0))?;
        self.is_alive(view.buffer)?;
        if !self.memory.buffers[view.buffer].is_heap || *view != self.whole(view.buffer) {
            return refused("what is freed is not known to be a whole buffer of 'memref.alloc'");
        }
        // To free a buffer is an access to all of it.
        if self.race.is_some() {
            let count = view.sizes.iter().product::<i64>();
            (0..count).try_for_each(|element| self.touch(view.buffer, element as usize, true, self.guard))?;
        }
        let freed = self.memory.buffers[view.buffer].freed;
        self.memory.buffers[view.buffer].freed = self.store.or(self.guard, freed)?;
        Ok(())
    }

    fn global(&mut self, op: OpRef<'b>) -> Run<()> {
        let ctx = op.ctx();
        let name = op.attr("name").and_then(|attr| attr.as_flat_symbol(ctx));
        let ty = op.result_type(0);
        let is_plain = matches!(ty.kind(ctx), loomir_ir::TypeKind::MemRef { layout: None, .. });
        let (Some(name), Some(shape), Some(element), true) = (name, ty.shape(ctx), ty.element(ctx), is_plain)
        else {
            return refused("a global is not known");
        };
        let known = self.store.globals.iter().position(|own| *own == name);
        let index = known.unwrap_or_else(|| {
            self.store.globals.push(name);
            self.store.globals.len() - 1
        });
        let key = Key::Global(index);
        let buffer = match self.memory.find(key) {
            Some(buffer) => buffer,
            None => self.memory.add(key, element, shape.to_vec(), false)?,
        };
        let view = self.whole(buffer);
        self.bind_view(op, view);
        Ok(())
    }

    fn extent(&mut self, op: OpRef<'b>) -> Run<()> {
        let view = self.view(op.operand(0))?;
        let Scalar { term, poison } = self.scalar(op.operand(1))?;
        let dim = self.store.number(term)?.and_then(|dim| usize::try_from(dim).ok());
        let Some(size) = dim.and_then(|dim| view.sizes.get(dim)).filter(|_| poison == FALSE) else {
            return refused("the extent of a buffer is not known");
        };
        let size = self.store.int(64, *size)?;
        self.bind(op.result(0), Binding::Scalar(Scalar::plain(size)));
        Ok(())
    }

    fn cast_view(&mut self, op: OpRef<'b>) -> Run<()> {
        let view = self.view(op.operand(0))?;
        let ctx = op.ctx();
        let ty = op.result_type(0);
        let layout = ty.shape(ctx).zip(ty.strides_and_offset(ctx));
        let Some((shape, (strides, offset))) = layout.filter(|(shape, _)| shape.len() == view.sizes.len())
        else {
            return refused("a cast changes the rank or the layout of a buffer");
        };
        let is_kept = |(promised, own): (&i64, &i64)| *promised == DYNAMIC || promised == own;
        let holds = shape.iter().zip(&view.sizes).all(is_kept)
            && strides.iter().zip(&view.strides).all(is_kept)
            && is_kept((&offset, &view.offset));
        if !holds {
            return refused("a cast promises other extents or another layout");
        }
        self.bind(op.result(0), Binding::View(view));
        Ok(())
    }

    /// Returns numbers of an operation, each of which stands in a list or is an operand.
    fn numbers(&mut self, op: OpRef<'b>, list: &[i64], group: &str) -> Run<Vec<i64>> {
        let mut dynamic = op.operand_group(group).into_iter();
        let mut numbers = Vec::with_capacity(list.len());
        for number in list {
            if *number != DYNAMIC {
                numbers.push(*number);
                continue;
            }
            let Some(value) = dynamic.next() else { return refused("an operand is missing") };
            let Scalar { term, poison } = self.scalar(value)?;
            match self.store.number(term)?.filter(|_| poison == FALSE) {
                Some(number) => numbers.push(number),
                None => return refused("the size or place of a buffer is not known"),
            }
        }
        Ok(numbers)
    }

    fn attribute(&mut self, op: OpRef<'b>, name: &str, group: &str) -> Run<Vec<i64>> {
        let Some(list) = op.attr(name).and_then(|attr| attr.as_dense_ints(op.ctx())) else {
            return refused("a view is malformed");
        };
        self.numbers(op, &list, group)
    }

    fn subview(&mut self, op: OpRef<'b>) -> Run<()> {
        let view = self.view(op.operand(0))?;
        let offsets = self.attribute(op, "static_offsets", "offsets")?;
        let sizes = self.attribute(op, "static_sizes", "sizes")?;
        let strides = self.attribute(op, "static_strides", "strides")?;
        let Some(rank) = op.result_type(0).shape(op.ctx()).map(<[i64]>::len) else {
            return refused("a view is malformed");
        };
        if [offsets.len(), sizes.len(), strides.len()] != [view.sizes.len(); 3] {
            return refused("a view is malformed");
        }
        let ones = sizes.iter().filter(|size| **size == 1).count();
        let drops = sizes.len() - rank.min(sizes.len());
        if drops != 0 && drops != ones {
            return refused("it is open which dimensions a subview drops");
        }
        let mut part = View { buffer: view.buffer, offset: view.offset, sizes: vec![], strides: vec![] };
        for dim in 0..sizes.len() {
            let (offset, size, stride) = (offsets[dim], sizes[dim], strides[dim]);
            let last = (size - 1).checked_mul(stride).and_then(|span| span.checked_add(offset));
            if !(offset >= 0 && size > 0 && stride > 0 && last.is_some_and(|last| last < view.sizes[dim])) {
                return refused("a subview may go beyond its buffer");
            }
            part.offset += offset * view.strides[dim];
            if drops == 0 || size != 1 {
                part.sizes.push(size);
                part.strides.push(stride * view.strides[dim]);
            }
        }
        self.bind_view(op, part);
        Ok(())
    }

    fn reinterpretation(&mut self, op: OpRef<'b>) -> Run<()> {
        let view = self.view(op.operand(0))?;
        let offset = self.attribute(op, "static_offsets", "offsets")?;
        let sizes = self.attribute(op, "static_sizes", "sizes")?;
        let strides = self.attribute(op, "static_strides", "strides")?;
        let total: i64 = self.memory.buffers[view.buffer].sizes.iter().product();
        let ([offset], true) = (&offset[..], sizes.len() == strides.len()) else {
            return refused("a view is malformed");
        };
        let mut last = Some(*offset);
        for (size, stride) in sizes.iter().zip(&strides) {
            let is_natural = *offset >= 0 && *size > 0 && *stride >= 0;
            let span = (size - 1).checked_mul(*stride).filter(|_| is_natural);
            last = last.zip(span).and_then(|(last, span)| last.checked_add(span));
        }
        if last.is_none_or(|last| last >= total) {
            return refused("a cast is not known to stay within the buffer");
        }
        self.bind_view(op, View { buffer: view.buffer, offset: *offset, sizes, strides });
        Ok(())
    }

    /// Copies all elements at once.
    fn copy(&mut self, op: OpRef<'b>) -> Run<()> {
        let (from, to) = (self.view(op.operand(0))?, self.view(op.operand(1))?);
        self.is_alive(from.buffer)?;
        self.is_alive(to.buffer)?;
        if from.sizes != to.sizes {
            return refused("the extents of the buffers copied differ");
        }
        self.is_writable(to.buffer)?;
        // In a parallel loop even a copy onto itself writes what another iteration may write.
        if from == to && self.race.is_none() {
            return Ok(());
        }
        if from.buffer == to.buffer && from != to {
            return refused("the buffers of a copy may overlap");
        }
        if self.memory.may_meet(self.store, from.buffer, to.buffer) {
            let part = |view: &View| {
                let mut all = vec![view.offset];
                all.extend(view.sizes.iter().chain(&view.strides));
                (self.memory.buffers[view.buffer].key, all.into_boxed_slice())
            };
            let overlaps = self.store.truth(Node::Overlap([part(&from), part(&to)].into()))?;
            self.undefined_if(overlaps, "the buffers of a copy may overlap")?;
        }
        let mut places = vec![(from.offset, to.offset)];
        for dim in 0..from.sizes.len() {
            let step = |place: &(i64, i64)| {
                let (a, b) = *place;
                let (s, t) = (from.strides[dim], to.strides[dim]);
                (0..from.sizes[dim]).map(move |index| (a + index * s, b + index * t))
            };
            places = places.iter().flat_map(step).collect();
            self.store.spend(places.len())?;
        }
        let mut values = Vec::with_capacity(places.len());
        for (element, _) in &places {
            values.push(self.load(from.buffer, *element as usize, TRUE)?);
        }
        for ((_, element), value) in places.iter().zip(values) {
            self.write(to.buffer, *element as usize, value, TRUE)?;
        }
        Ok(())
    }

    fn address(&mut self, op: OpRef<'b>) -> Run<()> {
        let view = self.view(op.operand(0))?;
        let Key::Argument(index) = self.memory.buffers[view.buffer].key else {
            return refused("the address of a buffer of the function is used as a number");
        };
        let term = self.store.term(Node::Address(index))?;
        self.bind(op.result(0), Binding::Scalar(Scalar::plain(term)));
        Ok(())
    }
}
