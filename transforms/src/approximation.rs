//! Functions become arithmetic, so that loops with them become vectors.
//!
//! A call of the C library computes one number; arithmetic computes as many as a vector holds.
//!
//! The flag `afn` allows a program to compute a function approximately. `exp` and `exp2` of `f32`
//! and `f64`, and `log` and `tanh` of `f32`, are replaced by a polynomial of a reduced argument, as
//! are the intrinsics of LLVM for them. Sine and cosine stay, whose argument is costly to reduce if
//! it is great.
//!
//! Without the flag, `exp` and `exp2` of `f32` can be computed with the very numbers of glibc and
//! musl. Other functions stay.
//!
//! | function | greatest error in units of the last place, with `afn` |
//! | --- | --- |
//! | `exp`, `f32` | 1.02 |
//! | `exp2`, `f32` | 1.23 |
//! | `log`, `f32` | 0.96 |
//! | `tanh`, `f32` | 1.47 |
//! | `exp`, `f64` | 1.05 |
//! | `exp2`, `f64` | 1.25 |
//!
//! Errors of `f32` are the greatest of all arguments, errors of `f64` of twenty million. Products
//! may be added without being rounded (`contract`), where the target can; the bounds hold for both,
//! and so do the very numbers. Zeros, infinities, NaNs and subnormal numbers give what the function
//! gives: `afn` does not allow to ignore them.
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
//! - `math.exp` and `llvm.exp` without `afn` are the function of the C library that the program is
//!   linked with. Its target says which one that is, or else this machine.
//!
//! # Limits
//!
//! - On x86 processors without fused products glibc gives other results of `exp` for two arguments,
//!   about 32.53 and -63.10, than on those with them. The latter are computed.
//! - Vectors of several dimensions stay, and so does all on targets that compute `f64` in wider
//!   registers.
//!
//! **Cost.** Linear in the operations.

use loomir_dialects::{arith, llvm};
use loomir_ir::opdef::EnumDef;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Body, Builder, Diagnostics, FloatKind, Op, Type, TypeKind, Value};

mod formulas;
mod library;
mod writer;

use writer::{DOUBLE, Format, SINGLE, Writer};

/// The pass `math-polynomial-approximation`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "math-polynomial-approximation",
    anchor: None,
    summary: "Write functions that may be approximate (afn) as arithmetic",
    options: &[("exact", "false", "also those for which arithmetic gives the numbers of glibc and musl")],
    make: |options| {
        let is_exact = options.parse("exact", false)?;
        Ok(Box::new(Approximate(if is_exact { Formulas::All } else { Formulas::Approximate })))
    },
};

struct Approximate(Formulas);

