//! Integer operations on bits, with the conditions under which they are poison or undefined.

/// The flag: no wrap as a signed number.
pub(super) const NO_SIGNED_WRAP: u64 = 1;
/// The flag: no wrap as an unsigned number.
pub(super) const NO_UNSIGNED_WRAP: u64 = 2;
/// The flag: nothing is lost by a division or a shift.
pub(super) const EXACT: u64 = 4;
/// The flag: no bit is set in both operands.
pub(super) const DISJOINT: u64 = 8;
/// The flag: the operand is not negative.
pub(super) const NOT_NEGATIVE: u64 = 16;

/// Operations on two integers of one width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Binary {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    ShrS,
    ShrU,
    DivS,
    DivU,
    RemS,
    RemU,
    MinS,
    MaxS,
    MinU,
    MaxU,
    /// The sum of an address and a number of bytes.
    Address,
}

/// Casts between integers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Cast {
    Sign,
    Zero,
    Cut,
}

impl Binary {
    /// Returns the operation of a name.
    pub(super) fn of(name: &str) -> Option<Binary> {
        Some(match name {
            "llvm.add" | "arith.addi" => Binary::Add,
            "llvm.sub" | "arith.subi" => Binary::Sub,
            "llvm.mul" | "arith.muli" => Binary::Mul,
            "llvm.and" | "arith.andi" => Binary::And,
            "llvm.or" | "arith.ori" => Binary::Or,
            "llvm.xor" | "arith.xori" => Binary::Xor,
            "llvm.shl" | "arith.shli" => Binary::Shl,
            "llvm.ashr" | "arith.shrsi" => Binary::ShrS,
            "llvm.lshr" | "arith.shrui" => Binary::ShrU,
            "llvm.sdiv" | "arith.divsi" => Binary::DivS,
            "llvm.udiv" | "arith.divui" => Binary::DivU,
            "llvm.srem" | "arith.remsi" => Binary::RemS,
            "llvm.urem" | "arith.remui" => Binary::RemU,
            "llvm.intr.smin" | "arith.minsi" => Binary::MinS,
            "llvm.intr.smax" | "arith.maxsi" => Binary::MaxS,
            "llvm.intr.umin" | "arith.minui" => Binary::MinU,
            "llvm.intr.umax" | "arith.maxui" => Binary::MaxU,
            _ => return None,
        })
    }

    pub(super) fn is_division(self) -> bool {
        matches!(self, Binary::DivS | Binary::DivU | Binary::RemS | Binary::RemU)
    }

    fn is_shift(self) -> bool {
        matches!(self, Binary::Shl | Binary::ShrS | Binary::ShrU)
    }

    pub(super) fn commutes(self) -> bool {
        !self.is_division() && !self.is_shift() && !matches!(self, Binary::Sub | Binary::Address)
    }
}

impl Cast {
    /// Returns the cast of a name.
    pub(super) fn of(name: &str) -> Option<Cast> {
        Some(match name {
            "llvm.sext" | "arith.extsi" => Cast::Sign,
            "llvm.zext" | "arith.extui" => Cast::Zero,
            "llvm.trunc" | "arith.trunci" => Cast::Cut,
            _ => return None,
        })
    }
}

/// Returns the bits of a width.
pub(super) fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// Returns bits as a signed number.
pub(super) fn signed(width: u32, bits: u64) -> i64 {
    let shift = 64 - width.min(64);
    ((bits << shift) as i64) >> shift
}

/// True if an operation is neither poison nor undefined, whatever the first operand is.
pub(super) fn is_defined(code: Binary, width: u32, second: Option<u64>) -> bool {
    match second {
        Some(bits) if code.is_shift() => bits < u64::from(width),
        Some(bits) if code.is_division() => {
            bits != 0 && (matches!(code, Binary::DivU | Binary::RemU) || bits != mask(width))
        }
        _ => !code.is_shift() && !code.is_division(),
    }
}

/// True if the second operand leaves the first one as it is, whatever the flags are.
pub(super) fn is_neutral(code: Binary, width: u32, second: u64) -> bool {
    match code {
        Binary::Add | Binary::Sub | Binary::Or | Binary::Xor | Binary::Address => second == 0,
        Binary::Shl | Binary::ShrS | Binary::ShrU => second == 0,
        Binary::Mul | Binary::DivS | Binary::DivU => second == 1 && width > 1,
        Binary::And | Binary::MinU => second == mask(width),
        Binary::MaxU => second == 0,
        Binary::MinS => second == mask(width) >> 1,
        Binary::MaxS => second == 1 << (width - 1),
        _ => false,
    }
}

/// Returns the result of an operation on bits; `None` if it is poison or undefined.
pub(super) fn binary(code: Binary, flags: u64, width: u32, x: u64, y: u64) -> Option<u64> {
    let [a, b] = [x, y].map(|bits| i128::from(signed(width, bits)));
    let [p, q] = [x, y].map(u128::from);
    if !is_defined(code, width, Some(y)) {
        return None;
    }
    let (wide, unsigned) = match code {
        Binary::Address => return None,
        Binary::Add => (a + b, Some(p + q)),
        Binary::Sub => (a - b, p.checked_sub(q)),
        Binary::Mul => (a * b, p.checked_mul(q)),
        Binary::Shl => (a << y, p.checked_mul(1 << y)),
        Binary::And => (a & b, Some(0)),
        Binary::Or if flags & DISJOINT != 0 && x & y != 0 => return None,
        Binary::Or => (a | b, Some(0)),
        Binary::Xor => (a ^ b, Some(0)),
        Binary::ShrS | Binary::ShrU if flags & EXACT != 0 && x & ((1 << y) - 1) != 0 => return None,
        Binary::ShrS => (a >> y, Some(0)),
        Binary::ShrU => ((p >> y) as i128, Some(0)),
        Binary::DivS if flags & EXACT != 0 && a % b != 0 => return None,
        Binary::DivU if flags & EXACT != 0 && p % q != 0 => return None,
        Binary::DivS => (a / b, Some(0)),
        Binary::RemS => (a % b, Some(0)),
        Binary::DivU => ((p / q) as i128, Some(0)),
        Binary::RemU => ((p % q) as i128, Some(0)),
        Binary::MinS => (a.min(b), Some(0)),
        Binary::MaxS => (a.max(b), Some(0)),
        Binary::MinU => (p.min(q) as i128, Some(0)),
        Binary::MaxU => (p.max(q) as i128, Some(0)),
    };
    let bits = wide as u64 & mask(width);
    let wraps = matches!(code, Binary::Add | Binary::Sub | Binary::Mul | Binary::Shl);
    if wraps && flags & NO_SIGNED_WRAP != 0 && i128::from(signed(width, bits)) != wide {
        return None;
    }
    if wraps && flags & NO_UNSIGNED_WRAP != 0 && unsigned != Some(u128::from(bits)) {
        return None;
    }
    Some(bits)
}

/// Returns the result of a cast on bits; `None` if it is poison.
pub(super) fn cast(code: Cast, flags: u64, [from, to]: [u32; 2], bits: u64) -> Option<u64> {
    let value = signed(from, bits);
    match code {
        Cast::Sign => Some(value as u64 & mask(to)),
        Cast::Zero if flags & NOT_NEGATIVE != 0 && value < 0 => None,
        Cast::Zero => Some(bits),
        Cast::Cut => {
            let cut = bits & mask(to);
            let loses = flags & NO_UNSIGNED_WRAP != 0 && cut != bits
                || flags & NO_SIGNED_WRAP != 0 && signed(to, cut) != value;
            (!loses).then_some(cut)
        }
    }
}
