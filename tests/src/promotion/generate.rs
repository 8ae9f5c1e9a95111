//! Random functions that a promotion of memory to registers is tempted by: reductions into elements
//! that stay the same in a loop, guarded stores, loops without iterations, arguments that may
//! overlap.
//!
//! `func.func @name(%a: memref<8xT>, %b: memref<8x8xT>, %o: memref<8xT>, %n, %m, %k: index, %c: i1)`
//! with known or unknown sizes. Loops count to at most 7, so that `%i + 1` is in bounds. `%k` is
//! anything.

use std::fmt::Write as _;

use crate::random::Random;

/// An element type, its number in the driver, and its operations.
struct Element {
    name: &'static str,
    zero: &'static str,
    one: &'static str,
    operations: &'static [&'static str],
}

const INTEGERS: &[&str] = &["addi", "subi", "xori", "maxsi", "muli"];
const FLOATS: &[&str] = &["addf", "subf", "maximumf", "mulf"];
const ELEMENTS: &[Element] = &[
    Element { name: "i32", zero: "0", one: "1", operations: INTEGERS },
    Element { name: "i64", zero: "0", one: "1", operations: INTEGERS },
    Element { name: "f32", zero: "0.0", one: "1.0", operations: FLOATS },
    Element { name: "f64", zero: "0.0", one: "1.0", operations: FLOATS },
];

/// A function with its calls.
pub(super) struct Function {
    /// The text after the name.
    pub(super) text: String,
    /// The number of the element type in the driver.
    pub(super) element: usize,
    /// Initializers of the driver's `call`, without the number of the function.
    pub(super) calls: Vec<String>,
}

/// Returns a function.
pub(super) fn function(random: &mut Random) -> Function {
    let element = random.below(ELEMENTS.len());
    let name = ELEMENTS[element].name;
    let dynamic = [random.chance(50), random.chance(50), random.chance(50)];
    let vector = |is_dynamic| format!("memref<{}x{name}>", if is_dynamic { "?" } else { "8" });
    let matrix = format!("memref<{}x{name}>", if dynamic[1] { "?x?" } else { "8x8" });
    let mut writer = Writer {
        random,
        element: &ELEMENTS[element],
        types: [vector(dynamic[0]), matrix, vector(dynamic[2]), format!("memref<8x{name}>")],
        text: String::new(),
        depth: 1,
        next: 0,
        counters: Vec::new(),
        numbers: vec!["%one".to_owned()],
        has_local: false,
        is_affine: true,
    };
    let [a, b, o, _] = writer.types.clone();
    writer.line(&format!("%zero = arith.constant {} : {name}", ELEMENTS[element].zero));
    writer.line(&format!("%one = arith.constant {} : {name}", ELEMENTS[element].one));
    for index in 0..8 {
        writer.line(&format!("%c{index} = arith.constant {index} : index"));
    }
    writer.local();
    for _ in 0..1 + writer.random.below(3) {
        writer.is_affine = writer.random.chance(60);
        writer.nest(0);
    }
    let result = writer.number();
    writer.line(&format!("return {result} : {name}"));
    let text = format!(
        "(%a: {a}, %b: {b}, %o: {o}, %n: index, %m: index, %k: index, %c: i1) -> {name} {{\n{}}}\n",
        writer.text
    );
    let calls = (0..10).map(|_| call(random, dynamic)).collect();
    Function { text, element, calls }
}

/// Returns the initializer of a call, behind the number of the function.
fn call(random: &mut Random, dynamic: [bool; 3]) -> String {
    let counts = [0, 0, 1, 2, 5, 7];
    let (n, m) = (*random.pick(&counts), *random.pick(&counts));
    let (k, c) = (*random.pick(&[0, 3, 7, 1000]), random.below(2));
    let shared = *random.pick(&[0, 0, 0, 5, 5, 3, 6, 7]);
    let mut sizes = [8; 3];
    let mut offsets = [0; 3];
    for buffer in 0..3 {
        let is_shared = shared >> buffer & 1 == 1;
        if is_shared && random.chance(60) {
            offsets[buffer] = random.range(0, 10);
        } else if !is_shared && dynamic[buffer] && random.chance(15) {
            sizes[buffer] = 0;
        }
    }
    let list = |numbers: [i64; 3]| format!("{{{}, {}, {}}}", numbers[0], numbers[1], numbers[2]);
    format!("{n}, {m}, {k}, {c}, {}, {shared}, {}", list(sizes), list(offsets))
}

