//! Conversions between types.

use loomir_ir::dialect;

use super::attributes::OVERFLOW;
use super::constraints::{FloatOrVector, IntegerOrVector, NonAggregate, PointerOrVector};

mod rules;

dialect! {
    /// Conversions between types.
    pub CONVERSIONS = "llvm" {}

    /// The same bits as another type of the same size.
    BitcastOp = "bitcast" {
        operands { arg: One NonAggregate }
        results { res: One NonAggregate }
        traits [Pure]
        format "$arg attr-dict `:` type($arg) `to` type($res)"
        verify_signature rules::verify_bitcast;
        fold rules::fold_bitcast;
    }

    /// The same pointer in another address space.
    AddrSpaceCastOp = "addrspacecast" {
        operands { arg: One PointerOrVector }
        results { res: One PointerOrVector }
        traits [Pure]
        format "$arg attr-dict `:` type($arg) `to` type($res)"
        fold rules::fold_bitcast;
    }

    /// A number as a pointer.
    IntToPtrOp = "inttoptr" {
        operands { arg: One IntegerOrVector }
        results { res: One PointerOrVector }
        attrs { dereferenceable: Optional Dialect("llvm.dereferenceable") }
        traits [Pure]
        format "$arg (`dereferenceable` `` $dereferenceable^)? attr-dict `:` type($arg) `to` type($res)"
    }

    /// The address of a pointer as a number.
    PtrToIntOp = "ptrtoint" {
        operands { arg: One PointerOrVector }
        results { res: One IntegerOrVector }
        traits [Pure]
        format "$arg attr-dict `:` type($arg) `to` type($res)"
    }

    /// To a wider integer, the sign bit repeated.
    SExtOp = "sext" {
        operands { arg: One IntegerOrVector }
        results { res: One IntegerOrVector }
        traits [Pure]
        format "$arg attr-dict `:` type($arg) `to` type($res)"
        verify_signature rules::verify_extension;
        fold rules::fold_sext;
    }

    /// To a wider integer, filled with zeros; with `nneg` poison if the sign bit is set.
    ZExtOp = "zext" {
        operands { arg: One IntegerOrVector }
        results { res: One IntegerOrVector }
        attrs { nonNeg: Optional Unit }
        traits [Pure]
        format "(`nneg` $nonNeg^)? $arg attr-dict `:` type($arg) `to` type($res)"
        verify_signature rules::verify_extension;
        fold rules::fold_zext;
    }

    /// To a narrower integer: the low bits; poison if the flags forbid the bits that are lost.
    TruncOp = "trunc" {
        operands { arg: One IntegerOrVector }
        results { res: One IntegerOrVector }
        attrs { overflowFlags: Default = "0 : i32" Enum(&OVERFLOW) }
        traits [Pure]
        format "$arg (`overflow` `<` $overflowFlags^ `>`)? attr-dict `:` type($arg) `to` type($res)"
        fold rules::fold_trunc;
    }

    /// The float nearest to a signed integer.
    SIToFPOp = "sitofp" {
        operands { arg: One IntegerOrVector }
        results { res: One FloatOrVector }
        traits [Pure]
        format "$arg attr-dict `:` type($arg) `to` type($res)"
    }

    /// The float nearest to an unsigned integer; with `nneg` poison if the sign bit is set.
    UIToFPOp = "uitofp" {
        operands { arg: One IntegerOrVector }
        results { res: One FloatOrVector }
        attrs { nonNeg: Optional Unit }
        traits [Pure]
        format "(`nneg` $nonNeg^)? $arg attr-dict `:` type($arg) `to` type($res)"
    }

    /// A float rounded to zero as a signed integer; poison if it does not fit.
    FPToSIOp = "fptosi" {
        operands { arg: One FloatOrVector }
        results { res: One IntegerOrVector }
        traits [Pure]
        format "$arg attr-dict `:` type($arg) `to` type($res)"
    }

    /// A float rounded to zero as an unsigned integer; poison if it does not fit.
    FPToUIOp = "fptoui" {
        operands { arg: One FloatOrVector }
        results { res: One IntegerOrVector }
        traits [Pure]
        format "$arg attr-dict `:` type($arg) `to` type($res)"
    }

    /// To a wider float.
    FPExtOp = "fpext" {
        operands { arg: One FloatOrVector }
        results { res: One FloatOrVector }
        traits [Pure]
        format "$arg attr-dict `:` type($arg) `to` type($res)"
    }

    /// To a narrower float, rounded to nearest.
    FPTruncOp = "fptrunc" {
        operands { arg: One FloatOrVector }
        results { res: One FloatOrVector }
        traits [Pure]
        format "$arg attr-dict `:` type($arg) `to` type($res)"
    }
}
