//! Random C functions of neighbouring loops behind pointers.
//!
//! Values are computed in types without a sign, so that most calls are defined. Some sums have a
//! sign: calls in which one overflows are found by a sanitizer, and not compared.

use std::fmt::Write as _;

use crate::random::Random;

use super::body::Maker;
use super::calls::{Call, calls};
use super::signature::{Pointee, Shape, Signature};
use super::types::{TYPES, Type, VARIABLES};

/// A random C function, a function of one type that calls it, and its calls.
pub(super) struct Function {
    /// Its definition, with types of its own.
    pub(super) text: String,
    /// The declaration, and `static long w…(char **p, const call *c)`.
    pub(super) wrapper: String,
    pub(super) calls: Vec<Call>,
}

/// Returns case `index` of a campaign, the function `f…`. If `is_strict`, accesses of different
/// types do not overlap, as the C standard wants it.
pub(super) fn function(random: &mut Random, index: u64, is_strict: bool) -> Function {
    let count = *random.pick(&[2, 2, 2, 3]);
    let signature = signature(random, count);
    let (pointees, signature) = pointees(random, count, is_strict, signature);
    let mut maker = Maker::new(random, signature.clone(), pointees.clone());
    let body = maker.body();
    let is_by_struct = !signature.is_restrict && random.chance(12);
    let (types, text, wrapper) = written(index, &signature, &pointees, is_by_struct, &body);
    let calls = calls(random, &signature);
    Function { text: types.clone() + &text, wrapper: types + &wrapper, calls }
}

fn signature(random: &mut Random, count: usize) -> Signature {
    let counter = TYPES[random.weighted(&[1, 1, 2, 2, 12, 4, 4, 4])];
    let mut shapes = vec![
        (12, Shape::Up { from: 0, to: "i < n", step: 1 }),
        (4, Shape::Up { from: 2, to: "i < n", step: 1 }),
        (2, Shape::Up { from: 0, to: "i <= n", step: 1 }),
        (2, Shape::Up { from: 0, to: "i < n", step: 2 }),
        (2, Shape::Window),
        (1, Shape::CountDown),
        (2, Shape::Constant(random.range(3, 40))),
    ];
    match counter.is_signed {
        true => {
            shapes.push((2, Shape::Up { from: 1, to: "i < n - 1", step: 1 }));
            shapes.push((2, Shape::Down));
        }
        false => shapes.push((2, Shape::Wrapping)),
    }
    let weights: Vec<i64> = shapes.iter().map(|(weight, _)| *weight).collect();
    let shape = shapes[random.weighted(&weights)].1;
    let scalar = TYPES[random.below(TYPES.len())];
    let is_restrict = random.chance(20);
    Signature {
        bytes: vec![1; count],
        counter,
        scalar,
        shape,
        is_restrict,
        is_packed: random.chance(45),
        variable: None,
    }
}

/// Chooses what the pointers point to.
fn pointees(
    random: &mut Random,
    count: usize,
    is_strict: bool,
    mut signature: Signature,
) -> (Vec<Pointee>, Signature) {
    let first = TYPES[random.weighted(&[2, 2, 2, 2, 5, 5, 3, 3])];
    let are_equal = random.chance(60);
    let mut pointees = Vec::new();
    for _ in 0..count {
        let ty = match (are_equal, is_strict) {
            (true, _) => first,
            // Both signs of a type, and characters, may be accessed through each other.
            (false, true) => *random.pick(&[first, Type { is_signed: !first.is_signed, ..first }]),
            (false, false) => TYPES[random.below(TYPES.len())],
        };
        let ty = Type { is_packed: signature.is_packed, ..ty };
        pointees.push(match random.below(25) {
            0 | 1 if !is_strict => {
                let other = TYPES[random.below(TYPES.len())];
                let other = Type { is_packed: signature.is_packed, ..other };
                Pointee::Fields(vec![ty, other, ty])
            }
            2 => Pointee::Rows(ty),
            _ => Pointee::Elements(ty),
        });
    }
    signature.bytes = pointees.iter().map(Pointee::bytes).collect();
    if random.chance(15) && !signature.is_restrict {
        let fits = |at: &usize| !is_strict || VARIABLES[*at].bytes == first.bytes;
        let all: Vec<usize> = (0..VARIABLES.len()).filter(fits).collect();
        signature.variable = (!all.is_empty()).then(|| all[random.below(all.len())]);
    }
    (pointees, signature)
}

/// Returns the types of a function, its definition, and its wrapper.
fn written(
    index: u64,
    of: &Signature,
    pointees: &[Pointee],
    is_by_struct: bool,
    body: &str,
) -> (String, String, String) {
    let mut types = String::new();
    let mut parameters = Vec::new();
    let qualifier = if of.is_restrict { "restrict " } else { "" };
    for (at, pointee) in pointees.iter().enumerate() {
        parameters.push(match pointee {
            Pointee::Elements(ty) => format!("{} *{qualifier}p{at}", ty.name()),
            Pointee::Rows(ty) => format!("{} (*{qualifier}p{at})[16]", ty.name()),
            Pointee::Fields(fields) => {
                let names = fields.iter().zip("abc".chars());
                let fields: String = names.map(|(ty, name)| format!("{} {name}; ", ty.name())).collect();
                let _ = writeln!(types, "struct q{index}_{at} {{ {fields}}};");
                format!("struct q{index}_{at} *{qualifier}p{at}")
            }
        });
    }
    let (c, k) = (of.counter.name(), of.scalar.name());
    let numbers = format!("{c} n, {c} m, {c} lo, int s, {k} k");
    let given = format!("({c})c->n, ({c})c->m, ({c})c->lo, (int)c->s, ({k})c->k");
    let opened = |text: &mut String| {
        for (at, parameter) in parameters.iter().enumerate() {
            let _ = writeln!(text, "  {parameter} = (void *)o->p{at};");
        }
    };
    let (list, open, passed) = match is_by_struct {
        true => {
            let _ = writeln!(types, "struct o{index} {{ void *p0, *p1, *p2; }};");
            let mut open = String::new();
            opened(&mut open);
            (format!("struct o{index} *o"), open, "&o".to_owned())
        }
        false => {
            let passed: Vec<String> = (0..pointees.len()).map(|at| format!("(void *)p[{at}]")).collect();
            (parameters.join(", "), String::new(), passed.join(", "))
        }
    };
    let head = format!("long f{index}({list}, {numbers})");
    let object = match is_by_struct {
        true => format!("struct o{index} o = {{p[0], p[1], p[2]}}; "),
        false => String::new(),
    };
    let wrapper = format!(
        "{head};\nstatic long w{index}(char **p, const call *c) {{ {object}return f{index}({passed}, {given}); }}\n"
    );
    (types, format!("{head} {{\n{open}{body}}}\n"), wrapper)
}
