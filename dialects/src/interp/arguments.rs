//! Arguments of an entry: read from text, made into buffers of bytes.
//!
//! Nothing here knows the interpreter's state, so compiled code is called with the very same bytes.
//! [`Arguments::materialise`] makes the buffers. [`Arguments::flattened`] returns the scalars of
//! the calling convention.
//!
//! | text | means |
//! | --- | --- |
//! | `3`, `-1.5`, `true`, `0x7f800000` | a number, or every element of a buffer; hexadecimal digits are bits |
//! | `[1, 2.5, 3]`, `[[1, 2], [3, 4]]` | the elements, nested as the shape |
//! | `zeros` | zero |
//! | `iota`, `iota+N` | element `k`, in row-major order, is `k` or `N + k` |
//! | `random:SEED` | element `k` from the `k`-th number of [`SplitMix64`] |
//! | `@K`, `@K+N` | the buffer of argument `K`, `N` elements further; zeros follow its end |
//!
//! Each may be followed by `: type`, which gives sizes to a parameter without sizes: dynamic
//! dimensions, unranked memrefs, and the pointers and integers of a lowered memref in an
//! `llvm.func`.

use loomir_ir::types::DYNAMIC;
use loomir_ir::{Context, FloatKind, Type, TypeKind};

use super::datum::{Datum, Dim, MemRef, Pointer};
use super::elementwise::bit_width;
use super::fault::Fault;
use super::layout::{DataLayout, Layout, type_text};
use super::outcome::NumberKind;
use elements::{Elements, fill};

mod elements;
mod spec;

pub use elements::SplitMix64;
pub(super) use elements::{Leaf, leaves};
pub use spec::{ArgSpec, Source};

/// Arguments made real.
#[derive(Clone, PartialEq, Debug)]
pub struct Arguments {
    /// The buffers, each once.
    pub buffers: Vec<Buffer>,
    /// The arguments in order.
    pub arguments: Vec<Argument>,
    convention: Convention,
}

/// Bytes that arguments refer to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// Its first contents.
    pub bytes: Vec<u8>,
    /// Its alignment.
    pub align: u64,
}

/// One argument.
#[derive(Clone, PartialEq, Debug)]
pub enum Argument {
    /// A number.
    Scalar {
        /// Its type.
        ty: Type,
        /// Its bits.
        bits: u128,
        /// The kind of number that the elements are read as.
        kind: NumberKind,
    },
    /// A view of a buffer.
    View(View),
}

/// A view of a buffer as a memref. Offset, sizes and strides count elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    /// The index of the buffer.
    pub buffer: usize,
    /// The type of an element.
    pub element: Type,
    /// Bytes of an element.
    pub element_size: u64,
    /// The element of the buffer that its pointers point to.
    pub shift: i64,
    /// The offset of the first element from there, according to the type.
    pub offset: i64,
    /// Its sizes.
    pub sizes: Vec<i64>,
    /// Its strides.
    pub strides: Vec<i64>,
    /// True if the parameter is an unranked memref.
    pub unranked: bool,
}

/// The calling convention of views.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Convention {
    /// As memrefs.
    MemRefs,
    /// As the scalars of a descriptor.
    Expanded,
    /// As a pointer to the first element.
    Bare,
}

/// One scalar of the calling convention of compiled code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flat {
    /// An integer or index.
    Integer {
        /// Its width.
        width: u32,
        /// Its bits.
        bits: u128,
    },
    /// A float.
    Float {
        /// Its format.
        kind: FloatKind,
        /// Its bits.
        bits: u128,
    },
    /// An address within a buffer.
    Address {
        /// The index of the buffer.
        buffer: usize,
        /// Bytes from its start.
        offset: u64,
    },
}

