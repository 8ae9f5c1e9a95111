//! The `index` dialect: arithmetic on `index` alone.
//!
//! Its operations compute the same results as the operations of `arith` on `index`, which has 64
//! bits here. They share the code for execution, folding and lowering. A program in `index` makes
//! no statement about other types.
//!
//! # Limits
//!
//! - `index` has 64 bits, also where a module's data layout says otherwise.

use loomir_ir::opdef::EnumStorage;
use loomir_ir::{Context, EnumDef, Registry, dialect};

use crate::arith::fold::{bits, cast, division, integer, minmax};
use crate::arith::{CMPI_PREDICATE, verify};

mod evaluate;
mod interfaces;

/// The predicates of index comparisons.
pub static CMP_PREDICATE: EnumDef =
    EnumDef { name: "index.cmp_predicate", storage: EnumStorage::BareAttribute, ..CMPI_PREDICATE };

const INTEGER_OR_INDEX: &str = "integer or index";

fn is_integer_or_index(ctx: &Context, ty: loomir_ir::Type) -> bool {
    ty.is_index() || ty.integer_width(ctx).is_some()
}

dialect! {
    /// Arithmetic on `index`.
    pub INDEX = "index" {
        enums [CMP_PREDICATE]
        constant interfaces::materialize_constant;
    }

    /// Sum. Wraps around.
    AddOp = "add" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        traits [Pure, Commutative]
        format "$lhs `,` $rhs attr-dict"
        fold integer::addi;
    }

    /// Difference. Wraps around.
    SubOp = "sub" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        traits [Pure]
        format "$lhs `,` $rhs attr-dict"
        fold integer::subi;
    }

    /// Product. Wraps around.
    MulOp = "mul" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        traits [Pure, Commutative]
        format "$lhs `,` $rhs attr-dict"
        fold integer::muli;
    }

    /// Signed quotient, rounded towards zero. Division by zero and overflow are undefined
    /// behaviour.
    DivSOp = "divs" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        format "$lhs `,` $rhs attr-dict"
        fold division::divsi;
    }

    /// Unsigned quotient, rounded down. Division by zero is undefined behaviour.
    DivUOp = "divu" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        format "$lhs `,` $rhs attr-dict"
        fold division::divui;
    }

    /// Signed quotient, rounded up. Division by zero and overflow are undefined behaviour.
    CeilDivSOp = "ceildivs" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        format "$lhs `,` $rhs attr-dict"
        fold division::ceildivsi;
    }

    /// Unsigned quotient, rounded up. Division by zero is undefined behaviour.
    CeilDivUOp = "ceildivu" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        format "$lhs `,` $rhs attr-dict"
        fold division::ceildivui;
    }

    /// Signed quotient, rounded down. Division by zero and overflow are undefined behaviour.
    FloorDivSOp = "floordivs" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        format "$lhs `,` $rhs attr-dict"
        fold division::floordivsi;
    }

    /// Remainder of the signed division that rounds towards zero. A divisor of zero is undefined
    /// behaviour.
    RemSOp = "rems" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        format "$lhs `,` $rhs attr-dict"
        fold division::remsi;
    }

    /// Remainder of the unsigned division. A divisor of zero is undefined behaviour.
    RemUOp = "remu" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        format "$lhs `,` $rhs attr-dict"
        fold division::remui;
    }

    /// The greater of two, as signed numbers.
    MaxSOp = "maxs" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        traits [Pure, Commutative]
        format "$lhs `,` $rhs attr-dict"
        fold minmax::maxsi;
    }

    /// The greater of two, as unsigned numbers.
    MaxUOp = "maxu" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        traits [Pure, Commutative]
        format "$lhs `,` $rhs attr-dict"
        fold minmax::maxui;
    }

    /// The lesser of two, as signed numbers.
    MinSOp = "mins" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        traits [Pure, Commutative]
        format "$lhs `,` $rhs attr-dict"
        fold minmax::minsi;
    }

    /// The lesser of two, as unsigned numbers.
    MinUOp = "minu" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        traits [Pure, Commutative]
        format "$lhs `,` $rhs attr-dict"
        fold minmax::minui;
    }

    /// Shift to the left, zeros coming in. A distance not below the width makes the result poison.
    ShlOp = "shl" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        traits [Pure]
        format "$lhs `,` $rhs attr-dict"
        fold bits::shli;
    }

    /// Shift to the right, copies of the sign coming in. A distance not below the width makes the
    /// result poison.
    ShrSOp = "shrs" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        traits [Pure]
        format "$lhs `,` $rhs attr-dict"
        fold bits::shrsi;
    }

    /// Shift to the right, zeros coming in. A distance not below the width makes the result poison.
    ShrUOp = "shru" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        traits [Pure]
        format "$lhs `,` $rhs attr-dict"
        fold bits::shrui;
    }

    /// Bitwise conjunction.
    AndOp = "and" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        traits [Pure, Commutative]
        format "$lhs `,` $rhs attr-dict"
        fold bits::andi;
    }

    /// Bitwise disjunction.
    OrOp = "or" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        traits [Pure, Commutative]
        format "$lhs `,` $rhs attr-dict"
        fold bits::ori;
    }

    /// Bitwise exclusive disjunction.
    XOrOp = "xor" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One Index }
        traits [Pure, Commutative]
        format "$lhs `,` $rhs attr-dict"
        fold bits::xori;
    }

    /// The same number in another width, read as signed: from an index to an integer or back.
    CastSOp = "casts" {
        operands { input: One Where(INTEGER_OR_INDEX, is_integer_or_index) }
        results { output: One Where(INTEGER_OR_INDEX, is_integer_or_index) }
        traits [Pure]
        format "$input attr-dict `:` type($input) `to` type($output)"
        verify_signature verify::index_cast;
        fold cast::extsi;
    }

    /// The same number in another width, read as unsigned: from an index to an integer or back.
    CastUOp = "castu" {
        operands { input: One Where(INTEGER_OR_INDEX, is_integer_or_index) }
        results { output: One Where(INTEGER_OR_INDEX, is_integer_or_index) }
        traits [Pure]
        format "$input attr-dict `:` type($input) `to` type($output)"
        verify_signature verify::index_cast;
        fold cast::extui;
    }

    /// The result of comparing two indices by the predicate.
    CmpOp = "cmp" {
        operands { lhs: One Index, rhs: One Index }
        results { result: One I1 }
        attrs { pred: Required Enum(&CMP_PREDICATE) }
        traits [Pure]
        format "$pred `(` $lhs `,` $rhs `)` attr-dict"
        fold interfaces::compare;
    }

    /// The number of bits of an index. Not folded: other tools that read the program may decide on
    /// another number.
    SizeOfOp = "sizeof" {
        results { result: One Index }
        traits [Pure]
        format "attr-dict"
    }

    /// A constant.
    ConstantOp = "constant" {
        results { result: One Index }
        attrs { value: Required Index }
        traits [ConstantLike, Pure]
        format "attr-dict $value"
    }

    /// A constant truth value. Comparisons fold to it.
    BoolConstantOp = "bool.constant" {
        results { result: One I1 }
        attrs { value: Required Bool }
        traits [ConstantLike, Pure]
        format "attr-dict $value"
    }
}

/// Registers the dialect with its interfaces.
pub fn register(registry: &mut Registry) {
    registry.dialect(&INDEX);
    interfaces::register(registry);
    evaluate::register(registry);
}
