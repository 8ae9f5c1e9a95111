//! The bodies of random C functions: loops and the statements between and inside them.

use crate::random::Random;

use super::signature::{Pointee, Shape, Signature};
use super::types::{Type, VARIABLES};

/// A rare construct that a function may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Oddity {
    /// A call that sees memory, or that may not return.
    Call,
    /// A `break`, `return` or jump on data.
    Exit,
    Volatile,
    Atomic,
    /// `memmove`, `memset` or `memcpy` between loops.
    Block,
    /// An array on the stack.
    Local,
    /// An array on the stack of variable size.
    Vla,
    Switch,
    /// A loop over pointers.
    Walk,
    /// Sums with a sign.
    Signed,
    /// Several forms of headers in one function.
    Mixed,
    /// Outer loops that may run 2^63 times or more, if a call does not leave them.
    Long,
}

use Oddity::{Atomic, Block, Call, Exit, Local, Long, Mixed, Signed, Switch, Vla, Volatile, Walk};

/// Makes the body of one function.
pub(super) struct Maker<'r> {
    random: &'r mut Random,
    of: Signature,
    pointees: Vec<Pointee>,
    oddities: Vec<Oddity>,
    /// The loops are nests of two.
    is_nest: bool,
    /// The chance in percent of subscripts that differ from `i`.
    shifted: i64,
}

impl<'r> Maker<'r> {
    pub(super) fn new(random: &'r mut Random, of: Signature, pointees: Vec<Pointee>) -> Self {
        let all = [Call, Exit, Volatile, Atomic, Block, Local, Vla, Switch, Walk, Signed, Mixed, Long];
        let weights = [3, 3, 1, 1, 2, 4, 1, 1, 2, 4, 3, 2];
        let count = random.weighted(&[60, 30, 10]);
        let oddities: Vec<Oddity> = (0..count).map(|_| all[random.weighted(&weights)]).collect();
        let is_long = oddities.contains(&Long);
        let is_nest =
            is_long || random.chance(18) || pointees.iter().any(|own| matches!(own, Pointee::Rows(_)));
        let shifted = *random.pick(&[5, 25, 25, 60]);
        Maker { random, of, pointees, oddities, is_nest, shifted }
    }

    fn has(&self, oddity: Oddity) -> bool {
        self.oddities.contains(&oddity)
    }

    /// Returns the statements of the function, to its return.
    pub(super) fn body(&mut self) -> String {
        let mut text = "  unsigned long r = 0;\n".to_owned();
        if self.has(Local) {
            text += &format!("  {} t[96] = {{0}};\n", self.local_type().name());
        }
        if self.has(Vla) {
            text += &format!("  {} v[(n & 63) + 1];\n", self.local_type().name());
            text += "  for (int i = 0; i < (n & 63) + 1; i++) v[i] = i;\n";
        }
        let (open, close) = match self.random.below(12) {
            0 => ("  if (n > 2) {\n", "  }\n"),
            1 => ("  if (k != 0) {\n", "  }\n"),
            2 => ("  if (n > 0 && m > 0) {\n", "  }\n"),
            _ => ("", ""),
        };
        text += open;
        let loops = *self.random.pick(&[2, 2, 2, 3, 3, 4]);
        for at in 0..loops {
            text += &self.a_loop(at);
            if at + 1 < loops && self.random.chance(15) {
                text += &self.between();
            }
        }
        text += close;
        if self.has(Exit) {
            text += "out:;\n";
        }
        text + "  return (long)r;\n"
    }

    fn local_type(&self) -> Type {
        match &self.pointees[0] {
            Pointee::Elements(ty) | Pointee::Rows(ty) => Type { is_packed: false, ..*ty },
            Pointee::Fields(fields) => Type { is_packed: false, ..fields[0] },
        }
    }

