//! Functions that may be approximate become arithmetic, so that loops with them become vectors.
//!
//! The flag `afn` allows a program to compute a function approximately. A call of the C library
//! computes one number; arithmetic computes as many as a vector holds. `exp` and `exp2` of `f32`
//! and `f64`, and `log` and `tanh` of `f32`, are replaced by a polynomial of a reduced argument, as
//! are the intrinsics of LLVM for them. Functions without the flag stay, and so do sine and cosine,
//! whose argument is costly to reduce if it is great.
//!
//! | function | greatest error in units of the last place |
//! | --- | --- |
//! | `exp`, `f32` | 1.02 |
//! | `exp2`, `f32` | 1.23 |
//! | `log`, `f32` | 0.96 |
//! | `tanh`, `f32` | 1.47 |
//! | `exp`, `f64` | 1.05 |
//! | `exp2`, `f64` | 1.25 |
//!
//! Errors of `f32` are the greatest of all arguments, errors of `f64` of twenty million. Products
//! may be added without being rounded (`contract`), where the target can; the bounds hold for both.
//! Zeros, infinities, NaNs and subnormal numbers give what the function gives: `afn` does not allow
//! to ignore them.
//!
//! **Example.** The exponential function, which the flag allows to approximate:
//!
//! ```mlir
//! func.func @f(%x: f32) -> f32 {
//!   %0 = math.exp %x fastmath<afn> : f32
//!   return %0 : f32
//! }
//! ```
//!
//! # Assumptions
//!
//! - Floating-point numbers round to nearest, as they do for all operations of `arith` without a
//!   rounding mode. Strict functions, which may change it, have other operations.
//!
//! **Cost.** Linear in the operations.

use loomir_dialects::{arith, llvm};
use loomir_ir::opdef::EnumDef;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Body, Builder, Diagnostics, FloatKind, Op, Type, TypeKind};

mod formulas;
mod writer;

use writer::{DOUBLE, Format, SINGLE, Writer};

/// The pass `math-polynomial-approximation`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "math-polynomial-approximation",
    anchor: None,
    summary: "Write functions that may be approximate (afn) as arithmetic",
    options: &[],
    make: |_| Ok(Box::new(Approximate)),
};

struct Approximate;

impl Pass for Approximate {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        body.for_each_body(&mut |body| {
            let ops: Vec<Op> = body.all_ops().collect();
            let approximated = ops.into_iter().filter(|op| approximate(body, *op)).count();
            cx.count("Functions approximated", approximated as u64);
        });
        Ok(())
    }
}

/// True if an operation has the flag `afn`: its result may be approximate.
pub fn may_be_approximate(body: &Body, op: Op) -> bool {
    FLAGS.iter().any(|(name, flags)| {
        let own = body.attr(op, name).and_then(|attr| flags.value(body.ctx(), attr)).unwrap_or(0);
        own & flags.value_of("afn").unwrap_or(0) != 0
    })
}

/// The attributes with flags, of `math` and of `llvm`.
static FLAGS: [(&str, &EnumDef); 2] =
    [("fastmath", &arith::FASTMATH), ("fastmathFlags", &llvm::attributes::FASTMATH)];

/// Removes the flags of a function, so that it is no longer approximate.
pub fn make_exact(body: &mut Body, op: Op) {
    for (name, flags) in FLAGS {
        if body.attr(op, name).is_some() {
            let none = flags.attr(body.ctx(), 0);
            body.set_attr(op, name, none);
        }
    }
}

/// True if [`approximate`] replaces an operation.
pub fn can_approximate(body: &Body, op: Op) -> bool {
    formula_of(body, op).is_some()
}

/// Replaces a function by arithmetic. Returns false, and leaves it, if it is none that may be
/// approximate, or if there is no formula for its type.
pub fn approximate(body: &mut Body, op: Op) -> bool {
    let Some((formula, format)) = formula_of(body, op) else { return false };
    let (argument, result) = (body.operand(op, 0), body.result(op, 0));
    let mut writer = Writer::new(Builder::before(body, op), argument, format);
    let value = formula(&mut writer, argument);
    body.replace_all_uses(result, value);
    body.erase(op);
    true
}

type Formula = fn(&mut Writer<'_>, loomir_ir::Value) -> loomir_ir::Value;

/// Returns the formula of a function that may be approximate, and the format of its numbers.
fn formula_of(body: &Body, op: Op) -> Option<(Formula, &'static Format)> {
    let view = body.op_ref(op);
    let name = view.name().strip_prefix("math.").or(view.name().strip_prefix("llvm.intr."))?;
    let formula: Formula = match name {
        "exp" => formulas::exp,
        "exp2" => formulas::exp2,
        "log" => formulas::log,
        "tanh" => formulas::tanh,
        _ => return None,
    };
    if !may_be_approximate(body, op) || view.num_operands() != 1 || view.num_results() != 1 {
        return None;
    }
    let ctx = body.ctx();
    let ty = view.operand_type(0);
    let is_vector = matches!(ty.kind(ctx), TypeKind::Vector { .. });
    let scalar: Type = ty.scalar(ctx);
    let format = match scalar.kind(ctx) {
        TypeKind::Float(FloatKind::F32) => &SINGLE,
        TypeKind::Float(FloatKind::F64) if matches!(name, "exp" | "exp2") => &DOUBLE,
        _ => return None,
    };
    (scalar == ty || is_vector).then_some((formula, format))
}
