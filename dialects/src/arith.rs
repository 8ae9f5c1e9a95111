//! The `arith` dialect: arithmetic on integers, indices, floats and vectors of them.
//!
//! This file is the table. The folder beside it holds the code that the table refers to: syntax,
//! verifiers, folds (a file for each family) and the interfaces. Integers are bit vectors in two's
//! complement; each operation defines how it reads them. The result is poison if a rule is broken
//! (`nsw`, a shift by the width or more, a conversion that does not fit). Division by zero is
//! immediate undefined behaviour.

use loomir_ir::opdef::EnumStorage;
use loomir_ir::{EnumDef, Registry, dialect};

pub mod constant;
pub(crate) mod evaluate;
pub(crate) mod fold;
mod interfaces;
pub(crate) mod patterns;
pub(crate) mod reduction;
mod syntax;
pub(crate) mod verify;

pub(crate) use interfaces::{Division, materialize_constant};

use fold::{bits, cast, compare, division, float, integer, minmax, select};

/// The fast-math flags: assumptions that an optimisation may make about floats.
pub static FASTMATH: EnumDef = EnumDef {
    name: "arith.fastmath",
    cases: &[
        ("none", 0),
        ("reassoc", 1),
        ("nnan", 2),
        ("ninf", 4),
        ("nsz", 8),
        ("arcp", 16),
        ("contract", 32),
        ("afn", 64),
        ("fast", 127),
    ],
    flags: true,
    separator: ",",
    storage: EnumStorage::Attribute,
};

/// The overflow flags: the result of integer arithmetic does not wrap.
pub static OVERFLOW: EnumDef = EnumDef {
    name: "arith.overflow",
    cases: &[("none", 0), ("nsw", 1), ("nuw", 2)],
    flags: true,
    separator: ", ",
    storage: EnumStorage::Attribute,
};

/// The rounding modes of floats.
pub static ROUNDING_MODE: EnumDef = EnumDef {
    name: "arith.roundingmode",
    cases: &[
        ("to_nearest_even", 0),
        ("downward", 1),
        ("upward", 2),
        ("toward_zero", 3),
        ("to_nearest_away", 4),
    ],
    flags: false,
    separator: "",
    storage: EnumStorage::Integer(32),
};

/// The predicates of integer comparisons.
pub static CMPI_PREDICATE: EnumDef = EnumDef {
    name: "arith.cmpi_predicate",
    cases: &[
        ("eq", 0),
        ("ne", 1),
        ("slt", 2),
        ("sle", 3),
        ("sgt", 4),
        ("sge", 5),
        ("ult", 6),
        ("ule", 7),
        ("ugt", 8),
        ("uge", 9),
    ],
    flags: false,
    separator: "",
    storage: EnumStorage::Integer(64),
};

/// The predicates of float comparisons.
pub static CMPF_PREDICATE: EnumDef = EnumDef {
    name: "arith.cmpf_predicate",
    cases: &[
        ("false", 0),
        ("oeq", 1),
        ("ogt", 2),
        ("oge", 3),
        ("olt", 4),
        ("ole", 5),
        ("one", 6),
        ("ord", 7),
        ("ueq", 8),
        ("ugt", 9),
        ("uge", 10),
        ("ult", 11),
        ("ule", 12),
        ("une", 13),
        ("uno", 14),
        ("true", 15),
    ],
    flags: false,
    separator: "",
    storage: EnumStorage::Integer(64),
};

/// The operations of atomic updates and of parallel reductions.
pub static ATOMIC_RMW_KIND: EnumDef = EnumDef {
    name: "arith.atomic_rmw_kind",
    cases: &[
        ("addf", 0),
        ("addi", 1),
        ("andi", 2),
        ("assign", 3),
        ("maximumf", 4),
        ("maxnumf", 5),
        ("maxs", 6),
        ("maxu", 7),
        ("minimumf", 8),
        ("minnumf", 9),
        ("mins", 10),
        ("minu", 11),
        ("mulf", 12),
        ("muli", 13),
        ("ori", 14),
        ("xori", 15),
    ],
    flags: false,
    separator: "",
    storage: EnumStorage::Integer(64),
};