    /// Returns a statement between two loops.
    fn between(&mut self) -> String {
        let number = self.random.range(0, 99);
        let last = self.pointees.len() - 1;
        match self.random.below(6) {
            0 if self.has(Block) && !self.of.is_restrict => {
                let size = self.random.range(1, 40);
                format!("  __builtin_memmove(p0, p{last}, {size});\n")
            }
            1 if self.has(Block) => {
                format!("  __builtin_memset(p{last}, {number}, n > 0 && n < 64 ? n : 3);\n")
            }
            2 if self.has(Call) => self.call("r") + "\n",
            3 => format!("  r = r * 31 + {};\n", self.random.range(0, 9)),
            4 => "  if (k > 3) r += k;\n".to_owned(),
            _ => {
                let at = self.random.below(self.pointees.len());
                let place = self.place(at, "0");
                format!("  {place} += {number};\n")
            }
        }
    }

    fn call(&mut self, argument: &str) -> String {
        let name = match self.random.below(6) {
            0 | 1 => "maybe",
            2 => "leave",
            // A call may not read memory that a restricted pointer writes.
            3 | 4 if !self.of.is_restrict => "note",
            _ => "tell",
        };
        match name {
            "leave" => format!("  if (({argument}) % 16 == 9) leave({argument});"),
            _ => format!("  {name}({argument});"),
        }
    }

    /// Returns a loop, which often stores what the loop before it did not.
    fn a_loop(&mut self, at: usize) -> String {
        if self.has(Walk)
            && self.random.chance(50)
            && let Some(text) = self.walk(at)
        {
            return text;
        }
        let shape = match self.has(Mixed) && self.random.chance(40) {
            true => *self.random.pick(&[
                Shape::Up { from: 0, to: "i < n", step: 1 },
                Shape::Up { from: 1, to: "i < n", step: 1 },
                Shape::Up { from: 0, to: "i <= n", step: 1 },
                Shape::Constant(17),
            ]),
            false => self.of.shape,
        };
        let i = self.subscript_base(shape);
        let statements = *self.random.pick(&[1, 1, 1, 2, 2, 3]);
        let mut body = String::new();
        for _ in 0..statements {
            body += "    ";
            body += &self.statement(at, &i, shape);
            body += "\n";
        }
        let mut text = self.header(shape, &body);
        match self.is_nest {
            true if self.has(Long) => {
                if self.random.chance(60) {
                    // Neighbours inside of one outer loop.
                    text += &self.header(shape, &body);
                }
                let less = *self.random.pick(&[1, 1, 12]);
                format!(
                    "  for (unsigned long j = 0; j < (unsigned long)lo - {less}; j++) {{\n    maybe((long)j);\n{text}  }}\n"
                )
            }
            true => {
                let outer = *self.random.pick(&["m", "m", "m", "4"]);
                let c = self.of.counter.name();
                let bound = if shape == Shape::Window { "3" } else { outer };
                format!("  for ({c} j = 0; j < {bound}; j++) {{\n{text}  }}\n")
            }
            false => text,
        }
    }

    /// Returns the number of the iteration, from 0 or a small number on.
    fn subscript_base(&self, shape: Shape) -> String {
        match shape {
            Shape::Window => "(i - lo)".to_owned(),
            Shape::Wrapping => format!("({})(i - lo)", self.of.counter.name()),
            _ => "i".to_owned(),
        }
    }

    /// Writes a loop in one of the forms that C has.
    fn header(&mut self, shape: Shape, body: &str) -> String {
        let c = self.of.counter.name();
        let (init, test, step) = match shape {
            Shape::Up { from, to, step: 1 } => (format!("i = {from}"), to.to_owned(), "i++".to_owned()),
            Shape::Up { from, to, step } => (format!("i = {from}"), to.to_owned(), format!("i += {step}")),
            Shape::Down => ("i = n - 1".to_owned(), "i >= 0".to_owned(), "i--".to_owned()),
            Shape::CountDown => ("i = n".to_owned(), "i-- > 0".to_owned(), String::new()),
            Shape::Window => ("i = lo".to_owned(), "i < m".to_owned(), "i++".to_owned()),
            Shape::Wrapping => ("i = lo".to_owned(), format!("i != ({c})(lo + n)"), "i++".to_owned()),
            Shape::Constant(count) => ("i = 0".to_owned(), format!("i < {count}"), "i++".to_owned()),
        };
        // An iteration that goes on early must not skip the step.
        match self.random.below(8) {
            0 if !step.is_empty() => {
                format!("  {{ {c} {init}; while ({test}) {{\n{body}    {step}; }} }}\n")
            }
            1 if !step.is_empty() => {
                format!("  {{ {c} {init}; if ({test}) do {{\n{body}    {step}; }} while ({test}); }}\n")
            }
            _ => format!("  for ({c} {init}; {test}; {step}) {{\n{body}  }}\n"),
        }
    }

