//! Random integer expressions, as text, and their values.
//!
//! An expression is a list of operations of `arith` on the arguments and earlier results. Its value
//! is computed here by wide arithmetic and nothing else, so it can judge the claims of analyses and
//! passes. Poison and undefined behaviour are distinguished. A poison number may be anything. A
//! program with undefined behaviour is not checked at all.

use std::fmt::Write;

use crate::random::Random;

/// A pure function of one block.
#[derive(Clone, Debug)]
pub struct Expressions {
    /// The number of bits of the arguments.
    pub width: u32,
    /// The number of arguments.
    pub arguments: usize,
    /// The operations, in order.
    lines: Vec<Line>,
}

#[derive(Clone, Debug)]
struct Line {
    kind: Kind,
    /// The numbers of the used arguments and results.
    operands: Vec<usize>,
    width: u32,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Constant(i128),
    /// With `nsw`, with `nuw`.
    Ring(&'static str, bool, bool),
    Binary(&'static str),
    Compare(&'static str),
    Select,
    Cast(&'static str),
}

/// The value of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// This number, read as signed.
    Is(i128),
    /// Poison.
    Poison,
}

const RING: [&str; 4] = ["addi", "subi", "muli", "shli"];

const BINARY: [&str; 16] = [
    "divsi",
    "divui",
    "ceildivsi",
    "ceildivui",
    "floordivsi",
    "remsi",
    "remui",
    "andi",
    "ori",
    "xori",
    "shrsi",
    "shrui",
    "minsi",
    "minui",
    "maxsi",
    "maxui",
];

const PREDICATES: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];

impl Expressions {
    /// Returns an expression of `lines` operations on `arguments` arguments. `flags` is the
    /// percentage of operations with overflow flags.
    pub fn generate(
        random: &mut Random,
        width: u32,
        arguments: usize,
        lines: usize,
        flags: i64,
    ) -> Expressions {
        let mut made = Expressions { width, arguments, lines: Vec::new() };
        while made.lines.len() < lines {
            let line = made.line(random, flags);
            made.lines.extend(line);
        }
        made
    }

    /// Returns the number of arguments and results.
    pub fn values(&self) -> usize {
        self.arguments + self.lines.len()
    }

    /// Returns the number of bits of a value.
    pub fn width_of(&self, value: usize) -> u32 {
        value.checked_sub(self.arguments).map_or(self.width, |line| self.lines[line].width)
    }

    fn line(&self, random: &mut Random, flags: i64) -> Option<Line> {
        let line = |kind, operands, width| Some(Line { kind, operands, width });
        // Recent values are used most, so that expressions are deep.
        let pick = |random: &mut Random, width: u32| {
            let of_width: Vec<usize> = (0..self.values()).filter(|v| self.width_of(*v) == width).collect();
            let from = if random.chance(50) { of_width.len().saturating_sub(3) } else { 0 };
            (!of_width.is_empty()).then(|| of_width[from + random.below(of_width.len() - from)])
        };
        let width = if random.chance(85) { self.width } else { self.width + 2 };
        let two = |random: &mut Random, width| Some(vec![pick(random, width)?, pick(random, width)?]);
        match random.weighted(&[18, 40, 28, 6, 5, 8]) {
            0 => {
                let limit = 1i64 << (width - 1).min(4);
                line(Kind::Constant(random.range(-limit, limit - 1).into()), Vec::new(), width)
            }
            1 => {
                let kind = RING[random.weighted(&[30, 20, 30, 10])];
                let (nsw, nuw) = (random.chance(flags), random.chance(flags / 4));
                line(Kind::Ring(kind, nsw, nuw), two(random, width)?, width)
            }
            2 => line(Kind::Binary(BINARY[random.below(BINARY.len())]), two(random, width)?, width),
            3 => line(Kind::Compare(PREDICATES[random.below(PREDICATES.len())]), two(random, width)?, 1),
            4 => {
                let mut operands = vec![pick(random, 1)?];
                operands.extend(two(random, width)?);
                line(Kind::Select, operands, width)
            }
            _ if random.chance(50) => {
                let from = pick(random, self.width)?;
                let kind = if random.chance(50) { "extsi" } else { "extui" };
                line(Kind::Cast(kind), vec![from], self.width + 2)
            }
            _ => line(Kind::Cast("trunci"), vec![pick(random, self.width + 2)?], self.width),
        }
    }

    /// Returns the function in MLIR, called `f`, which returns the values of these numbers.
    pub fn to_mlir(&self, returned: &[usize]) -> String {
        let ty = |value: &usize| format!("i{}", self.width_of(*value));
        let list = |items: Vec<String>| items.join(", ");
        let results = list(returned.iter().map(ty).collect());
        let arguments = list((0..self.arguments).map(|v| format!("%v{v}: {}", ty(&v))).collect());
        let mut text = format!("func.func @f({arguments}) -> ({results}) {{\n");
        for (at, line) in self.lines.iter().enumerate() {
            let value = self.arguments + at;
            let operands = list(line.operands.iter().map(|v| format!("%v{v}")).collect());
            let (own, from) = (ty(&value), line.operands.last().map(ty).unwrap_or_default());
            let written = match line.kind {
                Kind::Constant(number) => format!("arith.constant {number} : {own}"),
                Kind::Ring(name, nsw, nuw) => {
                    let flags = [(nsw, "nsw"), (nuw, "nuw")].into_iter().filter(|(is, _)| *is);
                    let flags = list(flags.map(|(_, name)| name.to_owned()).collect());
                    let flags = if flags.is_empty() { flags } else { format!(" overflow<{flags}>") };
                    format!("arith.{name} {operands}{flags} : {own}")
                }
                Kind::Binary(name) => format!("arith.{name} {operands} : {own}"),
                Kind::Compare(predicate) => format!("arith.cmpi {predicate}, {operands} : {from}"),
                Kind::Select => format!("arith.select {operands} : {own}"),
                Kind::Cast(name) => format!("arith.{name} {operands} : {from} to {own}"),
            };
            _ = writeln!(text, "  %v{value} = {written}");
        }
        let values = list(returned.iter().map(|v| format!("%v{v}")).collect());
        let types = if returned.is_empty() { String::new() } else { format!(" {values} : {results}") };
        text + &format!("  return{types}\n}}\n")
    }

    /// Returns all values for these arguments. `None` if the behaviour is undefined.
    pub fn compute(&self, arguments: &[i128]) -> Option<Vec<Number>> {
        let mut all: Vec<Number> = arguments.iter().map(|number| Number::Is(*number)).collect();
        for line in &self.lines {
            let operands: Vec<Number> = line.operands.iter().map(|v| all[*v]).collect();
            let from = line.operands.last().map_or(line.width, |v| self.width_of(*v));
            all.push(line.compute(&operands, from)?);
        }
        Some(all)
    }
}

/// Returns the lowest bits of a number, read as signed, and as unsigned.
fn cut(number: i128, width: u32) -> (i128, i128) {
    let unsigned = number & ((1 << width) - 1);
    (if unsigned >> (width - 1) == 1 { unsigned - (1 << width) } else { unsigned }, unsigned)
}

impl Line {
    fn compute(&self, operands: &[Number], from: u32) -> Option<Number> {
        if let (Kind::Select, Number::Is(condition)) =
            (self.kind, operands.first().copied().unwrap_or(Number::Poison))
        {
            return Some(if condition != 0 { operands[1] } else { operands[2] });
        }
        let mut numbers = Vec::new();
        for operand in operands {
            match operand {
                Number::Is(number) => numbers.push(*number),
                Number::Poison => {
                    // A division by poison may be a division by zero.
                    let divides = matches!(self.kind, Kind::Binary(name) if name.contains("div") || name.starts_with("rem"));
                    return if divides { None } else { Some(Number::Poison) };
                }
            }
        }
        let unsigned = |at: usize| cut(numbers[at], from).1;
        let is_unsigned = matches!(self.kind, Kind::Binary(name) if name.ends_with("ui"));
        let at = |i: usize| if is_unsigned { unsigned(i) } else { numbers[i] };
        let number = match self.kind {
            Kind::Constant(number) => number,
            Kind::Ring(name, nsw, nuw) => match ring(name, (nsw, nuw), [numbers[0], numbers[1]], from) {
                Some(number) => number,
                None => return Some(Number::Poison),
            },
            Kind::Binary(name) if name.contains("div") || name.starts_with("rem") => {
                let (a, b) = (at(0), at(1));
                if b == 0 || (!is_unsigned && b == -1 && a == -(1 << (from - 1))) {
                    return None;
                }
                quotient(name, a, b)
            }
            Kind::Binary(name @ ("shrsi" | "shrui")) => {
                if unsigned(1) >= i128::from(from) {
                    return Some(Number::Poison);
                }
                if name == "shrui" { unsigned(0) >> unsigned(1) } else { numbers[0] >> unsigned(1) }
            }
            Kind::Binary(name) => match name {
                "andi" => numbers[0] & numbers[1],
                "ori" => numbers[0] | numbers[1],
                "xori" => numbers[0] ^ numbers[1],
                "minsi" | "minui" => at(0).min(at(1)),
                _ => at(0).max(at(1)),
            },
            Kind::Compare(predicate) if predicate.starts_with('u') => {
                i128::from(holds(predicate, unsigned(0), unsigned(1)))
            }
            Kind::Compare(predicate) => i128::from(holds(predicate, numbers[0], numbers[1])),
            Kind::Cast("extui") => unsigned(0),
            // A selection by poison is poison, as computed above.
            Kind::Cast(_) | Kind::Select => numbers[0],
        };
        Some(Number::Is(cut(number, self.width).0))
    }
}

/// Returns the exact sum, difference, product or shift. `None` if that is poison: it wraps and must
/// not (`nsw`, `nuw`), or shifts too far.
fn ring(name: &str, (nsw, nuw): (bool, bool), signed: [i128; 2], width: u32) -> Option<i128> {
    let exact = |a: i128, b: i128| match name {
        "addi" => a + b,
        "subi" => a - b,
        "muli" => a * b,
        _ => a << b,
    };
    let [a, b] = signed.map(|number| cut(number, width).1);
    if name == "shli" && b >= i128::from(width) {
        return None;
    }
    let number = exact(signed[0], if name == "shli" { b } else { signed[1] });
    let wraps = (nsw && cut(number, width).0 != number) || (nuw && cut(exact(a, b), width).1 != exact(a, b));
    (!wraps).then_some(number)
}

/// Returns the quotient or remainder of a division that is defined.
fn quotient(name: &str, a: i128, b: i128) -> i128 {
    let floor = a.div_euclid(b) - if b < 0 && a.rem_euclid(b) != 0 { 1 } else { 0 };
    match name {
        "divsi" | "divui" => a / b,
        "remsi" | "remui" => a % b,
        "floordivsi" => floor,
        _ => floor + i128::from(a % b != 0),
    }
}

/// Returns true if the comparison holds of numbers that are read as its predicate reads them.
fn holds(predicate: &str, a: i128, b: i128) -> bool {
    match predicate {
        "eq" => a == b,
        "ne" => a != b,
        _ if predicate.ends_with("lt") => a < b,
        _ if predicate.ends_with("le") => a <= b,
        _ if predicate.ends_with("gt") => a > b,
        _ => a >= b,
    }
}