dialect! {
    /// Arithmetic on integers, indices, floats, and element by element on vectors and tensors of
    /// them.
    pub ARITH = "arith" {
        enums [FASTMATH, OVERFLOW]
        constant interfaces::materialize_constant;
    }

    /// A constant: an integer, an index, a float, or a vector or tensor of them.
    ConstantOp = "constant" {
        results { result: One Any }
        attrs { value: Required Typed }
        traits [ConstantLike, Pure]
        syntax (syntax::parse_constant, syntax::print_constant);
        verify_signature verify::constant;
    }

    /// Sum. Wraps around; with `nsw` (`nuw`) the result is poison where the signed (unsigned) sum
    /// does not fit.
    AddIOp = "addi" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        attrs { overflowFlags: Default = "#arith.overflow<none>" Enum(&OVERFLOW) }
        traits [Pure, Commutative, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"
        fold integer::addi;
    }

    /// Sum of unsigned integers with its carry.
    AddUIExtendedOp = "addui_extended" {
        operands { lhs: One SignlessIntegerLike, rhs: One SameAs("lhs") }
        results { sum: One SameAs("lhs"), overflow: One BoolShapedAs("lhs") }
        traits [Pure, Commutative, Elementwise]
        format "$lhs `,` $rhs attr-dict `:` type($sum) `,` type($overflow)"
        fold integer::addui_extended;
    }

    /// Difference. Wraps around; with `nsw` (`nuw`) the result is poison where the signed
    /// (unsigned) difference does not fit.
    SubIOp = "subi" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        attrs { overflowFlags: Default = "#arith.overflow<none>" Enum(&OVERFLOW) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"
        fold integer::subi;
    }

    /// Product. Wraps around; with `nsw` (`nuw`) the result is poison where the signed (unsigned)
    /// product does not fit.
    MulIOp = "muli" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        attrs { overflowFlags: Default = "#arith.overflow<none>" Enum(&OVERFLOW) }
        traits [Pure, Commutative, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"
        fold integer::muli;
    }

    /// Product of signed integers in twice the width: its low and its high half.
    MulSIExtendedOp = "mulsi_extended" {
        operands { lhs: One SignlessIntegerLike, rhs: One SameAs("lhs") }
        results { low: One SameAs("lhs"), high: One SameAs("lhs") }
        traits [Pure, Commutative, Elementwise]
        format "$lhs `,` $rhs attr-dict `:` type($lhs)"
        fold integer::mulsi_extended;
    }

    /// Product of unsigned integers in twice the width: its low and its high half.
    MulUIExtendedOp = "mului_extended" {
        operands { lhs: One SignlessIntegerLike, rhs: One SameAs("lhs") }
        results { low: One SameAs("lhs"), high: One SameAs("lhs") }
        traits [Pure, Commutative, Elementwise]
        format "$lhs `,` $rhs attr-dict `:` type($lhs)"
        fold integer::mului_extended;
    }

    /// Quotient of unsigned integers, rounded down. Division by zero is undefined behaviour; with
    /// `exact` a remainder makes the result poison.
    DivUIOp = "divui" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        attrs { isExact: Optional Unit }
        traits [SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`exact` $isExact^)? attr-dict `:` type($result)"
        fold division::divui;
    }

    /// Quotient of signed integers, rounded towards zero. Division by zero and overflow (the least
    /// integer by -1) are undefined behaviour; with `exact` a remainder makes the result poison.
    DivSIOp = "divsi" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        attrs { isExact: Optional Unit }
        traits [SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`exact` $isExact^)? attr-dict `:` type($result)"
        fold division::divsi;
    }

    /// Quotient of unsigned integers, rounded up. Division by zero is undefined behaviour.
    CeilDivUIOp = "ceildivui" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs attr-dict `:` type($result)"
        fold division::ceildivui;
    }

    /// Quotient of signed integers, rounded up. Division by zero and overflow are undefined
    /// behaviour.
    CeilDivSIOp = "ceildivsi" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs attr-dict `:` type($result)"
        fold division::ceildivsi;
    }

    /// Quotient of signed integers, rounded down. Division by zero and overflow are undefined
    /// behaviour.
    FloorDivSIOp = "floordivsi" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs attr-dict `:` type($result)"
        fold division::floordivsi;
    }

    /// Remainder of the unsigned division. A divisor of zero is undefined behaviour.
    RemUIOp = "remui" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs attr-dict `:` type($result)"
        fold division::remui;
    }

    /// Remainder of the signed division that rounds towards zero: it has the sign of the dividend.
    /// A divisor of zero is undefined behaviour.
    RemSIOp = "remsi" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs attr-dict `:` type($result)"
        fold division::remsi;
    }

    /// Bitwise conjunction.
    AndIOp = "andi" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [Pure, Commutative, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs attr-dict `:` type($result)"
        fold bits::andi;
    }

    /// Bitwise disjunction.
    OrIOp = "ori" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [Pure, Commutative, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs attr-dict `:` type($result)"
        fold bits::ori;
    }

    /// Bitwise exclusive disjunction.
    XOrIOp = "xori" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [Pure, Commutative, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs attr-dict `:` type($result)"
        fold bits::xori;
    }

    /// Shift to the left, zeros coming in. A distance not below the width makes the result poison,
    /// and so does a lost bit that `nsw` or `nuw` excludes.
    ShLIOp = "shli" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        attrs { overflowFlags: Default = "#arith.overflow<none>" Enum(&OVERFLOW) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`overflow` `` $overflowFlags^)? attr-dict `:` type($result)"
        fold bits::shli;
    }

    /// Shift to the right, zeros coming in. A distance not below the width makes the result poison;
    /// with `exact` so does a lost bit that is set.
    ShRUIOp = "shrui" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        attrs { isExact: Optional Unit }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`exact` $isExact^)? attr-dict `:` type($result)"
        fold bits::shrui;
    }

    /// Shift to the right, copies of the sign coming in. A distance not below the width makes the
    /// result poison; with `exact` so does a lost bit that is set.
    ShRSIOp = "shrsi" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        attrs { isExact: Optional Unit }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`exact` $isExact^)? attr-dict `:` type($result)"
        fold bits::shrsi;
    }

    /// Negation: the sign bit flipped, of NaNs too.
    NegFOp = "negf" {
        operands { operand: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold float::negf;
    }

    /// Sum.
    AddFOp = "addf" {
        operands { lhs: One FloatLike, rhs: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, Commutative, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold float::addf;
    }

    /// Difference.
    SubFOp = "subf" {
        operands { lhs: One FloatLike, rhs: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold float::subf;
    }

    /// The greater number; NaN if either is NaN; `0.0` is greater than `-0.0`.
    MaximumFOp = "maximumf" {
        operands { lhs: One FloatLike, rhs: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, Commutative, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold float::maximumf;
    }

    /// The greater number; if one is NaN, the other.
    MaxNumFOp = "maxnumf" {
        operands { lhs: One FloatLike, rhs: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, Commutative, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold float::maxnumf;
    }

    /// The greater of two signed integers.
    MaxSIOp = "maxsi" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [Pure, Commutative, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs attr-dict `:` type($result)"
        fold minmax::maxsi;
    }

    /// The greater of two unsigned integers.
    MaxUIOp = "maxui" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [Pure, Commutative, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs attr-dict `:` type($result)"
        fold minmax::maxui;
    }

    /// The lesser number; NaN if either is NaN; `-0.0` is less than `0.0`.
    MinimumFOp = "minimumf" {
        operands { lhs: One FloatLike, rhs: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, Commutative, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold float::minimumf;
    }

    /// The lesser number; if one is NaN, the other.
    MinNumFOp = "minnumf" {
        operands { lhs: One FloatLike, rhs: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, Commutative, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold float::minnumf;
    }

    /// The lesser of two signed integers.
    MinSIOp = "minsi" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [Pure, Commutative, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs attr-dict `:` type($result)"
        fold minmax::minsi;
    }

    /// The lesser of two unsigned integers.
    MinUIOp = "minui" {
        operands { lhs: One SignlessIntegerLike, rhs: One SignlessIntegerLike }
        results { result: One SignlessIntegerLike }
        traits [Pure, Commutative, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs attr-dict `:` type($result)"
        fold minmax::minui;
    }

    /// Product.
    MulFOp = "mulf" {
        operands { lhs: One FloatLike, rhs: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, Commutative, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold float::mulf;
    }

    /// Quotient.
    DivFOp = "divf" {
        operands { lhs: One FloatLike, rhs: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold float::divf;
    }

    /// Remainder of the division that rounds towards zero, exact, with the sign of the dividend:
    /// C's `fmod`.
    RemFOp = "remf" {
        operands { lhs: One FloatLike, rhs: One FloatLike }
        results { result: One FloatLike }
        attrs { fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameOperandsAndResultType, Elementwise]
        format "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"
        fold float::remf;
    }

    /// An integer in a wider type, filled with zeros.
    ExtUIOp = "extui" {
        operands { r#in: One SignlessFixedWidthIntegerLike }
        results { out: One SignlessFixedWidthIntegerLike }
        traits [Pure, Elementwise]
        format "$in attr-dict `:` type($in) `to` type($out)"
        verify_signature verify::extend_int;
        fold cast::extui;
    }

    /// An integer in a wider type, filled with copies of its sign.
    ExtSIOp = "extsi" {
        operands { r#in: One SignlessFixedWidthIntegerLike }
        results { out: One SignlessFixedWidthIntegerLike }
        traits [Pure, Elementwise]
        format "$in attr-dict `:` type($in) `to` type($out)"
        verify_signature verify::extend_int;
        fold cast::extsi;
    }

    /// A float in a wider type; exact.
    ExtFOp = "extf" {
        operands { r#in: One FloatLike }
        results { out: One FloatLike }
        attrs { fastmath: Optional Enum(&FASTMATH) }
        traits [Pure, Elementwise]
        format "$in (`fastmath` `` $fastmath^)? attr-dict `:` type($in) `to` type($out)"
        verify_signature verify::extend_float;
        fold cast::extf;
    }

    /// A float in a wider type, times a scale that is rounded to a power of two (`f8E8M0FNU`): a
    /// block of a scaled format unpacked.
    ScalingExtFOp = "scaling_extf" {
        operands { r#in: One FloatLike, scale: One FloatLike }
        results { out: One FloatLike }
        attrs { fastmath: Optional Enum(&FASTMATH) }
        traits [Pure, Elementwise]
        format "$in `,` $scale (`fastmath` `` $fastmath^)? attr-dict `:` type($in) `,` type($scale) `to` type($out)"
        verify_signature verify::scaling_extf;
    }

    /// The low bits of an integer. With `nsw` (`nuw`) the result is poison unless extending it by
    /// its sign (by zeros) gives the integer back.
    TruncIOp = "trunci" {
        operands { r#in: One SignlessFixedWidthIntegerLike }
        results { out: One SignlessFixedWidthIntegerLike }
        attrs { overflowFlags: Default = "#arith.overflow<none>" Enum(&OVERFLOW) }
        traits [Pure, Elementwise]
        format "$in (`overflow` `` $overflowFlags^)? attr-dict `:` type($in) `to` type($out)"
        verify_signature verify::truncate_int;
        fold cast::trunci;
    }

    /// A float rounded to a narrower type. It rounds to nearest, ties to even, unless a rounding
    /// mode is given.
    TruncFOp = "truncf" {
        operands { r#in: One FloatLike }
        results { out: One FloatLike }
        attrs { roundingmode: Optional Enum(&ROUNDING_MODE), fastmath: Optional Enum(&FASTMATH) }
        traits [Pure, Elementwise]
        format "$in ($roundingmode^)? (`fastmath` `` $fastmath^)? attr-dict `:` type($in) `to` type($out)"
        verify_signature verify::truncate_float;
        fold cast::truncf;
    }

    /// A float divided by a scale that is rounded to a power of two (`f8E8M0FNU`), in a narrower
    /// type: a block of a scaled format packed.
    ScalingTruncFOp = "scaling_truncf" {
        operands { r#in: One FloatLike, scale: One FloatLike }
        results { out: One FloatLike }
        attrs { roundingmode: Optional Enum(&ROUNDING_MODE), fastmath: Optional Enum(&FASTMATH) }
        traits [Pure, Elementwise]
        format "$in `,` $scale ($roundingmode^)? (`fastmath` `` $fastmath^)? attr-dict `:` type($in) `,` type($scale) `to` type($out)"
        verify_signature verify::scaling_truncf;
    }

    /// An unsigned integer as the nearest float.
    UIToFPOp = "uitofp" {
        operands { r#in: One SignlessFixedWidthIntegerLike }
        results { out: One FloatLike }
        traits [Pure, Elementwise]
        format "$in attr-dict `:` type($in) `to` type($out)"
        verify_signature verify::cast_shape;
        fold cast::uitofp;
    }

    /// A signed integer as the nearest float.
    SIToFPOp = "sitofp" {
        operands { r#in: One SignlessFixedWidthIntegerLike }
        results { out: One FloatLike }
        traits [Pure, Elementwise]
        format "$in attr-dict `:` type($in) `to` type($out)"
        verify_signature verify::cast_shape;
        fold cast::sitofp;
    }

    /// A float rounded towards zero to an unsigned integer; poison if it does not fit.
    FPToUIOp = "fptoui" {
        operands { r#in: One FloatLike }
        results { out: One SignlessFixedWidthIntegerLike }
        traits [Pure, Elementwise]
        format "$in attr-dict `:` type($in) `to` type($out)"
        verify_signature verify::cast_shape;
        fold cast::fptoui;
    }

    /// A float rounded towards zero to a signed integer; poison if it does not fit.
    FPToSIOp = "fptosi" {
        operands { r#in: One FloatLike }
        results { out: One SignlessFixedWidthIntegerLike }
        traits [Pure, Elementwise]
        format "$in attr-dict `:` type($in) `to` type($out)"
        verify_signature verify::cast_shape;
        fold cast::fptosi;
    }

    /// An index as an integer or an integer as an index: cut to the narrower, or filled with copies
    /// of the sign.
    IndexCastOp = "index_cast" {
        operands { r#in: One Where("signless-integer-like or memref of signless-integer", verify::is_index_castable) }
        results { out: One Where("signless-integer-like or memref of signless-integer", verify::is_index_castable) }
        traits [Pure, Elementwise]
        format "$in attr-dict `:` type($in) `to` type($out)"
        verify_signature verify::index_cast;
        fold cast::index_cast;
    }

    /// An index as an integer or an integer as an index: cut to the narrower, or filled with zeros.
    IndexCastUIOp = "index_castui" {
        operands { r#in: One Where("signless-integer-like or memref of signless-integer", verify::is_index_castable) }
        results { out: One Where("signless-integer-like or memref of signless-integer", verify::is_index_castable) }
        traits [Pure, Elementwise]
        format "$in attr-dict `:` type($in) `to` type($out)"
        verify_signature verify::index_cast;
        fold cast::index_castui;
    }

    /// The same bits seen as another type of the same width.
    BitcastOp = "bitcast" {
        operands { r#in: One Where("signless-integer-or-float-like or memref of signless-integer or float", verify::is_bitcastable) }
        results { out: One Where("signless-integer-or-float-like or memref of signless-integer or float", verify::is_bitcastable) }
        traits [Pure, Elementwise]
        format "$in attr-dict `:` type($in) `to` type($out)"
        verify_signature verify::bitcast;
        fold cast::bitcast;
    }

    /// Comparison of integers: of bits (`eq`, `ne`), as signed (`slt`, `sle`, `sgt`, `sge`) or as
    /// unsigned (`ult`, `ule`, `ugt`, `uge`).
    CmpIOp = "cmpi" {
        operands { lhs: One SignlessIntegerLike, rhs: One SameAs("lhs") }
        results { result: One BoolShapedAs("lhs") }
        attrs { predicate: Required Enum(&CMPI_PREDICATE) }
        traits [Pure, SameTypeOperands, Elementwise]
        format "$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)"
        fold compare::cmpi;
    }

    /// Comparison of floats: `o…` is false and `u…` is true where either is NaN.
    CmpFOp = "cmpf" {
        operands { lhs: One FloatLike, rhs: One SameAs("lhs") }
        results { result: One BoolShapedAs("lhs") }
        attrs { predicate: Required Enum(&CMPF_PREDICATE), fastmath: Default = "#arith.fastmath<none>" Enum(&FASTMATH) }
        traits [Pure, SameTypeOperands, Elementwise]
        format "$predicate `,` $lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($lhs)"
        fold compare::cmpf;
    }

    /// Selects one of two values by a condition; for vectors and tensors also element by element.
    /// Poison in the other value does no harm.
    SelectOp = "select" {
        operands { condition: One BoolLike, true_value: One Any, false_value: One SameAs("true_value") }
        results { result: One SameAs("true_value") }
        traits [Pure, Elementwise]
        syntax (syntax::parse_select, syntax::print_select);
        verify_signature verify::select;
        fold select::select;
    }
}

/// Registers the dialect with its interfaces.
pub fn register(registry: &mut Registry) {
    registry.dialect(&ARITH);
    evaluate::register(registry);
    interfaces::register(registry);
    registry.patterns(patterns::PATTERNS);
    registry.patterns(patterns::conversions::PATTERNS);
}