/// The alignment of buffers.
const ALIGN: u64 = 64;
/// The maximal number of bytes of one buffer.
const MAX_BYTES: u64 = 1 << 32;
impl Arguments {
    /// Creates arguments for a function with these parameters.
    pub fn materialise(
        ctx: &Context,
        parameters: &[Type],
        specs: &[ArgSpec],
    ) -> Result<Arguments, Box<Fault>> {
        let convention = convention(ctx, parameters, specs)?;
        let mut made = Arguments { buffers: Vec::new(), arguments: Vec::new(), convention };
        let mut own = Vec::with_capacity(specs.len());
        let mut position = 0;
        for spec in specs {
            let width = if convention == Convention::Expanded { expanded_width(ctx, spec) } else { 1 };
            own.push(parameters.get(position).copied().filter(|_| width == 1));
            position += width;
        }
        // Buffers are created before the arguments that share them.
        let is_shared = |i: &usize| matches!(specs[*i].contents, Source::Shared(..));
        let (shared, owners): (Vec<usize>, Vec<usize>) = (0..specs.len()).partition(is_shared);
        let mut arguments: Vec<Option<Argument>> = vec![None; specs.len()];
        for i in owners.into_iter().chain(shared) {
            let spec = &specs[i];
            // A shared buffer may take its sizes from the argument it is shared with.
            let sizes = match spec.contents {
                Source::Shared(index, 0) => specs.get(index).and_then(|s| s.ty),
                _ => None,
            };
            let argument = made.argument(ctx, spec, (own[i], spec.ty.or(sizes)), &arguments);
            arguments[i] = Some(argument.map_err(|mut fault| {
                fault.diagnostic.message = format!("argument {i}: {}", fault.diagnostic.message);
                fault
            })?);
        }
        made.arguments = arguments.into_iter().flatten().collect();
        if convention == Convention::Expanded {
            made.check_expanded(ctx, parameters)?;
        }
        Ok(made)
    }

    /// Makes one argument. `others` holds the arguments made so far.
    fn argument(
        &mut self,
        ctx: &Context,
        spec: &ArgSpec,
        (parameter, given): (Option<Type>, Option<Type>),
        others: &[Option<Argument>],
    ) -> Result<Argument, Box<Fault>> {
        let ty = settle_type(ctx, parameter, given)?;
        let TypeKind::MemRef { shape: Some(shape), element, .. } = ty.kind(ctx) else {
            let bits = match &spec.contents {
                Source::List(_) | Source::Shared(..) => {
                    return Err(Fault::arguments(format!(
                        "a number of type {} is expected",
                        type_text(ctx, ty)
                    )));
                }
                source => Elements::new(ctx, ty, source)?.next()?,
            };
            return Ok(Argument::Scalar { ty, bits, kind: NumberKind::of(ctx, ty)? });
        };
        if shape.contains(&DYNAMIC) {
            let text = type_text(ctx, ty);
            return Err(Fault::arguments(format!(
                "{text} leaves a size open; give one: `… : memref<4xf32>`"
            )));
        }
        let layout = Layout::of(ctx, *element, &DataLayout::default())?;
        let (mut strides, offset) = ty
            .strides_and_offset(ctx)
            .ok_or_else(|| Fault::arguments(format!("{} has no strided layout", type_text(ctx, ty))))?;
        if strides.contains(&DYNAMIC) {
            strides = MemRef::dense(shape).iter().map(|d| d.stride).collect();
        }
        let mut view = View {
            buffer: self.buffers.len(),
            element: *element,
            element_size: layout.size,
            shift: 0,
            offset: if offset == DYNAMIC { 0 } else { offset },
            sizes: shape.to_vec(),
            strides,
            unranked: parameter.is_some_and(|p| matches!(p.kind(ctx), TypeKind::MemRef { shape: None, .. })),
        };
        if let Source::Shared(index, shift) = spec.contents {
            let Some(Some(Argument::View(other))) = others.get(index) else {
                return Err(Fault::arguments(format!("`@{index}` is no buffer among the other arguments")));
            };
            view.buffer = other.buffer;
            view.shift = other.shift.saturating_add(other.offset).saturating_add(shift);
        }
        let bytes = view.extent()?;
        if let Source::Shared(..) = spec.contents {
            let shared = &mut self.buffers[view.buffer].bytes;
            shared.resize(shared.len().max(bytes as usize), 0);
        } else {
            let mut buffer = Buffer { bytes: vec![0; bytes as usize], align: ALIGN };
            fill(ctx, &mut buffer.bytes, &view, &layout, &spec.contents)?;
            self.buffers.push(buffer);
        }
        Ok(Argument::View(view))
    }

