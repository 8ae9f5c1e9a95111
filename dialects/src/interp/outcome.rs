//! Outcomes of runs: results, and the final contents of the buffers among the arguments.
//!
//! Both engines end here. A *digest* is FNV-1a (64 bits) over the elements of a buffer in row-major
//! order of its logical shape. Each element counts as many little-endian bytes as its bits need,
//! and the parts of a vector or complex number count one by one. Every NaN counts as the quiet NaN
//! without sign or payload. Equal digests mean equal contents, whatever the layout, padding and
//! engine.

use std::fmt::Write as _;

use loomir_ir::{Context, FloatKind, Type, TypeKind};

use super::arguments::{Argument, Arguments, Leaf, leaves};
use super::datum::{Datum, MemRef, Pointer};
use super::elementwise::bit_width;
use super::fault::{Fault, FaultKind};
use super::float::{Brain, Format, Half};
use super::integer::signed;
use super::layout::{DataLayout, Layout, type_text};
use super::memory::Memory;

/// The outcome of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The results of the entry.
    pub results: Vec<Output>,
    /// The position and the final contents of each argument that is a buffer.
    pub buffers: Vec<(usize, Output)>,
    /// The output of the program. Compiled code prints by itself.
    pub printed: Vec<u8>,
    /// Operations executed; 0 for compiled code.
    pub steps: u64,
}

/// A value at the end of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// A number.
    Number(Number),
    /// A vector, struct, array or complex number.
    Aggregate(Vec<Output>),
    /// The contents of a memref.
    Contents(Contents),
    /// A pointer. Its address has no meaning outside the run.
    Pointer,
    /// A buffer that the program freed.
    Freed,
}

/// A number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number {
    /// The bits of the number. Every NaN is the quiet one.
    pub bits: u128,
    /// The kind of number that the elements are read as.
    pub kind: NumberKind,
}

/// The interpretation of the bits of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberKind {
    /// An integer of this width.
    Integer(u32),
    /// An unsigned integer of this width.
    Unsigned(u32),
    /// A float.
    Float(FloatKind),
}

/// The elements of a memref.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contents {
    /// The sizes of its dimensions.
    pub sizes: Vec<i64>,
    /// Numbers in each element.
    pub parts: usize,
    /// All numbers, row-major.
    pub numbers: Vec<Number>,
}

/// The maximal number of elements of a memref that are read at the end. Strides of zero let a small
/// object seem large.
const MAX_ELEMENTS: u64 = 1 << 30;
/// The number of elements up to which a buffer is shown in full.
const SHOWN_IN_FULL: usize = 32;
/// The number of elements shown of longer buffers.
const SHOWN: usize = 8;

impl NumberKind {
    /// Returns how numbers of a type are read.
    pub fn of(ctx: &Context, ty: Type) -> Result<NumberKind, Box<Fault>> {
        Ok(match ty.kind(ctx) {
            TypeKind::Float(kind) => NumberKind::Float(*kind),
            TypeKind::Integer { width, signedness: loomir_ir::Signedness::Unsigned } => {
                NumberKind::Unsigned(*width)
            }
            _ => NumberKind::Integer(bit_width(ctx, ty)?),
        })
    }

    /// Returns the number of significant bits.
    pub fn width(self) -> u32 {
        match self {
            NumberKind::Integer(width) | NumberKind::Unsigned(width) => width,
            NumberKind::Float(kind) => kind.width(),
        }
    }
}

impl Number {
    /// Returns a number. NaNs become the quiet one.
    pub fn new(bits: u128, kind: NumberKind) -> Number {
        let bits = match kind {
            NumberKind::Float(FloatKind::F16) if bits & 0x7fff > 0x7c00 => 0x7e00,
            NumberKind::Float(FloatKind::BF16) if bits & 0x7fff > 0x7f80 => 0x7fc0,
            NumberKind::Float(FloatKind::F32) if bits & 0x7fff_ffff > 0x7f80_0000 => 0x7fc0_0000,
            NumberKind::Float(FloatKind::F64) if bits & (u128::MAX >> 65) > 0x7ff << 52 => 0xfff << 51,
            _ => bits,
        };
        Number { bits, kind }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind {
            NumberKind::Integer(1) => write!(f, "{}", self.bits & 1 != 0),
            NumberKind::Integer(width) => write!(f, "{}", signed(width, self.bits)),
            NumberKind::Unsigned(_) => write!(f, "{}", self.bits),
            NumberKind::Float(FloatKind::F64) => write!(f, "{:?}", f64::from_bits(self.bits as u64)),
            NumberKind::Float(FloatKind::F32) => write!(f, "{:?}", f32::from_bits(self.bits as u32)),
            NumberKind::Float(FloatKind::F16) => write!(f, "{:?}", Half::read(self.bits)),
            NumberKind::Float(FloatKind::BF16) => write!(f, "{:?}", Brain::read(self.bits)),
            NumberKind::Float(_) => write!(f, "{:#x}", self.bits),
        }
    }
}