impl Pass for Approximate {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        body.for_each_body(&mut |body| {
            let ops: Vec<Op> = body.all_ops().collect();
            let written = ops.into_iter().filter(|op| write_out(body, *op, self.0)).count();
            cx.count("Functions written as arithmetic", written as u64);
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

/// The functions that become arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Formulas {
    /// None: formulas rely on the rounding of `f64`, and the target has wider registers.
    None,
    /// Functions that may be approximate.
    Approximate,
    /// Also functions for which arithmetic gives the numbers of the C library.
    All,
}

impl Formulas {
    /// Returns the formulas for a target triple, or for this machine. The C libraries glibc and
    /// musl are known; others may round otherwise.
    ///
    /// ```
    /// use loomir_transforms::approximation::Formulas;
    /// assert_eq!(Formulas::for_target(Some("x86_64-pc-linux-gnu")), Formulas::All);
    /// assert_eq!(Formulas::for_target(Some("arm64-apple-macosx")), Formulas::Approximate);
    /// assert_eq!(Formulas::for_target(Some("i586-pc-linux-gnu")), Formulas::None);
    /// ```
    pub fn for_target(triple: Option<&str>) -> Formulas {
        let is_here = cfg!(all(target_os = "linux", any(target_env = "gnu", target_env = "musl")));
        let is_wide = |own: &str| {
            let machine = own.split('-').next().unwrap_or_default();
            machine.starts_with("m68k") || machine.starts_with('i') && machine.ends_with("86")
        };
        match triple {
            Some(own) if is_wide(own) => Formulas::None,
            None if cfg!(target_arch = "x86") => Formulas::None,
            Some(own) if own.contains("-linux-gnu") || own.contains("-linux-musl") => Formulas::All,
            None if is_here => Formulas::All,
            _ => Formulas::Approximate,
        }
    }
}

/// True if [`write_out`] replaces an operation.
pub fn has_formula(body: &Body, op: Op, among: Formulas) -> bool {
    Formula::of(body, op, among).is_some()
}

/// Replaces a function by arithmetic. Returns false, and leaves it, if there is no formula for it
/// and its type.
pub fn write_out(body: &mut Body, op: Op, among: Formulas) -> bool {
    let Some(formula) = Formula::of(body, op, among) else { return false };
    let (argument, result) = (body.operand(op, 0), body.result(op, 0));
    let ty = body.value_type(argument);
    let value = formula.write(Builder::before(body, op), argument, ty);
    body.replace_all_uses(result, value);
    body.erase(op);
    true
}

type Write = fn(&mut Writer<'_>, Value) -> Value;

/// Arithmetic for a function.
enum Formula {
    /// In the format of the argument.
    Approximate(Write, &'static Format),
    /// Of an `f32` within a range, in `f64`.
    Exact(Write, [f64; 2]),
}

impl Formula {
    /// Returns the formula of a function.
    fn of(body: &Body, op: Op, among: Formulas) -> Option<Formula> {
        let view = body.op_ref(op);
        let name = view.name().strip_prefix("math.").or(view.name().strip_prefix("llvm.intr."))?;
        if view.num_operands() != 1 || view.num_results() != 1 {
            return None;
        }
        let ctx = body.ctx();
        let ty = view.operand_type(0);
        let scalar = ty.scalar(ctx);
        // Bits of vectors of several dimensions have no counterpart in LLVM.
        let is_row = || ty.shape(ctx).is_some_and(|shape| shape.len() <= 1);
        let is_vector = matches!(ty.kind(ctx), TypeKind::Vector { .. });
        if among == Formulas::None || scalar != ty && !(is_vector && is_row()) {
            return None;
        }
        let TypeKind::Float(kind) = scalar.kind(ctx) else { return None };
        if !may_be_approximate(body, op) {
            let is_known = among == Formulas::All && *kind == FloatKind::F32;
            return match name {
                "exp" if is_known => Some(Formula::Exact(library::exp, library::RANGE[0])),
                "exp2" if is_known => Some(Formula::Exact(library::exp2, library::RANGE[1])),
                _ => None,
            };
        }
        let write: Write = match name {
            "exp" => formulas::exp,
            "exp2" => formulas::exp2,
            "log" => formulas::log,
            "tanh" => formulas::tanh,
            _ => return None,
        };
        let format = match kind {
            FloatKind::F32 => &SINGLE,
            FloatKind::F64 if matches!(name, "exp" | "exp2") => &DOUBLE,
            _ => return None,
        };
        Some(Formula::Approximate(write, format))
    }

    /// Writes the function of an argument of this type.
    fn write(self, builder: Builder<'_>, argument: Value, ty: Type) -> Value {
        match self {
            Formula::Approximate(write, format) => write(&mut Writer::new(builder, ty, format), argument),
            Formula::Exact(write, range) => {
                let mut single = Writer::new(builder, ty, &SINGLE);
                let x = single.clamped(argument, range);
                let mut double = single.in_format(&DOUBLE);
                let x = double.converted(arith::ExtFOp::DEF, x);
                let result = write(&mut double, x);
                double.in_format(&SINGLE).converted(arith::TruncFOp::DEF, result)
            }
        }
    }
}
