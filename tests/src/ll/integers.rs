//! Random operations on integers that are never undefined: operands are first brought into the
//! range that a flag promises.

use super::function::Function;
use super::types::{ELEMENT_WIDTHS, Ty, integer, mask, splat};

const PREDICATES: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];

impl Function<'_> {
    /// `op ty a, b`.
    pub(super) fn binary(&mut self, op: &str, ty: &Ty, a: &str, b: &str) -> String {
        self.make(&format!("{op} {ty} {a}, {b}"))
    }

    /// Returns a value masked by `bits`, in each element.
    fn masked(&mut self, ty: &Ty, value: &str, bits: u128) -> String {
        self.binary("and", ty, value, &splat(ty, bits))
    }

    fn shift_amount(&mut self, ty: &Ty, below: u32) -> String {
        let value = self.value(ty);
        if below <= 1 {
            return splat(ty, 0);
        }
        self.binary("urem", ty, &value, &splat(ty, below.into()))
    }

    /// One operation.
    pub(super) fn integers(&mut self) {
        let scalar = Ty::int(self.random);
        let ty = Ty::lanes(self.random, scalar);
        let (a, b, w) = (self.value(&ty), self.value(&ty), ty.width());
        match self.random.weighted(&[18, 14, 8, 10, 4, 10, 6, 16, 20, 3]) {
            0 => {
                let op = *self.random.pick(&["add", "sub", "mul", "and", "or", "xor"]);
                self.keep(&ty, &format!("{op} {ty} {a}, {b}"));
            }
            1 if w > 2 => self.flagged(&ty, &a, &b),
            2 if w > 2 => self.division(&ty, &a, &b),
            3 => {
                let op = *self.random.pick(&["shl", "lshr", "ashr"]);
                let amount = self.shift_amount(&ty, w);
                self.keep(&ty, &format!("{op} {ty} {a}, {amount}"));
            }
            4 if w > 2 => self.exact(&ty, &a),
            5 => self.integer_comparison(&ty, &a, &b),
            6 => {
                let condition = if self.random.chance(50) { ty.with(Ty::Int(1)) } else { Ty::Int(1) };
                let chosen = self.value(&condition);
                self.keep(&ty, &format!("select {condition} {chosen}, {ty} {a}, {ty} {b}"));
            }
            7 => self.integer_cast(&ty, &a),
            8 => self.integer_intrinsic(&ty, &a, &b),
            _ => {
                self.keep(&ty, &format!("freeze {ty} {a}"));
            }
        }
    }

    /// Writes an operation with `nsw`, `nuw` or `disjoint`.
    fn flagged(&mut self, ty: &Ty, a: &str, b: &str) {
        let w = ty.width();
        let flags = *self.random.pick(&["nsw", "nuw", "nuw nsw"]);
        let (half, quarter) = (mask((w - 1) / 2), mask(w - 2));
        let own = *self.random.pick(&["add", "sub", "mul", "shl", "or"]);
        let (op, a, b) = match own {
            "add" => (format!("add {flags}"), self.masked(ty, a, quarter), self.masked(ty, b, quarter)),
            "mul" => (format!("mul {flags}"), self.masked(ty, a, half), self.masked(ty, b, half)),
            "sub" => {
                let (small, smaller) = (self.masked(ty, a, quarter), self.masked(ty, b, quarter));
                let large = self.binary("or", ty, &small, &splat(ty, quarter + 1));
                (format!("sub {flags}"), large, smaller)
            }
            "shl" => {
                let amount = self.shift_amount(ty, w - 1 - (w - 1) / 2);
                (format!("shl {flags}"), self.masked(ty, a, half), amount)
            }
            _ => {
                let bits = u128::from(self.random.bits()) << 40 | u128::from(self.random.bits());
                let others = self.masked(ty, b, !bits & mask(w));
                ("or disjoint".to_owned(), self.masked(ty, a, bits & mask(w)), others)
            }
        };
        self.keep(ty, &format!("{op} {ty} {a}, {b}"));
    }

    /// Writes a division or remainder by a value that is neither 0 nor -1.
    fn division(&mut self, ty: &Ty, a: &str, b: &str) {
        let (op, w) = (*self.random.pick(&["udiv", "urem", "sdiv", "srem"]), ty.width());
        let divisor = if op.starts_with('u') || self.random.chance(50) {
            // Positive.
            let positive = self.masked(ty, b, mask(w - 1));
            self.binary("or", ty, &positive, &splat(ty, 1))
        } else {
            // Negative and even.
            let negative = self.binary("or", ty, b, &splat(ty, 1 << (w - 1)));
            self.masked(ty, &negative, mask(w) - 1)
        };
        self.keep(ty, &format!("{op} {ty} {a}, {divisor}"));
    }

    /// Writes an exact division or shift.
    fn exact(&mut self, ty: &Ty, a: &str) {
        let w = ty.width();
        let amount = self.random.below((w - 1).min(60) as usize) as u32;
        let (op, by) = match self.random.below(4) {
            0 => ("lshr", splat(ty, amount.into())),
            1 => ("ashr", splat(ty, amount.into())),
            2 => ("udiv", splat(ty, 1 << amount)),
            _ => ("sdiv", splat(ty, 1 << amount)),
        };
        let multiple = self.binary("shl", ty, a, &splat(ty, amount.into()));
        self.keep(ty, &format!("{op} exact {ty} {multiple}, {by}"));
    }

    fn integer_comparison(&mut self, ty: &Ty, a: &str, b: &str) {
        let predicate = *self.random.pick(&PREDICATES);
        let sign = 1 << (ty.width() - 1);
        let (flag, a, b) = match self.random.below(6) {
            0 => {
                let both = splat(ty, sign);
                ("samesign ", self.binary("or", ty, a, &both), self.binary("or", ty, b, &both))
            }
            1 => ("samesign ", self.masked(ty, a, sign - 1), self.masked(ty, b, sign - 1)),
            _ => ("", a.to_owned(), b.to_owned()),
        };
        self.keep(&ty.with(Ty::Int(1)), &format!("icmp {flag}{predicate} {ty} {a}, {b}"));
    }

    /// Writes a conversion to another width, to a float, or to another type of the same size.
    fn integer_cast(&mut self, ty: &Ty, a: &str) {
        let w = ty.width();
        if self.random.chance(25) {
            return self.bitcast(ty, a);
        }
        if self.random.chance(25) {
            if w > 64 {
                return;
            }
            let to = ty.with(Ty::float(self.random));
            let (word, a) = match self.random.below(3) {
                0 => ("sitofp", a.to_owned()),
                1 => ("uitofp", a.to_owned()),
                _ => ("uitofp nneg", self.masked(ty, a, mask(w) >> 1)),
            };
            self.keep(&to, &format!("{word} {ty} {a} to {to}"));
            return;
        }
        let scalar = Ty::int(self.random);
        if ty.count().is_some() && !scalar.may_be_element() {
            return;
        }
        let to = ty.with(scalar);
        let (word, a) = match to.width() {
            other if other == w => return,
            other if other < w => match self.random.below(4) {
                0 if other > 1 => {
                    let flags = *self.random.pick(&["nuw", "nsw", "nuw nsw"]);
                    (format!("trunc {flags}"), self.masked(ty, a, mask(other) >> 1))
                }
                _ => ("trunc".to_owned(), a.to_owned()),
            },
            _ => match self.random.below(3) {
                0 => ("sext".to_owned(), a.to_owned()),
                1 => ("zext".to_owned(), a.to_owned()),
                _ => ("zext nneg".to_owned(), self.masked(ty, a, mask(w) >> 1)),
            },
        };
        self.keep(&to, &format!("{word} {ty} {a} to {to}"));
    }

    /// Writes a cast of the same bits to elements of another width, or to one.
    fn bitcast(&mut self, ty: &Ty, a: &str) {
        let bits = ty.bits();
        let mut fitting: Vec<Ty> = ELEMENT_WIDTHS
            .iter()
            .copied()
            .filter(|width| bits.is_multiple_of(*width) && (1..=16).contains(&(bits / width)))
            .map(|width| Ty::vector(bits / width, Ty::Int(width)))
            .collect();
        if bits <= 128 {
            fitting.push(Ty::Int(bits));
        }
        fitting.retain(|to| to != ty);
        if fitting.is_empty() {
            return;
        }
        let to = self.random.pick(&fitting).clone();
        self.keep(&to, &format!("bitcast {ty} {a} to {to}"));
    }

    fn integer_intrinsic(&mut self, ty: &Ty, a: &str, b: &str) {
        let (w, own) = (ty.width(), ty.mangled());
        match self.random.weighted(&[24, 20, 10, 24, 16, 10]) {
            0 => {
                let name = *self
                    .random
                    .pick(&["smax", "smin", "umax", "umin", "sadd.sat", "uadd.sat", "ssub.sat", "usub.sat"]);
                self.keep(ty, &format!("call {ty} @llvm.{name}.{own}({ty} {a}, {ty} {b})"));
            }
            1 => {
                let name = *self.random.pick(&["ctpop", "bitreverse", "bswap"]);
                if name != "bswap" || w.is_multiple_of(16) {
                    self.keep(ty, &format!("call {ty} @llvm.{name}.{own}({ty} {a})"));
                }
            }
            2 => {
                let name = *self.random.pick(&["sshl.sat", "ushl.sat"]);
                let amount = self.shift_amount(ty, w);
                self.keep(ty, &format!("call {ty} @llvm.{name}.{own}({ty} {a}, {ty} {amount})"));
            }
            3 => {
                let name = *self.random.pick(&["ctlz", "cttz", "abs"]);
                let strict = self.random.chance(50);
                let a = match (strict, name) {
                    (false, _) => a.to_owned(),
                    (true, "abs") => self.masked(ty, a, mask(w) >> 1),
                    _ => self.binary("or", ty, a, &splat(ty, 1 << (w / 2))),
                };
                self.keep(ty, &format!("call {ty} @llvm.{name}.{own}({ty} {a}, i1 {strict})"));
            }
            4 => {
                let (op, sign) = (*self.random.pick(&["add", "sub", "mul"]), *self.random.pick(&["s", "u"]));
                let bit = ty.with(Ty::Int(1));
                let both = format!("{{ {ty}, {bit} }}");
                let call = format!("call {both} @llvm.{sign}{op}.with.overflow.{own}({ty} {a}, {ty} {b})");
                let pair = self.make(&call);
                self.keep(ty, &format!("extractvalue {both} {pair}, 0"));
                self.keep(&bit, &format!("extractvalue {both} {pair}, 1"));
            }
            _ => {
                let name = *self.random.pick(&["fshl", "fshr", "scmp", "ucmp"]);
                if name.ends_with("cmp") {
                    let to = ty.with(Ty::Int(*self.random.pick(&[8, 32])));
                    let call = format!("call {to} @llvm.{name}.{}.{own}({ty} {a}, {ty} {b})", to.mangled());
                    self.keep(&to, &call);
                } else {
                    let c = self.value(ty);
                    self.keep(ty, &format!("call {ty} @llvm.{name}.{own}({ty} {a}, {ty} {b}, {ty} {c})"));
                }
            }
        }
    }

    /// Writes an assumption about a value.
    pub(super) fn assumption(&mut self) {
        let ty = Ty::Int(*self.random.pick(&[8, 32, 64]));
        let (value, bound) = (self.value(&ty), 1 + self.random.below(100) as u128);
        let small = self.make(&format!("urem {ty} {value}, {}", integer(ty.width(), bound)));
        let holds = self.make(&format!("icmp ult {ty} {small}, {}", integer(ty.width(), bound)));
        self.line(&format!("call void @llvm.assume(i1 {holds})"));
        self.keep(&ty, &format!("add nuw nsw {ty} {small}, 1"));
    }
}
