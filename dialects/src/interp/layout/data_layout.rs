//! The target's data layout: sizes and alignments that a module states, as LLVM's `datalayout`
//! string or
//! as MLIR's `#dlti.dl_spec`.
//!
//! A layout that cannot be read is [unknown](DataLayout::is_known): then no type has a layout in
//! memory. A module without one is laid out as on common 64-bit little-endian machines: integers of
//! up to 128 bits are aligned to their size, pointers of every address space have 64 bits. A string
//! starts from the defaults that LLVM's language reference lists, as `opt` does.
//!
//! Specifications that say nothing about sizes (mangling, native widths, the stack) are skipped.

use loomir_ir::symbols::SymbolTable;
use loomir_ir::text::attr_to_string;
use loomir_ir::{Attr, Context, OpRef};

/// The module attribute that holds LLVM's string.
pub const DATA_LAYOUT: &str = "llvm.data_layout";

/// The module attribute that holds MLIR's.
const SPECIFICATION: &str = "dlti.dl_spec";

/// Sizes and alignments of a target's types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataLayout {
    big_endian: bool,
    /// True if no layout was given: types are aligned to their size.
    natural: bool,
    /// True if a layout was given that cannot be read.
    unknown: bool,
    /// The pointer layouts by address space, in ascending order. Absent address spaces are like
    /// address space 0.
    pointers: Vec<(u32, PointerLayout)>,
    /// Bits and alignment in bytes, in ascending order.
    integers: Vec<(u32, u64)>,
    floats: Vec<(u32, u64)>,
    vectors: Vec<(u32, u64)>,
    /// The least alignment of a struct, in bytes.
    aggregate: u64,
    non_integral: Vec<u32>,
}

/// Size and alignment of pointers of an address space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PointerLayout {
    /// Bits of a pointer.
    pub bits: u32,
    /// The number of bits of address arithmetic. The other bits do not change.
    pub index_bits: u32,
    /// Alignment in bytes.
    pub align: u64,
}

impl Default for PointerLayout {
    fn default() -> PointerLayout {
        PointerLayout { bits: 64, index_bits: 64, align: 8 }
    }
}

impl Default for DataLayout {
    fn default() -> DataLayout {
        DataLayout { natural: true, ..DataLayout::llvm_defaults() }
    }
}

impl DataLayout {
    /// Returns the layout that an operation states, usually a module. The default if it states
    /// none.
    pub fn of(module: OpRef<'_>) -> DataLayout {
        DataLayout::stated(module.ctx(), |name| module.attr(name))
    }

    /// Returns the layout of the module with these symbols.
    pub fn of_symbols(ctx: &Context, symbols: &SymbolTable) -> DataLayout {
        DataLayout::stated(ctx, |name| symbols.own_attr(ctx, name))
    }

    fn stated(ctx: &Context, attr: impl Fn(&str) -> Option<Attr>) -> DataLayout {
        let unknown = || DataLayout { unknown: true, ..DataLayout::default() };
        if let Some(text) = attr(DATA_LAYOUT) {
            return text.as_str(ctx).and_then(DataLayout::parse).unwrap_or_else(unknown);
        }
        match attr(SPECIFICATION) {
            Some(spec) => DataLayout::parse_specification(&attr_to_string(ctx, spec)).unwrap_or_else(unknown),
            None => DataLayout::default(),
        }
    }

    /// True if the layout of types in memory is known.
    pub fn is_known(&self) -> bool {
        !self.unknown
    }

    /// Returns LLVM's defaults for entries that a layout string omits.
    fn llvm_defaults() -> DataLayout {
        DataLayout {
            big_endian: false,
            natural: false,
            unknown: false,
            pointers: vec![(0, PointerLayout::default())],
            integers: vec![(1, 1), (8, 1), (16, 2), (32, 4), (64, 4)],
            floats: vec![(16, 2), (32, 4), (64, 8), (128, 16)],
            vectors: vec![(64, 8), (128, 16)],
            aggregate: 1,
            non_integral: Vec::new(),
        }
    }

    /// Reads LLVM's string, such as `e-m:e-p:32:32-i64:64-n32`. `None` if a size or alignment in it
    /// is malformed. An empty string is the default layout.
    pub fn parse(text: &str) -> Option<DataLayout> {
        if text.is_empty() {
            return Some(DataLayout::default());
        }
        let mut layout = DataLayout::llvm_defaults();
        for spec in text.split('-') {
            layout.read(spec)?;
        }
        Some(layout)
    }

    /// Reads the output of `mlir-translate --import-llvm` for the string, such as
    /// `#dlti.dl_spec<!llvm.ptr = dense<32> : vector<4xi64>, i64 = dense<[32, 64]> : vector<2xi64>>`.
    /// Pointers have a size, two alignments and the bits of an index, in this order; other types
    /// have two alignments, all in bits. `None` if a part of it is malformed.
    pub fn parse_specification(text: &str) -> Option<DataLayout> {
        let entries = text.strip_prefix("#dlti.dl_spec<")?.strip_suffix('>')?;
        let mut layout = DataLayout::llvm_defaults();
        for entry in top_level(entries) {
            let (key, value) = entry.split_once('=')?;
            let (key, value) = (key.trim(), value.trim());
            if key == "\"dlti.endianness\"" {
                layout.big_endian = value.contains("big");
                continue;
            }
            if key == "index" {
                // Numbers of type `index` have 64 bits everywhere in Loomir.
                let bits = value.split(':').next().unwrap_or_default().trim();
                if bits != "64" {
                    return None;
                }
                continue;
            }
            let Some(numbers) = value.strip_prefix("dense<").and_then(|rest| rest.split_once('>')) else {
                continue;
            };
            let numbers = numbers.0.trim_matches(['[', ']']);
            let numbers: Vec<u32> =
                numbers.split(',').map(|number| number.trim().parse().ok()).collect::<Option<_>>()?;
            let at = |index: usize| numbers.get(index).or(numbers.first()).copied();
            if let Some(space) = key.strip_prefix("!llvm.ptr") {
                let space = space.trim_matches(['<', '>']);
                let space = if space.is_empty() { 0 } else { space.parse().ok()? };
                let own = PointerLayout { bits: at(0)?, index_bits: at(3)?, align: bytes(at(1)?)? };
                set(&mut layout.pointers, space, own);
            } else if let Some(width) = key.strip_prefix('i').and_then(|width| width.parse().ok()) {
                set(&mut layout.integers, width, bytes(at(0)?)?);
            } else if let Some(width) = key.strip_prefix('f').and_then(|width| width.parse().ok()) {
                set(&mut layout.floats, width, bytes(at(0)?)?);
            } else if key.starts_with("vector") {
                return None;
            }
        }
        Some(layout)
    }

