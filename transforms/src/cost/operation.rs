//! The cost of single operations.

use loomir_dialects::llvm;
use loomir_ir::{Body, Op, Trait};

use super::Machine;
use crate::approximation::may_be_approximate;

/// True if an operation costs something: an address is computed by the load or store that uses it.
pub(super) fn is_counted(ir: &Body, op: Op) -> bool {
    !ir.has_trait(op, Trait::ConstantLike) && !ir.is(op, llvm::GEPOp::DEF)
}

/// A call of a function of the C library that an operation becomes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// It has one number.
    Single,
    /// It may be approximate, so that there are functions of vectors (`-fveclib` of clang).
    Vector,
}

impl Call {
    pub(super) fn of(ir: &Body, op: Op) -> Option<Call> {
        let view = ir.op_ref(op);
        let name = view.name().strip_prefix("math.").or(view.name().strip_prefix("llvm.intr."))?;
        if !FUNCTIONS.contains(&name) {
            return None;
        }
        Some(if may_be_approximate(ir, op) { Call::Vector } else { Call::Single })
    }
}

/// The operations that have no instruction.
const FUNCTIONS: [&str; 26] = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "erf", "erfc", "exp",
    "exp2", "expm1", "log", "log10", "log1p", "log2", "pow", "powf", "sin", "sincos", "sinh", "tan", "tanh",
];

/// The operations of such a function, with those that save registers.
pub(super) const CALL: f64 = 24.0;

/// The latency of a division or a root, in units of that of an addition.
const DIVISION: f64 = 3.5;

/// The same of the greatest of two numbers, one of which may be no number.
const EXTREME: f64 = 2.0;

/// The same of products and quotients of integers, in units of their additions.
const INTEGER_PRODUCT: f64 = 3.0;
const INTEGER_QUOTIENT: f64 = 12.0;

/// Returns the cycles until the result of an operation is there.
pub(super) fn latency(ir: &Body, machine: &Machine, op: Op) -> f64 {
    let view = ir.op_ref(op);
    let Some(result) = ir.results(op).next() else { return 0.0 };
    let name = view.name();
    let name = name.rsplit('.').next().unwrap_or(name);
    if ir.value_type(result).is_float(ir.ctx()) {
        return machine.latency
            * match name {
                "divf" | "fdiv" | "remf" | "frem" | "sqrt" | "rsqrt" => DIVISION,
                "maximumf" | "minimumf" | "maximum" | "minimum" | "maxnumf" | "minnumf" | "maxnum"
                | "minnum" => EXTREME,
                "select" | "bitcast" | "negf" | "fneg" | "absf" | "fabs" | "freeze" => 0.25,
                _ => 1.0,
            };
    }
    machine.integer_latency
        * match name {
            "muli" | "mul" => INTEGER_PRODUCT,
            "divsi" | "divui" | "remsi" | "remui" | "sdiv" | "udiv" | "srem" | "urem" => INTEGER_QUOTIENT,
            _ => 1.0,
        }
}
