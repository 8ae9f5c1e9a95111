//! Buffers whose elements are numbered in one row.
//!
//! `memref.reinterpret_cast` shows a buffer with other extents, so two subscripts may name one
//! element. All accesses of such a buffer, in both programs, are therefore rewritten to the number
//! of the element in memory. Arguments whose strides let rows overlap are treated alike.
//!
//! An access keeps the subscripts of its view beside the number ([`Access::inside`]): each has to
//! stay within its own extent.

use loomir_ir::{DYNAMIC, Type};

use super::form::Form;
use super::model::{Access, Object, Program};

/// The place of a buffer's elements in memory, all of it constant.
pub(super) struct Layout {
    offset: i64,
    strides: Vec<i64>,
    /// One more than the greatest number of an element.
    pub(super) total: i64,
    /// True if two elements of the type may be one in memory.
    overlaps: bool,
}

/// Returns the layout of a type whose extents, strides and offset are constants.
pub(super) fn layout(ctx: &loomir_ir::Context, ty: Type) -> Option<Layout> {
    let (strides, offset) = ty.strides_and_offset(ctx)?;
    let shape = ty.shape(ctx)?;
    if strides.iter().chain(shape).chain([&offset]).any(|number| *number == DYNAMIC || *number < 0) {
        return None;
    }
    let total = span(offset, shape, &strides)?;
    let mut sorted: Vec<(i64, i64)> = strides.iter().copied().zip(shape.iter().copied()).collect();
    sorted.sort_unstable();
    let (mut reach, mut overlaps) = (0i64, false);
    for (stride, size) in sorted.into_iter().filter(|(_, size)| *size > 1) {
        overlaps |= stride <= reach;
        reach = reach.checked_add(stride.checked_mul(size - 1)?)?;
    }
    Some(Layout { offset, strides, total, overlaps })
}

/// Returns one more than the greatest number of an element; `None` if there is no element.
pub(super) fn span(offset: i64, sizes: &[i64], strides: &[i64]) -> Option<i64> {
    let mut last = offset;
    for (size, stride) in sizes.iter().zip(strides) {
        if *size < 1 || *stride < 0 {
            return None;
        }
        last = last.checked_add(stride.checked_mul(size - 1)?)?;
    }
    last.checked_add(1)
}

/// Numbers the elements of all buffers that either program shows with other extents.
///
/// Returns false if a number would be too large.
pub(super) fn number_elements(programs: &mut [Program<'_>; 2]) -> bool {
    let ctx = programs[0].body.ctx();
    let is_local = |object: &Object<'_>| !object.is_visible();
    let overlaps = |object: &Object<'_>| layout(ctx, object.ty).is_some_and(|layout| layout.overlaps);
    let mut keys = Vec::new();
    for (side, program) in programs.iter().enumerate() {
        for object in program.objects.iter().filter(|object| object.is_linear || overlaps(object)) {
            // Allocations are known to their own program only.
            keys.push((is_local(object).then_some(side), object.key));
        }
    }
    for (side, program) in programs.iter_mut().enumerate() {
        for index in 0..program.objects.len() {
            let object = &mut program.objects[index];
            if !keys.contains(&(is_local(object).then_some(side), object.key)) {
                continue;
            }
            let Some(layout) = layout(ctx, object.ty) else { return false };
            object.is_linear = true;
            let (depth, sizes) = (object.depth, object.sizes.clone());
            object.sizes = vec![Some(Form::constant(layout.total))];
            let accesses = program.accesses.iter_mut().filter(|access| access.object == index);
            for access in accesses.filter(|access| access.origin.is_none()) {
                if !renumbered(access, depth, &sizes, &layout) {
                    return false;
                }
            }
        }
    }
    true
}

/// Rewrites an access that has a subscript for each dimension of its buffer.
fn renumbered(access: &mut Access<'_>, depth: usize, sizes: &[Option<Form>], layout: &Layout) -> bool {
    let mut origin = Form::constant(layout.offset);
    for ((base, step), stride) in access.axes.iter_mut().zip(&layout.strides) {
        let (Some(moved), Some(wide)) = (base.times(*stride), step.checked_mul(*stride)) else {
            return false;
        };
        let Some(sum) = origin.plus(&moved) else { return false };
        (origin, *base, *step) = (sum, Form::default(), wide);
    }
    if let Some(element) = &mut access.element {
        let mut number = Form::constant(layout.offset);
        for ((index, stride), size) in element[depth..].iter().zip(&layout.strides).zip(sizes) {
            access.inside.push((index.clone(), size.clone()));
            match index.times(*stride).and_then(|index| number.plus(&index)) {
                Some(sum) => number = sum,
                None => return false,
            }
        }
        element.truncate(depth);
        element.push(number);
    }
    access.origin = Some(origin);
    true
}