    /// Returns a loop over two pointers, if these point to elements.
    fn walk(&mut self, at: usize) -> Option<String> {
        let count = self.pointees.len();
        let (to, from) = (at % count, (at + 1) % count);
        let (Pointee::Elements(a), Pointee::Elements(b)) = (&self.pointees[to], &self.pointees[from]) else {
            return None;
        };
        let (a, b) = (a.name(), b.name());
        let value = self.random.range(1, 9);
        Some(match self.random.below(3) {
            0 => format!(
                "  {{ {a} *x = p{to}, *e = p{to} + n; {b} *y = p{from}; while (x < e) *x++ = *y++ + {value}u; }}\n"
            ),
            1 => format!("  for ({a} *x = p{to}, *e = p{to} + n; x != e; x++) *x ^= {value};\n"),
            _ => format!("  for ({b} *y = p{from}, *e = p{from} + n; y < e; y++) r += (unsigned long)*y;\n"),
        })
    }

    /// Returns a statement in a loop.
    fn statement(&mut self, at: usize, i: &str, shape: Shape) -> String {
        let count = self.pointees.len();
        if self.has(Call) && self.random.chance(25) {
            let argument = format!("(long){}", self.value(i, shape));
            return self.call(&argument);
        }
        if self.has(Exit) && self.random.chance(30) {
            let tested = self.loaded(i, shape);
            return match self.random.below(4) {
                0 => format!("if ({tested} == 7) break;"),
                1 => format!("if ({tested} == 7) return (long)r;"),
                2 => format!("if ({tested} > 100) goto out;"),
                _ => format!("if (r > 100000) return {i};"),
            };
        }
        if self.random.chance(15) {
            return format!("r += {};", self.value(i, shape));
        }
        let to = if self.random.chance(80) { at % count } else { self.random.below(count) };
        let subscript = self.subscript(i, shape);
        let place = match self.of.variable {
            Some(variable) if self.random.chance(35) => {
                format!("g{}[{subscript}]", VARIABLES[variable].name())
            }
            _ if self.has(Local) && self.random.chance(40) => format!("t[{i}]"),
            _ if self.has(Vla) && self.random.chance(40) => format!("v[{i}]"),
            _ => self.place(to, &subscript),
        };
        let value = self.value(i, shape);
        if self.has(Atomic) && self.random.chance(40) && place.starts_with("t[") {
            return format!("__atomic_fetch_add(&{place}, 1, __ATOMIC_SEQ_CST);");
        }
        if self.has(Atomic) && self.random.chance(40) && !self.of.is_packed && place.starts_with('p') {
            let order = *self.random.pick(&["__ATOMIC_RELAXED", "__ATOMIC_SEQ_CST"]);
            return match self.random.below(2) {
                0 => format!("__atomic_fetch_add(&{place}, 1, {order});"),
                _ => format!("__atomic_store_n(&{place}, {value}, {order});"),
            };
        }
        if self.has(Volatile) && self.random.chance(40) {
            return format!("*(volatile __typeof__({place}) *)&{place} = {value};");
        }
        let op = *self.random.pick(&["=", "=", "=", "+=", "^=", "-="]);
        let store = match (op, self.has(Signed)) {
            ("+=" | "-=", false) => {
                // In a type with a sign the sum might overflow.
                let sign = op.trim_end_matches('=');
                format!("{place} = (unsigned long){place} {sign} {value};")
            }
            _ => format!("{place} {op} {value};"),
        };
        if self.has(Switch) && self.random.chance(50) {
            let of = self.loaded(i, shape);
            return format!(
                "switch ({of} & 3) {{ case 0: {store} break; case 1: r++; break; default: break; }}"
            );
        }
        match self.random.below(10) {
            0 => format!("if ({} & 1) {store}", self.loaded(i, shape)),
            1 => format!("if (k > 3) {store}"),
            _ => store,
        }
    }

