//! Random operations on floats whose results LLVM defines to the bit. Open results (the sign and
//! payload of a NaN, which zero is the larger) are never looked at.

use super::function::Function;
use super::types::{Ty, integer, splat_float};

const PREDICATES: [&str; 16] = [
    "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
    "false",
];

impl Function<'_> {
    /// Returns a value, with NaN replaced by one. Its bits are then the same everywhere.
    pub(super) fn without_nan(&mut self, ty: &Ty, value: &str) -> String {
        let bit = ty.with(Ty::Int(1));
        let is_nan = self.make(&format!("fcmp uno {ty} {value}, {value}"));
        self.make(&format!("select {bit} {is_nan}, {ty} {}, {ty} {value}", splat_float(ty, 1.0)))
    }

    /// Returns a value if its magnitude is at most a hundred, else three.
    fn bounded(&mut self, ty: &Ty, value: &str) -> String {
        let bit = ty.with(Ty::Int(1));
        let magnitude = self.make(&format!("call {ty} @llvm.fabs.{}({ty} {value})", ty.mangled()));
        let is_small = self.make(&format!("fcmp ole {ty} {magnitude}, {}", splat_float(ty, 100.0)));
        self.make(&format!("select {bit} {is_small}, {ty} {value}, {ty} {}", splat_float(ty, 3.0)))
    }

    /// One operation.
    pub(super) fn floats(&mut self) {
        let scalar = Ty::float(self.random);
        let ty = Ty::lanes(self.random, scalar);
        let (a, b) = (self.value(&ty), self.value(&ty));
        match self.random.weighted(&[30, 8, 14, 6, 16, 22]) {
            0 => {
                let op = *self.random.pick(&["fadd", "fsub", "fmul", "fdiv", "frem"]);
                if self.random.chance(20) && op != "fdiv" && op != "frem" {
                    let (a, b) = (self.bounded(&ty, &a), self.bounded(&ty, &b));
                    let flags = *self.random.pick(&["nnan", "ninf", "nnan ninf"]);
                    self.keep(&ty, &format!("{op} {flags} {ty} {a}, {b}"));
                } else {
                    self.keep(&ty, &format!("{op} {ty} {a}, {b}"));
                }
            }
            1 => {
                self.keep(&ty, &format!("fneg {ty} {a}"));
            }
            2 => {
                let predicate = *self.random.pick(&PREDICATES);
                self.keep(&ty.with(Ty::Int(1)), &format!("fcmp {predicate} {ty} {a}, {b}"));
            }
            3 => {
                let condition = if self.random.chance(50) { ty.with(Ty::Int(1)) } else { Ty::Int(1) };
                let chosen = self.value(&condition);
                self.keep(&ty, &format!("select {condition} {chosen}, {ty} {a}, {ty} {b}"));
            }
            4 => self.float_cast(&ty, &a),
            _ => self.float_intrinsic(&ty, &a, &b),
        }
    }

    fn float_cast(&mut self, ty: &Ty, a: &str) {
        match self.random.below(4) {
            0 => {
                let to = ty.with(Ty::float(self.random));
                if to.width() != ty.width() {
                    let word = if to.width() < ty.width() { "fptrunc" } else { "fpext" };
                    self.keep(&to, &format!("{word} {ty} {a} to {to}"));
                }
            }
            1 => {
                let to = ty.with(Ty::Int(ty.width()));
                let number = self.without_nan(ty, a);
                self.keep(&to, &format!("bitcast {ty} {number} to {to}"));
            }
            2 => {
                let from = ty.with(Ty::Int(ty.width()));
                let bits = self.value(&from);
                let any = self.make(&format!("bitcast {from} {bits} to {ty}"));
                let number = self.without_nan(ty, &any);
                self.keep(ty, &format!("freeze {ty} {number}"));
            }
            _ => {
                // The number 100 fits in eight bits.
                let widths: &[u32] =
                    if ty.count().is_some() { &[8, 16, 32, 64] } else { &[8, 16, 13, 33, 64] };
                let to = ty.with(Ty::Int(*self.random.pick(widths)));
                let small = self.bounded(ty, a);
                if self.random.chance(50) {
                    self.keep(&to, &format!("fptosi {ty} {small} to {to}"));
                } else {
                    let own = ty.mangled();
                    let positive = self.make(&format!("call {ty} @llvm.fabs.{own}({ty} {small})"));
                    self.keep(&to, &format!("fptoui {ty} {positive} to {to}"));
                }
            }
        }
    }

    fn float_intrinsic(&mut self, ty: &Ty, a: &str, b: &str) {
        let own = ty.mangled();
        match self.random.weighted(&[30, 8, 10, 16, 10, 10, 8]) {
            0 => {
                let name = *self.random.pick(&[
                    "sqrt",
                    "fabs",
                    "floor",
                    "ceil",
                    "trunc",
                    "round",
                    "roundeven",
                    "rint",
                    "nearbyint",
                ]);
                self.keep(ty, &format!("call {ty} @llvm.{name}.{own}({ty} {a})"));
            }
            1 => {
                let c = self.value(ty);
                self.keep(ty, &format!("call {ty} @llvm.fma.{own}({ty} {a}, {ty} {b}, {ty} {c})"));
            }
            2 => {
                let b = self.without_nan(ty, b);
                self.keep(ty, &format!("call {ty} @llvm.copysign.{own}({ty} {a}, {ty} {b})"));
            }
            3 => {
                // The sign of a zero result is unspecified. The sum with zero makes it positive.
                let name = *self.random.pick(&["maxnum", "minnum"]);
                let chosen = self.make(&format!("call {ty} @llvm.{name}.{own}({ty} {a}, {ty} {b})"));
                self.keep(ty, &format!("fadd {ty} {chosen}, {}", splat_float(ty, 0.0)));
            }
            4 => {
                let name = *self.random.pick(&["maximum", "minimum"]);
                self.keep(ty, &format!("call {ty} @llvm.{name}.{own}({ty} {a}, {ty} {b})"));
            }
            5 => {
                // Both kinds of NaN are tested, or none.
                let classes =
                    (self.random.bits() as i64 & 0x3fc) | if self.random.chance(50) { 3 } else { 0 };
                let bit = ty.with(Ty::Int(1));
                self.keep(&bit, &format!("call {bit} @llvm.is.fpclass.{own}({ty} {a}, i32 {classes})"));
            }
            _ if matches!(ty, Ty::Float | Ty::Double) => {
                let name = *self.random.pick(&["sin", "cos", "exp", "exp2", "log", "log2", "log10", "pow"]);
                match name {
                    "pow" => self.keep(ty, &format!("call {ty} @llvm.pow.{own}({ty} {a}, {ty} {b})")),
                    _ => self.keep(ty, &format!("call {ty} @llvm.{name}.{own}({ty} {a})")),
                };
            }
            _ => {
                let by = ty.with(Ty::Int(32));
                let power = self.value(&by);
                if ty.count().is_none() {
                    let small = self.make(&format!("srem i32 {power}, {}", integer(32, 40)));
                    self.keep(ty, &format!("call {ty} @llvm.ldexp.{own}.i32({ty} {a}, i32 {small})"));
                }
            }
        }
    }
}
