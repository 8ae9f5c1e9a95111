//! Constants: converts attributes to data, and to bytes of memory.

use loomir_ir::attributes::AttrKind;
use loomir_ir::{Attr, Context, Type, TypeKind};

use super::datum::Datum;
use super::elementwise::bit_width;
use super::fault::Fault;
use super::layout::{DataLayout, Layout, Repr, type_text};

/// The maximal number of elements of a constant.
const MAX_ELEMENTS: u64 = 1 << 24;

/// Returns the value of an attribute as a constant of a type: a number, or a vector or array of
/// them.
pub fn constant(ctx: &Context, attr: Attr, ty: Type) -> Result<Datum, Box<Fault>> {
    match attr.kind(ctx) {
        AttrKind::Integer { value, .. } => Ok(Datum::bits(bit_width(ctx, ty)?, *value as u128)),
        AttrKind::Float { bits, .. } => Ok(Datum::bits(bit_width(ctx, ty)?, *bits)),
        AttrKind::DenseElements { .. } => {
            let elements = dense_elements(ctx, attr)?;
            Ok(nest(elements, &dimensions(ctx, ty)))
        }
        AttrKind::Array(parts) => {
            let part_type = |i: usize| part_type(ctx, ty, i).ok_or_else(|| unknown(ctx, ty));
            let parts = parts.iter().enumerate().map(|(i, part)| constant(ctx, *part, part_type(i)?));
            Ok(Datum::aggregate(parts.collect::<Result<_, _>>()?))
        }
        AttrKind::String(bytes) => {
            Ok(Datum::aggregate(bytes.iter().map(|b| Datum::Bits((*b).into())).collect()))
        }
        _ => Err(unknown(ctx, ty)),
    }
}

fn unknown(ctx: &Context, ty: Type) -> Box<Fault> {
    Fault::unsupported(format!("a constant of type {} in this form is not known", type_text(ctx, ty)))
}

/// Returns the elements of a dense attribute in row-major order. Splats are expanded.
pub fn dense_elements(ctx: &Context, attr: Attr) -> Result<Vec<Datum>, Box<Fault>> {
    let AttrKind::DenseElements { ty, splat, bytes } = attr.kind(ctx) else {
        return Err(Fault::unsupported("elements that are not dense"));
    };
    let element = ty.element(ctx).ok_or_else(|| unknown(ctx, *ty))?;
    let count = ty
        .shape(ctx)
        .and_then(|shape| shape.iter().try_fold(1u64, |n, d| n.checked_mul(u64::try_from(*d).ok()?)));
    let count = count.filter(|n| *n <= MAX_ELEMENTS);
    let count = count
        .ok_or_else(|| Fault::unsupported(format!("a constant of more than {MAX_ELEMENTS} elements")))?
        as usize;
    let (element, per_element) = match element.kind(ctx) {
        TypeKind::Complex(part) => (*part, 2),
        _ => (element, 1),
    };
    let width = bit_width(ctx, element)?;
    let step = width.div_ceil(8) as usize;
    let number = |chunk: &[u8]| {
        let mut wide = [0; 16];
        wide[..chunk.len()].copy_from_slice(chunk);
        Datum::bits(width, u128::from_le_bytes(wide))
    };
    let numbers: Vec<Datum> = bytes.chunks_exact(step).map(number).collect();
    let values: Vec<Datum> = match per_element {
        1 => numbers,
        _ => numbers.chunks_exact(2).map(|pair| Datum::aggregate(pair.to_vec())).collect(),
    };
    match values.as_slice() {
        [one] if *splat => Ok(vec![one.clone(); count]),
        all if all.len() == count => Ok(values),
        _ => Err(Fault::unsupported("a dense constant of the wrong length")),
    }
}

/// Returns the bytes of a global of memref or array type with a dense initial value.
pub fn element_bytes(elements: &[Datum], layout: &Layout) -> Result<Vec<u8>, Box<Fault>> {
    let mut bytes = Vec::with_capacity(elements.len().saturating_mul(layout.size as usize));
    for element in elements {
        let end = bytes.len() + layout.size as usize;
        put(&mut bytes, element, &layout.repr)?;
        bytes.resize(end, 0);
    }
    Ok(bytes)
}