    /// Checks that the expanded arguments have the types of the parameters.
    fn check_expanded(&self, ctx: &Context, parameters: &[Type]) -> Result<(), Box<Fault>> {
        for (i, (flat, parameter)) in self.flattened()?.iter().zip(parameters).enumerate() {
            let fits = match flat {
                Flat::Address { .. } => parameter.dialect_params(ctx, "llvm.ptr").is_some(),
                Flat::Integer { width, .. } => bit_width(ctx, *parameter).ok() == Some(*width),
                Flat::Float { kind, .. } => *parameter.kind(ctx) == TypeKind::Float(*kind),
            };
            if !fits {
                let text = type_text(ctx, *parameter);
                return Err(Fault::arguments(format!(
                    "parameter {i} of type {text} does not fit the given argument"
                )));
            }
        }
        Ok(())
    }

    /// Returns the scalars of compiled code's calling convention, in order.
    pub fn flattened(&self) -> Result<Vec<Flat>, Box<Fault>> {
        let mut flat = Vec::new();
        for argument in &self.arguments {
            match argument {
                Argument::Scalar { bits, kind, .. } => flat.push(match *kind {
                    NumberKind::Float(kind) => Flat::Float { kind, bits: *bits },
                    kind => Flat::Integer { width: kind.width(), bits: *bits },
                }),
                Argument::View(view) if self.convention == Convention::Bare => {
                    let first = view.shift.saturating_add(view.offset);
                    let offset = (first as u64).saturating_mul(view.element_size);
                    flat.push(Flat::Address { buffer: view.buffer, offset });
                }
                Argument::View(view) if view.unranked => {
                    return Err(Fault::unsupported("an unranked memref as an argument of compiled code"));
                }
                Argument::View(view) => {
                    let offset = (view.shift as u64).saturating_mul(view.element_size);
                    flat.extend([Flat::Address { buffer: view.buffer, offset }; 2]);
                    let numbers = std::iter::once(&view.offset).chain(&view.sizes).chain(&view.strides);
                    flat.extend(numbers.map(|n| Flat::Integer { width: 64, bits: (*n as u64).into() }));
                }
            }
        }
        Ok(flat)
    }

    /// Returns the data that the interpreter passes, given the addresses of the buffers.
    pub(super) fn data(&self, objects: &[Pointer]) -> Result<Vec<Datum>, Box<Fault>> {
        if self.convention == Convention::MemRefs {
            let datum = |argument: &Argument| match argument {
                Argument::Scalar { bits, .. } => Datum::bits(128, *bits).narrowed(),
                Argument::View(view) => view.memref(objects[view.buffer]).into(),
            };
            return Ok(self.arguments.iter().map(datum).collect());
        }
        let datum = |flat: Flat| match flat {
            Flat::Integer { bits, .. } | Flat::Float { bits, .. } => Datum::bits(128, bits).narrowed(),
            Flat::Address { buffer, offset } => objects[buffer].offset(offset as i64).into(),
        };
        Ok(self.flattened()?.into_iter().map(datum).collect())
    }
}

/// Decides how specifications map to parameters: one each, unless they match the expanded
/// parameters of a lowered function.
fn convention(ctx: &Context, parameters: &[Type], specs: &[ArgSpec]) -> Result<Convention, Box<Fault>> {
    let lowered = parameters.iter().any(|p| p.dialect_params(ctx, "llvm.ptr").is_some());
    if specs.len() == parameters.len() {
        return Ok(if lowered { Convention::Bare } else { Convention::MemRefs });
    }
    let total: usize = specs.iter().map(|spec| expanded_width(ctx, spec)).sum();
    if lowered && total == parameters.len() {
        return Ok(Convention::Expanded);
    }
    let expected = parameters.iter().map(|p| type_text(ctx, *p)).collect::<Vec<_>>().join(", ");
    let (given, wanted) = (specs.len(), parameters.len());
    let fault = Fault::arguments(format!("{given} arguments given, {wanted} expected: ({expected})"));
    Err(if lowered {
        fault.note(
            loomir_ir::Loc::UNKNOWN,
            "say `: memref<…>` after an argument that stands for the pointers, sizes and strides of a memref",
        )
    } else {
        fault
    })
}