/// Writes the body of a function.
struct Writer<'r> {
    random: &'r mut Random,
    element: &'static Element,
    /// The types of `%a`, `%b`, `%o` and of the memory of the function.
    types: [String; 4],
    text: String,
    depth: usize,
    next: usize,
    /// The counters of the loops around.
    counters: Vec<String>,
    /// Numbers that are known here.
    numbers: Vec<String>,
    has_local: bool,
    /// True in a nest of `affine.for`.
    is_affine: bool,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:1$}{text}", "", 2 * self.depth);
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn number(&mut self) -> String {
        self.random.pick(&self.numbers).clone()
    }

    /// Memory of the function itself, all of it written.
    fn local(&mut self) {
        self.has_local = self.random.chance(40);
        if self.has_local {
            let ty = self.types[3].clone();
            self.line(&format!("%t = memref.alloca() : {ty}"));
            self.line(&format!("affine.for %f = 0 to 8 {{ affine.store %one, %t[%f] : {ty} }}"));
        }
    }

    /// A loop, with loops in it down to a depth of three.
    fn nest(&mut self, depth: usize) {
        let counter = self.name();
        let carried = self.random.chance(25).then(|| (self.name(), self.name(), self.number()));
        let last = match self.random.weighted(&[45, 30, 25]) {
            0 => "%n".to_owned(),
            1 => "%m".to_owned(),
            _ => format!("{}", self.random.range(0, 5)),
        };
        let (first, step) = (self.random.range(0, 1), self.random.range(1, 2));
        let name = self.element.name;
        let (head, values) = match &carried {
            Some((result, value, init)) => {
                (format!("{result} = "), format!(" iter_args({value} = {init}) -> ({name})"))
            }
            None => Default::default(),
        };
        if self.is_affine {
            self.line(&format!("{head}affine.for {counter} = {first} to {last} step {step}{values} {{"));
        } else {
            let last = if last.starts_with('%') { last } else { format!("%c{last}") };
            self.line(&format!("{head}scf.for {counter} = %c{first} to {last} step %c{step}{values} {{"));
        }
        let dialect = if self.is_affine { "affine" } else { "scf" };
        self.region(|own| {
            own.counters.push(counter);
            own.numbers.extend(carried.iter().map(|(_, value, _)| value.clone()));
            own.statements(depth + 1);
            if carried.is_some() {
                let value = own.number();
                own.line(&format!("{dialect}.yield {value} : {name}"));
            }
            own.counters.pop();
        });
        self.line("}");
        self.numbers.extend(carried.map(|(result, ..)| result));
    }

    /// Writes lines into a region. The numbers that they define are known there alone.
    fn region(&mut self, write: impl FnOnce(&mut Self)) {
        let known = self.numbers.len();
        self.depth += 1;
        write(self);
        self.depth -= 1;
        self.numbers.truncate(known);
    }

    fn statements(&mut self, depth: usize) {
        for _ in 0..1 + self.random.below(3) {
            match self.random.weighted(&[40, 12, 14, 12, if depth < 3 { 22 } else { 0 }]) {
                0 => self.reduction(),
                1 => self.store(),
                2 => drop(self.load()),
                3 => self.guarded(),
                _ => self.nest(depth),
            }
        }
    }

    /// `x[i] = x[i] + value`.
    fn reduction(&mut self) {
        let (buffer, at) = self.place();
        let old = self.load_from(buffer, &at);
        let value = self.operand();
        let name = self.name();
        let operation = *self.random.pick(self.element.operations);
        self.line(&format!("{name} = arith.{operation} {old}, {value} : {}", self.element.name));
        self.store_to(&name, buffer, &at);
        self.numbers.push(name);
    }

    fn store(&mut self) {
        let value = self.operand();
        let (buffer, at) = self.place();
        self.store_to(&value, buffer, &at);
    }

    fn load(&mut self) -> String {
        let (buffer, at) = self.place();
        self.load_from(buffer, &at)
    }

    fn guarded(&mut self) {
        let number = self.random.range(0, 3);
        let counter = self.counters.last().cloned().unwrap_or_else(|| "%n".to_owned());
        if self.is_affine && self.random.chance(50) {
            let value = if self.random.chance(60) { counter } else { "%n".to_owned() };
            self.line(&format!("affine.if affine_set<(d0) : (d0 - {number} >= 0)>({value}) {{"));
        } else {
            self.line("scf.if %c {");
        }
        self.region(|own| if own.random.chance(70) { own.reduction() } else { own.store() });
        if self.random.chance(25) {
            self.line("} else {");
            self.region(Self::store);
        }
        self.line("}");
    }

    fn operand(&mut self) -> String {
        if self.random.chance(50) { self.load() } else { self.number() }
    }

    /// Returns a buffer and the subscripts of an element.
    fn place(&mut self) -> (usize, Vec<String>) {
        let buffer = self.random.weighted(&[30, 30, 30, if self.has_local { 15 } else { 0 }]);
        let count = if buffer == 1 { 2 } else { 1 };
        (buffer, (0..count).map(|_| self.subscript(buffer == 3)).collect())
    }

    fn subscript(&mut self, is_local: bool) -> String {
        let outer = self.counters.first().cloned();
        let inner = self.counters.last().cloned();
        match (self.random.weighted(&[35, 25, 20, 12, 8]), outer, inner) {
            (0, Some(outer), _) => outer,
            (1, _, Some(inner)) => inner,
            (3, ..) if !is_local => "%k".to_owned(),
            (4, _, Some(inner)) if self.is_affine && !is_local => format!("{inner} + 1"),
            _ => format!("%c{}", self.random.range(0, 7)),
        }
    }

    fn load_from(&mut self, buffer: usize, at: &[String]) -> String {
        let name = self.name();
        let access = self.access(buffer, at);
        self.line(&access("load", &format!("{name} = "), ""));
        self.numbers.push(name.clone());
        name
    }

    fn store_to(&mut self, value: &str, buffer: usize, at: &[String]) {
        let access = self.access(buffer, at);
        self.line(&access("store", "", &format!("{value}, ")));
    }

    /// Returns the text of an access, given its kind and the text before and behind it.
    fn access(&self, buffer: usize, at: &[String]) -> impl Fn(&str, &str, &str) -> String + use<> {
        let dialect = if self.is_affine { "affine" } else { "memref" };
        let place =
            format!("{}[{}] : {}", ["%a", "%b", "%o", "%t"][buffer], at.join(", "), self.types[buffer]);
        move |kind, head, value| format!("{head}{dialect}.{kind} {value}{place}")
    }
}