impl Contents {
    /// Returns the digest. See the [module](self).
    pub fn digest(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for number in &self.numbers {
            for byte in &number.bits.to_le_bytes()[..number.kind.width().div_ceil(8) as usize] {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
        hash
    }

    fn shape(&self) -> String {
        self.sizes.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
    }

    fn write(&self, text: &mut String) {
        let mut sizes: Vec<usize> = self.sizes.iter().map(|n| usize::try_from(*n).unwrap_or(0)).collect();
        if self.parts > 1 {
            sizes.push(self.parts);
        }
        if self.numbers.len() <= SHOWN_IN_FULL {
            write_nested(text, &self.numbers, &sizes);
        } else {
            text.push('[');
            for number in &self.numbers[..SHOWN] {
                let _ = write!(text, "{number}, ");
            }
            let _ = write!(text, "…] ({})", self.shape());
        }
        let _ = write!(text, " digest {:#018x}", self.digest());
    }
}

/// Writes nested lists, one pair of brackets for each dimension.
fn write_nested(text: &mut String, numbers: &[Number], sizes: &[usize]) {
    if numbers.is_empty() {
        text.push_str("[]");
        return;
    }
    // A bracket opens or closes where the index is a multiple of the size of the enclosed part.
    let mut spans: Vec<usize> = sizes
        .iter()
        .rev()
        .scan(1, |span, n| {
            *span *= n;
            Some(*span)
        })
        .collect();
    spans.reverse();
    for (i, number) in numbers.iter().enumerate() {
        if i > 0 {
            text.push_str(", ");
        }
        text.extend(spans.iter().filter(|span| i % **span == 0).map(|_| '['));
        let _ = write!(text, "{number}");
        text.extend(spans.iter().filter(|span| (i + 1) % **span == 0).map(|_| ']'));
    }
}

impl Output {
    /// Recursion is bounded by the nesting of types.
    fn write(&self, text: &mut String) {
        match self {
            Output::Number(number) => {
                let _ = write!(text, "{number}");
            }
            Output::Contents(contents) => contents.write(text),
            Output::Pointer => text.push_str("a pointer"),
            Output::Freed => text.push_str("freed"),
            Output::Aggregate(parts) => {
                text.push('{');
                for (i, part) in parts.iter().enumerate() {
                    text.push_str(if i == 0 { "" } else { ", " });
                    part.write(text);
                }
                text.push('}');
            }
        }
    }
}

impl Outcome {
    /// Returns the printed output, then a line for each result and each buffer: `result 0: 3`,
    /// `argument 1: [1.0, 2.0] digest 0x…`.
    pub fn to_text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.printed).into_owned();
        for (i, result) in self.results.iter().enumerate() {
            let _ = write!(text, "result {i}: ");
            result.write(&mut text);
            text.push('\n');
        }
        for (i, buffer) in &self.buffers {
            let _ = write!(text, "argument {i}: ");
            buffer.write(&mut text);
            text.push('\n');
        }
        text
    }

    /// Returns the outcome of compiled code. `results` are its scalar results with their types,
    /// `buffers` the final bytes of [`Arguments::buffers`].
    pub fn from_bytes(
        ctx: &Context,
        arguments: &Arguments,
        buffers: &[&[u8]],
        results: &[(Type, u128)],
    ) -> Result<Outcome, Box<Fault>> {
        let number =
            |(ty, bits): &(Type, u128)| Ok(Output::Number(Number::new(*bits, NumberKind::of(ctx, *ty)?)));
        let results = results.iter().map(number).collect::<Result<_, Box<Fault>>>()?;
        let mut outputs = Vec::new();
        for (i, argument) in arguments.arguments.iter().enumerate() {
            let Argument::View(view) = argument else { continue };
            let bytes = buffers.get(view.buffer).copied().unwrap_or_default();
            let contents = contents(ctx, view.element, &view.memref(Pointer::NULL), |at, size| {
                let start = at.address as usize;
                bytes
                    .get(start..start + size as usize)
                    .ok_or_else(|| Fault::arguments("a buffer is too small"))
            })?;
            outputs.push((i, Output::Contents(contents)));
        }
        Ok(Outcome { results, buffers: outputs, printed: Vec::new(), steps: 0 })
    }
}