/// Returns the number of parameters of a lowered function that an argument stands for.
fn expanded_width(ctx: &Context, spec: &ArgSpec) -> usize {
    match spec.ty.map(|ty| ty.kind(ctx)) {
        Some(TypeKind::MemRef { shape: Some(shape), .. }) => 3 + 2 * shape.len(),
        _ => 1,
    }
}

/// Returns the type of an argument: the parameter's type, refined by the given one.
fn settle_type(ctx: &Context, parameter: Option<Type>, given: Option<Type>) -> Result<Type, Box<Fault>> {
    let (Some(parameter), Some(given)) = (parameter, given) else {
        return match (parameter, given) {
            (Some(ty), None) if ty.dialect_params(ctx, "llvm.ptr").is_some() => {
                Err(Fault::arguments("a pointer needs the type of its buffer, as in `iota : memref<16xf32>`"))
            }
            (Some(ty), None) if matches!(ty.kind(ctx), TypeKind::MemRef { shape: None, .. }) => {
                Err(Fault::arguments("an unranked memref needs a type, as in `iota : memref<16xf32>`"))
            }
            (Some(ty), None) | (None, Some(ty)) => Ok(ty),
            _ => Err(Fault::arguments("it needs a type, as in `iota : memref<16xf32>` or `3 : i64`")),
        };
    };
    let fits = match (parameter.kind(ctx), given.kind(ctx)) {
        (TypeKind::MemRef { shape, element, .. }, TypeKind::MemRef { shape: own, element: e, .. }) => {
            let sizes = match (shape, own) {
                (Some(shape), Some(own)) => {
                    shape.len() == own.len() && shape.iter().zip(own).all(|(s, o)| *s == DYNAMIC || s == o)
                }
                _ => shape.is_none(),
            };
            sizes && element == e
        }
        (_, TypeKind::MemRef { .. }) => parameter.dialect_params(ctx, "llvm.ptr").is_some(),
        _ => parameter == given,
    };
    if fits {
        return Ok(given);
    }
    let (parameter, given) = (type_text(ctx, parameter), type_text(ctx, given));
    Err(Fault::arguments(format!("{given} is given where {parameter} is expected")))
}

impl View {
    /// Returns the memref for a buffer that starts at `base`.
    pub fn memref(&self, base: Pointer) -> MemRef {
        let dims = self.sizes.iter().zip(&self.strides);
        let base = base.offset(self.shift.wrapping_mul(self.element_size as i64));
        MemRef {
            allocated: base,
            aligned: base,
            offset: self.offset,
            dims: dims.map(|(size, stride)| Dim { size: *size, stride: *stride }).collect(),
        }
    }

    /// Returns the required size of a buffer in bytes.
    fn extent(&self) -> Result<u64, Box<Fault>> {
        let too_large = || Fault::arguments("it is too large, or reaches before its buffer");
        if self.sizes.contains(&0) {
            return Ok(0);
        }
        let first = i128::from(self.shift) + i128::from(self.offset);
        let (mut least, mut most) = (first, first);
        for (size, stride) in self.sizes.iter().zip(&self.strides) {
            let reach = i128::from(size - 1) * i128::from(*stride);
            *(if reach < 0 { &mut least } else { &mut most }) += reach;
        }
        let bytes = (most + 1).checked_mul(self.element_size.into()).ok_or_else(too_large)?;
        if least < 0 || bytes > MAX_BYTES.into() {
            return Err(too_large());
        }
        Ok(bytes as u64)
    }
}