    fn read(&mut self, spec: &str) -> Option<()> {
        match spec {
            "e" => self.big_endian = false,
            "E" => self.big_endian = true,
            _ => {}
        }
        if let Some(spaces) = spec.strip_prefix("ni:") {
            self.non_integral = spaces.split(':').map(|space| space.parse().ok()).collect::<Option<_>>()?;
            return Some(());
        }
        let mut parts = spec.split(':');
        let head = parts.next().unwrap_or_default();
        let Some(kind @ ('p' | 'i' | 'f' | 'v' | 'a')) = head.chars().next() else { return Some(()) };
        // Flags of pointer specifications that change no size.
        let number = head[1..].trim_start_matches(['e', 'u']);
        let number: u32 = if number.is_empty() { 0 } else { number.parse().ok()? };
        let bits: Vec<u32> = parts.map(|part| part.parse().ok()).collect::<Option<_>>()?;
        if kind == 'p' {
            let [size, abi, rest @ ..] = bits.as_slice() else { return None };
            let index_bits = rest.get(1).copied().unwrap_or(*size);
            if *size == 0 || index_bits == 0 || index_bits > *size {
                return None;
            }
            let own = PointerLayout { bits: *size, index_bits, align: bytes(*abi)? };
            set(&mut self.pointers, number, own);
            return Some(());
        }
        let abi = *bits.first()?;
        match kind {
            'i' => set(&mut self.integers, number, bytes(abi)?),
            'f' => set(&mut self.floats, number, bytes(abi)?),
            'v' => set(&mut self.vectors, number, bytes(abi)?),
            _ => self.aggregate = if abi == 0 { 1 } else { bytes(abi)? },
        }
        Some(())
    }

    /// True if the most significant byte comes first.
    pub fn is_big_endian(&self) -> bool {
        self.big_endian
    }

    /// Size and alignment of pointers of an address space.
    pub fn pointer(&self, space: u32) -> PointerLayout {
        let own = self.pointers.iter().find(|(own, _)| *own == space).or(self.pointers.first());
        own.map_or_else(PointerLayout::default, |(_, layout)| *layout)
    }

    /// True if addresses of an address space are numbers: `ptrtoint` and back is the same pointer.
    pub fn is_integral(&self, space: u32) -> bool {
        let own = self.pointer(space);
        !self.unknown && own.bits == own.index_bits && !self.non_integral.contains(&space)
    }

    /// Returns the alignment of an integer, in bytes.
    pub fn integer_align(&self, bits: u32) -> u64 {
        if self.natural {
            return natural(bits);
        }
        let wider = self.integers.iter().find(|(own, _)| *own >= bits).or(self.integers.last());
        wider.map_or_else(|| natural(bits), |(_, align)| *align)
    }

    /// Returns the alignment of a float, in bytes.
    pub fn float_align(&self, bits: u32) -> u64 {
        let own = self.floats.iter().find(|(own, _)| *own == bits).filter(|_| !self.natural);
        own.map_or_else(|| natural(bits), |(_, align)| *align)
    }

    /// Returns the alignment of a vector of `bits` bits, in bytes.
    pub(super) fn vector_align(&self, bits: u64) -> Option<u64> {
        let own = self.vectors.iter().find(|(own, _)| u64::from(*own) == bits).filter(|_| !self.natural);
        match own {
            Some((_, align)) => Some(*align),
            None => bits.div_ceil(8).max(1).checked_next_power_of_two(),
        }
    }

    /// Returns the least alignment of a struct, in bytes.
    pub(super) fn aggregate_align(&self) -> u64 {
        self.aggregate
    }
}

/// Splits the text at commas outside of brackets.
fn top_level(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0i32, 0, Vec::new());
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' | b'[' => depth += 1,
            b'>' | b']' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// Returns the number of bytes, rounded up to a power of two. At least one.
fn natural(bits: u32) -> u64 {
    u64::from(bits.div_ceil(8).max(1).next_power_of_two())
}

/// Returns an alignment in bytes. As in LLVM, it is limited to 2¹⁶ bits.
fn bytes(bits: u32) -> Option<u64> {
    let is_fit = bits.is_multiple_of(8) && (bits / 8).is_power_of_two() && bits < 1 << 16;
    is_fit.then_some(u64::from(bits / 8))
}

fn set<T>(specs: &mut Vec<(u32, T)>, of: u32, to: T) {
    match specs.binary_search_by_key(&of, |(own, _)| *own) {
        Ok(place) => specs[place].1 = to,
        Err(place) => specs.insert(place, (of, to)),
    }
}