    /// Returns the element of a pointer at a subscript.
    fn place(&mut self, at: usize, subscript: &str) -> String {
        match &self.pointees[at] {
            Pointee::Elements(_) => format!("p{at}[{subscript}]"),
            Pointee::Rows(_) if subscript.contains('i') && self.is_nest => format!("p{at}[j][{subscript}]"),
            Pointee::Rows(_) => format!("p{at}[0][{subscript}]"),
            Pointee::Fields(_) => format!("p{at}[{subscript}].{}", self.random.pick(&["a", "b", "c"])),
        }
    }

    fn subscript(&mut self, i: &str, shape: Shape) -> String {
        let has_rows = self.pointees.iter().any(|own| matches!(own, Pointee::Rows(_)));
        if self.is_nest && !has_rows && self.random.chance(70) {
            return match self.random.below(6) {
                0..=3 => format!("j * 40 + {i}"),
                4 => format!("{i} * 8 + j"),
                _ => format!("j * n + {i}"),
            };
        }
        if !self.random.chance(self.shifted) {
            return i.to_owned();
        }
        let mut all = vec![
            format!("{i} + 1"),
            format!("{i} + 2"),
            format!("{i} + 3"),
            format!("2 * {i}"),
            format!("n + {i}"),
            format!("s * {i}"),
            "3".to_owned(),
        ];
        match shape {
            Shape::Up { from: 2, .. } => {
                all.extend(["i - 1", "i - 1", "i - 2", "i - 2", "i - 1"].map(str::to_owned));
            }
            Shape::Up { from: 1, .. } => all.extend(["i - 1", "i - 1"].map(str::to_owned)),
            _ if self.of.counter.is_signed => all.push(format!("n - 1 - {i}")),
            _ => {}
        }
        self.random.pick(&all).clone()
    }

    /// Returns a load.
    fn loaded(&mut self, i: &str, shape: Shape) -> String {
        let subscript = self.subscript(i, shape);
        if self.has(Local) && self.random.chance(40) {
            return format!("t[{i}]");
        }
        if self.has(Vla) && self.random.chance(40) {
            return format!("v[{i}]");
        }
        if let Some(variable) = self.of.variable.filter(|_| self.random.chance(35)) {
            return format!("g{}[{subscript}]", VARIABLES[variable].name());
        }
        let at = self.random.below(self.pointees.len());
        let place = self.place(at, &subscript);
        match self.has(Volatile) && self.random.chance(30) {
            true => format!("*(volatile __typeof__({place}) *)&{place}"),
            false => place,
        }
    }

    /// Returns a value, without overflow unless the function has sums with a sign.
    fn value(&mut self, i: &str, shape: Shape) -> String {
        let cast = match (self.has(Signed), self.random.below(3)) {
            (true, 0 | 1) => "",
            (_, 2) => "(unsigned long)",
            _ => "(unsigned)",
        };
        let terms = *self.random.pick(&[1, 1, 2, 2, 3]);
        let mut text = String::new();
        for at in 0..terms {
            if at > 0 {
                text += *self.random.pick(&[" + ", " + ", " - ", " ^ ", " * ", " & "]);
            }
            let atom = match self.random.below(10) {
                0 => i.to_owned(),
                1 => self.random.range(0, 9).to_string(),
                2 => "k".to_owned(),
                _ => self.loaded(i, shape),
            };
            text += &format!("{cast}{atom}");
        }
        match self.random.below(12) {
            0 => format!("(({text}) >> 1)"),
            1 => format!("(({text}) / 3)"),
            2 => format!("({text} > 50 ? {cast}50 : {cast}{})", self.loaded(i, shape)),
            _ => format!("({text})"),
        }
    }
}