/// Returns the elements of a memref. `read` returns the bytes of each number.
fn contents<'b>(
    ctx: &Context,
    element: Type,
    memref: &MemRef,
    read: impl Fn(Pointer, u64) -> Result<&'b [u8], Box<Fault>>,
) -> Result<Contents, Box<Fault>> {
    let layout = Layout::of(ctx, element, &DataLayout::default())?;
    let leaves = leaves(ctx, element, &layout.repr)?;
    let kinds: Vec<(Leaf, NumberKind)> = leaves
        .iter()
        .map(|leaf| Ok((*leaf, NumberKind::of(ctx, leaf.ty)?)))
        .collect::<Result<_, Box<Fault>>>()?;
    let mut numbers = Vec::new();
    if memref.num_elements().is_none_or(|n| n > MAX_ELEMENTS) {
        return Err(Fault::new(FaultKind::Limit, "it has too many elements to be shown"));
    }
    for linear in memref.offsets() {
        let start = memref.aligned.offset(linear.wrapping_mul(layout.size as i64));
        for (leaf, kind) in &kinds {
            let size = leaf.bits.div_ceil(8);
            let bytes = read(start.offset(leaf.offset as i64), size.into()).map_err(|mut fault| {
                let element = numbers.len() / kinds.len();
                fault.diagnostic.message = format!("element {element}: {}", fault.diagnostic.message);
                fault
            })?;
            let mut wide = [0; 16];
            wide[..bytes.len()].copy_from_slice(bytes);
            let bits = u128::from_le_bytes(wide) & super::integer::mask(leaf.bits);
            numbers.push(Number::new(bits, *kind));
        }
    }
    Ok(Contents { sizes: memref.dims.iter().map(|d| d.size).collect(), parts: kinds.len(), numbers })
}

/// Reads the outcome from the interpreter's memory.
pub(super) fn collect(
    ctx: &Context,
    memory: &Memory,
    arguments: &Arguments,
    objects: &[Pointer],
    types: &[Type],
    values: &[Datum],
) -> Result<Outcome, Box<Fault>> {
    let named = |what: String| {
        move |mut fault: Box<Fault>| {
            fault.diagnostic.message = format!("{what} at the end: {}", fault.diagnostic.message);
            fault
        }
    };
    let mut results = Vec::new();
    for (i, value) in values.iter().enumerate() {
        let ty = types.get(i).copied().unwrap_or(Type::NONE);
        results.push(output(ctx, memory, ty, value).map_err(named(format!("result {i}")))?);
    }
    let mut buffers = Vec::new();
    for (i, argument) in arguments.arguments.iter().enumerate() {
        let Argument::View(view) = argument else { continue };
        let object = objects[view.buffer];
        buffers.push((
            i,
            if memory.has_ended(object.object) {
                Output::Freed
            } else {
                let read = |at, size| memory.bytes(at, size);
                let contents = contents(ctx, view.element, &view.memref(object), read);
                Output::Contents(contents.map_err(named(format!("argument {i}")))?)
            },
        ));
    }
    Ok(Outcome { results, buffers, printed: Vec::new(), steps: 0 })
}

/// Recursion is bounded by the nesting of types.
fn output(ctx: &Context, memory: &Memory, ty: Type, value: &Datum) -> Result<Output, Box<Fault>> {
    match value {
        Datum::Bits(_) | Datum::Wide(_) => {
            let bits = value.as_bits().unwrap_or(0);
            Ok(Output::Number(Number::new(bits, NumberKind::of(ctx, ty)?)))
        }
        Datum::Poison(poison) => Err(Fault::poison("it", *poison)),
        Datum::Pointer { .. } => Ok(Output::Pointer),
        Datum::MemRef(memref) => {
            if memory.has_ended(memref.aligned.object) {
                return Ok(Output::Freed);
            }
            let element = ty.element(ctx).ok_or_else(|| no_memref(ctx, ty))?;
            contents(ctx, element, memref, |at, size| memory.bytes(at, size)).map(Output::Contents)
        }
        Datum::Aggregate(parts) => {
            let part = |(i, part): (usize, &Datum)| {
                let ty = super::constant::part_type(ctx, ty, i).unwrap_or(Type::NONE);
                output(ctx, memory, ty, part)
            };
            Ok(Output::Aggregate(parts.iter().enumerate().map(part).collect::<Result<_, _>>()?))
        }
        Datum::Unset => Err(Fault::unsupported("it was never computed")),
    }
}

fn no_memref(ctx: &Context, ty: Type) -> Box<Fault> {
    Fault::unsupported(format!("a memref of type {}", type_text(ctx, ty)))
}
