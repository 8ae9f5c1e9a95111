//! Random operations on elements of vectors, and on parts of structs and arrays.

use super::function::Function;
use super::types::{Ty, constant, splat_float};

impl Function<'_> {
    // Vectors.

    fn vector_type(&mut self) -> Ty {
        let scalar = loop {
            let scalar = Ty::number(self.random);
            if scalar.may_be_element() {
                break scalar;
            }
        };
        Ty::vector(*self.random.pick(&[2, 4, 3, 8, 1, 5]), scalar)
    }

    /// Returns the number of an element, of some integer type.
    fn element(&mut self, count: u32) -> String {
        let ty = Ty::Int(*self.random.pick(&[32, 64, 8]));
        if self.random.chance(50) {
            return format!("{ty} {}", self.random.below(count as usize));
        }
        let value = self.value(&ty);
        format!("{ty} {}", self.make(&format!("urem {ty} {value}, {count}")))
    }

    /// One operation.
    pub(super) fn vectors(&mut self) {
        let ty = self.vector_type();
        let (a, count, scalar) = (self.value(&ty), ty.count().unwrap_or(1), ty.scalar().clone());
        match self.random.weighted(&[26, 26, 28, 24]) {
            0 => {
                let element = self.element(count);
                self.keep(&scalar, &format!("extractelement {ty} {a}, {element}"));
            }
            1 => {
                let (element, value) = (self.element(count), self.value(&scalar));
                self.keep(&ty, &format!("insertelement {ty} {a}, {scalar} {value}, {element}"));
            }
            2 => self.shuffle(&ty, &a),
            _ if ty.is_int() => {
                let names = ["add", "mul", "and", "or", "xor", "smax", "smin", "umax", "umin"];
                let name = *self.random.pick(&names);
                let call = format!("call {scalar} @llvm.vector.reduce.{name}.{}({ty} {a})", ty.mangled());
                self.keep(&scalar, &call);
            }
            _ => self.float_reduction(&ty, &a),
        }
    }

    fn float_reduction(&mut self, ty: &Ty, a: &str) {
        let (scalar, own) = (ty.scalar().clone(), ty.mangled());
        let reduce = format!("call {scalar} @llvm.vector.reduce");
        match self.random.below(3) {
            0 => {
                let (name, start) = (*self.random.pick(&["fadd", "fmul"]), self.value(&scalar));
                self.keep(&scalar, &format!("{reduce}.{name}.{own}({scalar} {start}, {ty} {a})"));
            }
            1 => {
                let name = *self.random.pick(&["fmaximum", "fminimum"]);
                self.keep(&scalar, &format!("{reduce}.{name}.{own}({ty} {a})"));
            }
            _ => {
                // The sign of a zero result is unspecified. The sum with zero makes it positive.
                let name = *self.random.pick(&["fmax", "fmin"]);
                let chosen = self.make(&format!("{reduce}.{name}.{own}({ty} {a})"));
                self.keep(&scalar, &format!("fadd {scalar} {chosen}, {}", splat_float(&scalar, 0.0)));
            }
        }
    }

    /// Writes a shuffle of any elements of two vectors. An undefined lane is filled in afterwards.
    fn shuffle(&mut self, ty: &Ty, a: &str) {
        let (count, b) = (ty.count().unwrap_or(1), self.value(ty));
        let to = Ty::vector(*self.random.pick(&[count, 2, 4, 3]), ty.scalar().clone());
        let lanes = to.count().unwrap_or(1);
        let hole = if self.random.chance(30) { Some(self.random.below(lanes as usize)) } else { None };
        let lane = |at: usize, random: &mut crate::random::Random| match Some(at) == hole {
            true => "i32 poison".to_owned(),
            false => format!("i32 {}", random.below(2 * count as usize)),
        };
        let mask: Vec<String> = (0..lanes as usize).map(|at| lane(at, self.random)).collect();
        let mask = mask.join(", ");
        let shuffle = format!("shufflevector {ty} {a}, {ty} {b}, <{lanes} x i32> <{mask}>");
        match hole {
            None => self.keep(&to, &shuffle),
            Some(at) => {
                let scalar = ty.scalar().clone();
                let (shuffled, value) = (self.make(&shuffle), self.value(&scalar));
                self.keep(&to, &format!("insertelement {to} {shuffled}, {scalar} {value}, i32 {at}"))
            }
        };
    }

    // Structs and arrays.

    /// One operation.
    pub(super) fn aggregates(&mut self) {
        let is_aggregate = |ty: &Ty| matches!(ty, Ty::Struct(_) | Ty::Array(..));
        let known: Vec<Ty> = self.values.iter().map(|value| value.ty.clone()).filter(is_aggregate).collect();
        let ty = if known.is_empty() || self.random.chance(25) {
            let fields = (0..1 + self.random.below(4)).map(|_| Ty::any(self.random, 1)).collect();
            Ty::Struct(fields)
        } else {
            self.random.pick(&known).clone()
        };
        let whole = self.value(&ty);
        let (path, part) = self.path(&ty);
        if self.random.chance(50) {
            self.keep(&part, &format!("extractvalue {ty} {whole}{path}"));
        } else {
            let value = self.value(&part);
            self.keep(&ty, &format!("insertvalue {ty} {whole}, {part} {value}{path}"));
        }
    }

    /// Returns a path into an aggregate, as `, 0, 2`, and the type of the part there.
    fn path(&mut self, ty: &Ty) -> (String, Ty) {
        let (mut path, mut part) = (String::new(), ty.clone());
        loop {
            let parts = part.parts();
            if parts.is_empty() || !path.is_empty() && self.random.chance(30) {
                return (path, part);
            }
            let at = self.random.below(parts.len());
            path += &format!(", {at}");
            part = parts[at].clone();
        }
    }

    /// Writes the construction of an aggregate.
    pub(super) fn aggregate(&mut self, ty: &Ty) -> String {
        let mut whole = self.random.pick(&["poison", "zeroinitializer", "undef"]).to_string();
        for (at, part) in ty.parts().iter().enumerate() {
            let value = match part {
                Ty::Struct(_) | Ty::Array(..) => self.aggregate(part),
                _ => self.value(part),
            };
            whole = self.make(&format!("insertvalue {ty} {whole}, {part} {value}, {at}"));
        }
        whole
    }

    // The result at the end.

    /// Returns an `i64` that depends on all specified bits of a value.
    pub(super) fn folded(&mut self, ty: &Ty, value: &str) -> String {
        match ty {
            Ty::Struct(_) | Ty::Array(..) => {
                let mut sum = "0".to_owned();
                for (at, part) in ty.parts().iter().enumerate() {
                    let one = self.make(&format!("extractvalue {ty} {value}, {at}"));
                    let one = self.folded(part, &one);
                    sum = self.mixed(&sum, &one);
                }
                sum
            }
            Ty::Vector(count, scalar) => {
                let mut sum = "0".to_owned();
                for at in 0..*count {
                    let one = self.make(&format!("extractelement {ty} {value}, i32 {at}"));
                    let one = self.folded(scalar, &one);
                    sum = self.mixed(&sum, &one);
                }
                sum
            }
            Ty::Ptr => self.make(&format!("load i64, ptr {value}, align 1")),
            Ty::Int(64) => value.to_owned(),
            Ty::Int(width) if *width < 64 => self.make(&format!("zext {ty} {value} to i64")),
            Ty::Int(width) => {
                let low = self.make(&format!("trunc {ty} {value} to i64"));
                let high = self.make(&format!("lshr {ty} {value}, {}", width - 64));
                let high = self.make(&format!("trunc {ty} {high} to i64"));
                self.mixed(&low, &high)
            }
            float => {
                let number = self.without_nan(float, value);
                let bits = Ty::Int(float.width());
                let bits_of = self.make(&format!("bitcast {float} {number} to {bits}"));
                self.folded(&bits, &bits_of)
            }
        }
    }

    /// Writes the combination of two numbers.
    pub(super) fn mixed(&mut self, a: &str, b: &str) -> String {
        let product = self.make(&format!("mul i64 {a}, 6364136223846793005"));
        let turned = self.make(&format!("call i64 @llvm.fshl.i64(i64 {product}, i64 {product}, i64 23)"));
        self.make(&format!("xor i64 {turned}, {b}"))
    }

    /// Returns some constant of a type, as an initial value.
    pub(super) fn initial(&mut self, ty: &Ty) -> String {
        let parts = |function: &mut Self, open: &str, close: &str| {
            let parts: Vec<String> =
                ty.parts().iter().map(|part| format!("{part} {}", function.initial(part))).collect();
            format!("{open} {} {close}", parts.join(", "))
        };
        match ty {
            Ty::Struct(_) => parts(self, "{", "}"),
            Ty::Array(..) => parts(self, "[", "]"),
            _ => constant(self.random, ty),
        }
    }
}