/// Recursion is bounded by the nesting of the type.
fn put(bytes: &mut Vec<u8>, datum: &Datum, repr: &Repr) -> Result<(), Box<Fault>> {
    match (repr, datum) {
        (Repr::Scalar { bytes: count, .. }, _) if datum.as_bits().is_some() => {
            bytes.extend(datum.as_bits().unwrap_or(0).to_le_bytes().iter().take(*count as usize));
            Ok(())
        }
        (Repr::Sequence { count, stride, element }, Datum::Aggregate(parts))
            if *count == parts.len() as u64 =>
        {
            let start = bytes.len();
            parts.iter().zip(1u64..).try_for_each(|(part, i)| {
                put(bytes, part, element)?;
                bytes.resize(start + (i * stride) as usize, 0);
                Ok(())
            })
        }
        (Repr::Packed { count, bits }, Datum::Aggregate(parts)) if *count == parts.len() as u64 => {
            bytes.extend(super::packed::pack(*bits, parts)?.into_iter().map(Option::unwrap_or_default));
            Ok(())
        }
        (Repr::Struct(fields), Datum::Aggregate(parts)) if fields.len() == parts.len() => {
            let start = bytes.len();
            fields.iter().zip(parts.iter()).try_for_each(|((offset, repr), part)| {
                bytes.resize(start + *offset as usize, 0);
                put(bytes, part, repr)
            })
        }
        _ => Err(Fault::unsupported(format!("{} as a constant in memory", datum.kind()))),
    }
}

/// Returns the sizes of the dimensions over which a value of this type nests. Vectors are flat,
/// arrays nest.
fn dimensions(ctx: &Context, ty: Type) -> Vec<usize> {
    let mut sizes = Vec::new();
    let mut current = ty;
    while let Some([count, element]) = current.dialect_params(ctx, "llvm.array") {
        sizes.push(count.as_int(ctx).and_then(|n| usize::try_from(n).ok()).unwrap_or(0));
        match element.as_type(ctx) {
            Some(element) => current = element,
            None => break,
        }
    }
    if let Some(shape) = current.shape(ctx) {
        sizes.push(shape.iter().map(|d| usize::try_from(*d).unwrap_or(0)).product());
    }
    sizes
}

/// Converts row-major elements to nested aggregates.
fn nest(mut elements: Vec<Datum>, sizes: &[usize]) -> Datum {
    for size in sizes.iter().skip(1).rev() {
        elements = elements.chunks((*size).max(1)).map(|part| Datum::aggregate(part.to_vec())).collect();
    }
    Datum::aggregate(elements)
}

/// Returns the type of part `index` of an array, struct or complex type.
pub fn part_type(ctx: &Context, ty: Type, index: usize) -> Option<Type> {
    match ty.kind(ctx) {
        TypeKind::Complex(element) => Some(*element),
        TypeKind::Vector { element, .. } => Some(*element),
        TypeKind::Dialect { name, params } => match ctx.str(*name) {
            "llvm.array" => params.get(1)?.as_type(ctx),
            "llvm.struct" => super::layout::struct_fields(ctx, params)?.0.get(index).copied(),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the representation of values of a type. Fails for types too large to be values.
pub fn value_repr(ctx: &Context, ty: Type) -> Result<Repr, Box<Fault>> {
    let layout = Layout::of(ctx, ty, &DataLayout::default())?;
    if layout.size > MAX_ELEMENTS {
        return Err(Fault::unsupported(format!("a value of {} bytes", layout.size)));
    }
    Ok(layout.repr)
}

/// Returns zero of a type with a layout: every number and pointer inside is zero.
pub fn zero(repr: &Repr) -> Datum {
    match repr {
        Repr::Scalar { bits, .. } => Datum::bits(*bits, 0),
        Repr::Pointer { .. } => super::datum::Pointer::NULL.into(),
        Repr::Sequence { count, element, .. } => {
            Datum::aggregate(vec![zero(element); (*count).min(MAX_ELEMENTS) as usize])
        }
        Repr::Packed { count, bits } => {
            Datum::aggregate(vec![Datum::bits(*bits, 0); (*count).min(MAX_ELEMENTS) as usize])
        }
        Repr::Struct(fields) => Datum::aggregate(fields.iter().map(|(_, repr)| zero(repr)).collect()),
    }
}
