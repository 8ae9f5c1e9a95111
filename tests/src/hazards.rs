//! Random functions of neighbouring loops with rare hazards: operations that some operands make
//! undefined or poison, loops that end the program, integers of odd widths, strides and objects
//! known only at run time.
//!
//! Each function is text. It has an `index` `%n` that bounds some loops, and an `index` `%s` that
//! divides, steps and shifts. It also has a condition `%c`, and buffers that a call may pass twice.
//! Most operations have subscripts in bounds, so that many calls are defined. Undefined behaviour
//! occurs only for some values of `%s`.

use std::fmt::Write;

use loomir::dialects::interp::Limits;

use crate::behaviour::{Input, same_behaviour};
use crate::check::Checker;
use crate::random::Random;

/// Types of induction variables. All but `index` need a cast to `index`.
const TYPES: [&str; 6] = ["index", "index", "i5", "i8", "i33", "i64"];
/// The tested values of `%s`.
const DIVISORS: [i64; 8] = [0, 1, 2, 3, -1, 64, i64::MAX, i64::MIN];
/// The maximal trip count of a loop.
const MOST: i64 = 8;

/// The pipelines whose results are compared with the original.
const PIPELINES: [&str; 10] = [
    "builtin.module(func.func(loop-fusion{alias=may fusion-profitability=always}))",
    "builtin.module(func.func(loop-fusion{alias=version fusion-profitability=always}))",
    "builtin.module(func.func(loop-fusion{alias=may fusion-profitability=always},array-contraction))",
    "builtin.module(func.func(loop-distribute{alias=may expand=4}))",
    "builtin.module(func.func(loop-distribute{alias=version expand=2},array-contraction))",
    "builtin.module(func.func(array-contraction,canonicalize))",
    "builtin.module(if-to-select,canonicalize)",
    "builtin.module(if-to-select,func.func(loop-fusion{fusion-profitability=always}),mem2reg)",
    "builtin.module(func.func(saturate))",
    "builtin.module(func.func(loop-distribute{expand=4},loop-fusion{fusion-profitability=always},lower-affine,convert-scf-to-cf))",
];

/// The numbers of compared programs and runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Functions.
    pub cases: u64,
    /// Defined calls that were compared before and after a pipeline.
    pub compared: usize,
    /// Calls that are not.
    pub skipped: usize,
}

/// Runs the functions of these numbers before and after each pipeline.
///
/// # Errors
/// The first call that behaves differently afterwards, with the function.
pub fn run(seed: u64, (first, count): (u64, u64), tally: &mut Tally) -> Result<(), String> {
    let checker = Checker::default();
    for index in first..first + count {
        let mut random = Random::of_case(seed, index);
        let text = hazards(&mut random);
        let calls = calls(&mut random);
        let failed = |what: &str, error: String| format!("case {index}, {what}: {error}\n{text}");
        let read = checker.read(&text);
        let before = read.map_err(|errors| failed("as it is", checker.lines(&errors)))?;
        for pipeline in PIPELINES {
            let after = checker.transformed(pipeline, &text);
            let (after, _) = after.map_err(|errors| failed(pipeline, checker.lines(&errors)))?;
            let agreement = same_behaviour(&before, &after, "kernel", &calls, &Limits::default());
            let agreement = agreement.map_err(|error| failed(pipeline, error))?;
            tally.compared += agreement.compared;
            tally.skipped += agreement.skipped;
        }
        tally.cases += 1;
    }
    Ok(())
}

/// Returns a random function `kernel`, in a module with a function that it calls. Equal seeds give
/// equal functions.
pub(crate) fn hazards(random: &mut Random) -> String {
    let mut writer =
        Writer { random, text: String::new(), next: 0, indent: 1, numbers: Vec::new(), indices: Vec::new() };
    writer.function();
    writer.text
}

/// Returns calls of a function made by [`hazards`].
pub(crate) fn calls(random: &mut Random) -> Vec<Input> {
    let seed = random.bits() >> 1;
    let mut all = Vec::new();
    for (round, s) in DIVISORS.into_iter().enumerate() {
        let n = random.range(0, MOST);
        let second = if round % 3 == 2 { "@3".to_owned() } else { format!("random:{seed}") };
        let third = if round % 4 == 3 { "@3".to_owned() } else { "zeros".to_owned() };
        let c = random.chance(50);
        let numbers = [n.to_string(), s.to_string(), c.to_string()];
        all.push(numbers.into_iter().chain(["iota".to_owned(), second, third, "iota".to_owned()]).collect());
    }
    all
}

/// The kinds of statements of a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flavour {
    Any,
    /// Operations that may end the program, and write nothing.
    Ends,
    /// Operations that compute, and touch no memory.
    Computes,
    /// Operations that store to one of the objects and load from another one.
    Exchanges,
}

struct Writer<'r> {
    random: &'r mut Random,
    text: String,
    next: usize,
    indent: usize,
    /// The available values of type `i32`, and of type `index`. The latter hold any number.
    numbers: Vec<String>,
    indices: Vec<String>,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{:width$}{line}", "", width = 2 * self.indent);
    }

    /// Adds a line that computes a value.
    fn value(&mut self, line: &str) -> String {
        let name = format!("%{}", self.next);
        self.next += 1;
        self.line(&format!("{name} = {line}"));
        name
    }

    fn number(&mut self) -> String {
        self.random.pick(&self.numbers).clone()
    }

    fn index(&mut self) -> String {
        self.random.pick(&self.indices).clone()
    }

    fn function(&mut self) {
        self.text += "func.func private @step(%s: index, %i: index, %m: memref<16xi32>) -> i32 {\n";
        let body = ["%q = arith.divsi %i, %s : index", "%q = arith.addi %i, %s : index"];
        let body = *self.random.pick(&body);
        self.line(body);
        self.line("%c0 = arith.constant 0 : index");
        self.line("%x = memref.load %m[%c0] : memref<16xi32>");
        self.line("%y = arith.index_cast %q : index to i32");
        self.line("%z = arith.xori %x, %y : i32");
        self.line("return %z : i32");
        self.text += "}\nfunc.func @kernel(%n: index, %s: index, %c: i1, %a: memref<16xi32>, %b: memref<16xi32>, %o: memref<16xi32>, %x: memref<16xindex>) -> (i32, index) {\n";
        for number in [0, 1, 2, 15] {
            self.line(&format!("%c{number} = arith.constant {number} : index"));
        }
        self.line("%k = arith.constant 3 : i32");
        self.line("%t = memref.alloc() : memref<16xi32>");
        self.line("affine.for %i = 0 to 16 {");
        self.line("  affine.store %k, %t[%i] : memref<16xi32>");
        self.line("}");
        self.numbers.push("%k".into());
        self.indices.extend(["%n", "%s", "%c1"].map(String::from));
        let upper = self.random.range(1, MOST).to_string();
        let ty = *self.random.pick(&TYPES);
        for _ in 0..self.random.range(2, 4) {
            let bound = if self.random.chance(40) { "%n".to_owned() } else { upper.clone() };
            self.nest(&bound, ty);
            if self.random.chance(30) {
                self.statement("%c1", &Objects::plain());
            }
        }
        let (number, index) = (self.number(), self.index());
        self.line("memref.copy %t, %o : memref<16xi32> to memref<16xi32>");
        self.line("memref.dealloc %t : memref<16xi32>");
        self.line(&format!("return {number}, {index} : i32, index"));
        self.text += "}\n";
    }

    /// Writes a loop with some statements. Its values go out of scope after it, except its carried
    /// ones.
    fn nest(&mut self, upper: &str, ty: &str) {
        let carries = self.random.chance(50);
        let (numbers, indices) = (self.numbers.clone(), self.indices.clone());
        let (first, init) = (self.number(), self.index());
        let inits = format!("iter_args(%u{0} = {first}, %v{0} = {init}) -> (i32, index) ", self.next);
        let carried = [format!("%u{}", self.next), format!("%v{}", self.next)];
        let is_affine = ty == "index" && self.random.chance(50);
        let results = if carries { format!("%r{}:2 = ", self.next) } else { String::new() };
        let result = format!("%r{}", self.next);
        let inits = if carries { inits } else { String::new() };
        let variable = format!("%i{}", self.next);
        self.next += 1;
        if is_affine {
            self.line(&format!("{results}affine.for {variable} = 0 to {upper} {inits}{{"));
        } else {
            let step = self.value(&format!("arith.constant 1 : {ty}"));
            let lower = self.value(&format!("arith.constant 0 : {ty}"));
            let end = match upper.strip_prefix('%') {
                Some(_) if ty == "index" => upper.to_owned(),
                Some(_) => self.value(&format!("arith.index_cast {upper} : index to {ty}")),
                None => self.value(&format!("arith.constant {upper} : {ty}")),
            };
            let kind = if ty == "index" { String::new() } else { format!(" : {ty}") };
            self.line(&format!(
                "{results}scf.for {variable} = {lower} to {end} step {step} {inits}{kind} {{"
            ));
        }
        self.indent += 1;
        let i = if ty == "index" {
            variable
        } else {
            self.value(&format!("arith.index_cast {variable} : {ty} to index"))
        };
        if carries {
            self.numbers.push(carried[0].clone());
            self.indices.push(carried[1].clone());
        }
        self.indices.push(i.clone());
        let flavours = [Flavour::Any, Flavour::Ends, Flavour::Computes, Flavour::Exchanges];
        let flavour = flavours[self.random.weighted(&[50, 18, 20, 12])];
        let objects = self.objects(&i, flavour);
        for _ in 0..self.random.range(1, 4) {
            self.statement_of(flavour, &i, &objects);
        }
        let yields = if is_affine { "affine.yield" } else { "scf.yield" };
        if carries {
            let (number, index) = (self.number(), self.index());
            self.line(&format!("{yields} {number}, {index} : i32, index"));
        }
        self.indent -= 1;
        self.line("}");
        (self.numbers, self.indices) = (numbers, indices);
        if carries {
            self.numbers.push(format!("{result}#0"));
            self.indices.push(format!("{result}#1"));
        }
    }

    /// Returns the objects that statements of an iteration access.
    fn objects(&mut self, i: &str, flavour: Flavour) -> Objects {
        let is_plain = flavour == Flavour::Any && self.random.chance(75);
        if is_plain || matches!(flavour, Flavour::Ends | Flavour::Computes) {
            return Objects::plain();
        }
        let plain = "memref<16xi32>";
        match self.random.below(3) {
            // Each iteration accesses them in another order.
            0 => {
                let even = self.value(&format!("affine.apply affine_map<(d0) -> (d0 mod 2)>({i})"));
                let even = self.value(&format!("arith.cmpi eq, {even}, %c0 : index"));
                let p = self.value(&format!("arith.select {even}, %a, %b : {plain}"));
                let q = self.value(&format!("arith.select {even}, %b, %a : {plain}"));
                let all = format!("{plain}, {plain}, {plain}");
                let name = format!("%{}", self.next);
                self.next += 1;
                self.line(&format!("{name}:3 = memref.distinct_objects {p}, {q}, %t : {all}"));
                Objects([0, 1, 2].map(|at| (format!("{name}#{at}"), plain.to_owned())))
            }
            1 => {
                let ty = "memref<16xi32, strided<[?]>>";
                let zero = self.value("arith.andi %s, %c1 : index");
                let view = self.value(&format!(
                    "memref.reinterpret_cast %a to offset: [0], sizes: [16], strides: [{zero}] : {plain} to {ty}"
                ));
                Objects([(view, ty.to_owned()), ("%b".into(), plain.into()), ("%t".into(), plain.into())])
            }
            _ => {
                let ty = "memref<16xi32, 1>";
                let view = self.value(&format!("memref.memory_space_cast %a : {plain} to {ty}"));
                Objects([(view, ty.to_owned()), ("%a".into(), plain.into()), ("%t".into(), plain.into())])
            }
        }
    }

    /// Returns an index in bounds.
    fn subscript(&mut self, i: &str) -> String {
        match self.random.below(6) {
            0 | 1 => i.to_owned(),
            2 => self.value(&format!("arith.addi {i}, %c1 : index")),
            3 => self.value(&format!("arith.subi %c15, {i} : index")),
            4 => (*self.random.pick(&["%c0", "%c1", "%c2"])).to_owned(),
            _ => {
                let any = self.index();
                self.value(&format!("arith.andi {any}, %c15 : index"))
            }
        }
    }

    /// Writes a computation of an index that may be undefined or poison.
    fn hazard(&mut self) -> String {
        let (a, b) = (self.index(), self.index());
        let s = if self.random.chance(70) { "%s".to_owned() } else { b };
        let line = match self.random.below(10) {
            0..=2 => {
                let operator = *self.random.pick(&["floordiv", "ceildiv", "mod"]);
                format!("affine.apply affine_map<(d0)[s0] -> (d0 {operator} s0)>(%n)[%s]")
            }
            3 => "affine.max affine_map<(d0)[s0] -> (d0, d0 mod (s0 - 2))>(%n)[%s]".to_owned(),
            4 => format!(
                "arith.{} {a}, {s} : index",
                self.random.pick(&["divsi", "remui", "floordivsi", "ceildivui"])
            ),
            5 => format!("memref.dim %a, {s} : memref<16xi32>"),
            6 => format!("arith.addi {a}, {s} overflow<nsw> : index"),
            7 => format!("arith.shrsi {a}, {s} : index"),
            8 => {
                let least = self.value(&format!("arith.minsi {a}, %c15 : index"));
                let few = self.value(&format!("memref.alloca({least}) : memref<?xi8>"));
                format!("memref.dim {few}, %c0 : memref<?xi8>")
            }
            _ => {
                let name = format!("%{}", self.next);
                self.next += 1;
                self.line(&format!("{name}:2 = affine.delinearize_index {a} into ({s}) : index, index"));
                return format!("{name}#1");
            }
        };
        self.value(&line)
    }

    fn condition(&mut self) -> String {
        match self.random.below(4) {
            0 => "%c".to_owned(),
            1 => self.value("arith.cmpi sgt, %s, %c0 : index"),
            2 => {
                let any = self.index();
                self.value(&format!("arith.cmpi slt, {any}, %c2 : index"))
            }
            _ => {
                let any = self.hazard();
                self.value(&format!("arith.cmpi ult, {any}, %c2 : index"))
            }
        }
    }

    fn statement_of(&mut self, flavour: Flavour, i: &str, objects: &Objects) {
        match flavour {
            Flavour::Any => self.statement(i, objects),
            Flavour::Ends => self.end(i),
            Flavour::Computes => match self.random.below(3) {
                0 => {
                    let hazard = self.hazard();
                    self.indices.push(hazard);
                }
                1 => self.guarded(i, false),
                _ => self.inner(i),
            },
            Flavour::Exchanges => {
                let [(a, first), (b, second), (t, third)] = objects.0.clone();
                let (at, from, number) = (self.subscript(i), self.subscript(i), self.number());
                self.line(&format!("memref.store {number}, {a}[{at}] : {first}"));
                let loaded = self.value(&format!("memref.load {b}[{from}] : {second}"));
                self.line(&format!("memref.store {loaded}, {t}[{i}] : {third}"));
            }
        }
    }

    /// Ends the program in some iteration, or not at all.
    fn end(&mut self, i: &str) {
        let loaded = self.value(&format!("memref.load %x[{i}] : memref<16xindex>"));
        let least = self.random.range(1, 12);
        let least = self.value(&format!("arith.constant {least} : index"));
        let small = self.value(&format!("arith.cmpi slt, {loaded}, {least} : index"));
        self.line(&format!("cf.assert {small}, \"too large\""));
    }

    fn statement(&mut self, i: &str, objects: &Objects) {
        let (memref, ty) = self.random.pick(&objects.0).clone();
        match self.random.weighted(&[20, 20, 14, 10, 8, 6, 6, 5, 5, 4]) {
            0 => {
                let at = self.subscript(i);
                let loaded = self.value(&format!("memref.load {memref}[{at}] : {ty}"));
                self.numbers.push(loaded);
            }
            1 => {
                let (at, number) = (self.subscript(i), self.number());
                self.line(&format!("memref.store {number}, {memref}[{at}] : {ty}"));
            }
            2 => {
                let hazard = self.hazard();
                self.indices.push(hazard);
            }
            3 => self.guarded(i, true),
            4 => self.end(i),
            5 => {
                let (at, number) = (self.subscript(i), self.number());
                let kind = *self.random.pick(&["addi", "maxs", "ori"]);
                let line =
                    format!("memref.atomic_rmw {kind} {number}, %a[{at}] : (i32, memref<16xi32>) -> i32");
                let old = self.value(&line);
                self.numbers.push(old);
            }
            6 => {
                let index = self.index();
                let number = self.value(&format!(
                    "func.call @step(%s, {index}, %b) : (index, index, memref<16xi32>) -> i32"
                ));
                self.numbers.push(number);
            }
            7 => self.inner(i),
            8 => {
                let (a, b) = (self.number(), self.number());
                let at = self.subscript(i);
                let loaded = self.value(&format!("memref.load {memref}[{at}] : {ty}"));
                let sum = self.value(&format!("arith.addi {loaded}, {a} overflow<nsw> : i32"));
                self.line(&format!("memref.store {sum}, {memref}[{at}] : {ty}"));
                let product = self.value(&format!("arith.muli {a}, {b} : i32"));
                self.numbers.push(product);
            }
            _ => {
                let at = self.subscript(i);
                let block = [
                    "^bb0(%old: i32):",
                    "  %new = arith.addi %old, %k : i32",
                    "  memref.atomic_yield %new : i32",
                    "}",
                ];
                let updated = self.value(&format!("memref.generic_atomic_rmw %a[{at}] : memref<16xi32> {{"));
                block.into_iter().for_each(|line| self.line(line));
                self.numbers.push(updated);
            }
        }
    }

    /// Writes a conditional whose branches compute values that may be undefined, and possibly
    /// write.
    fn guarded(&mut self, i: &str, may_write: bool) {
        let is_set = self.random.chance(25);
        let condition = if is_set { String::new() } else { self.condition() };
        let head = match is_set {
            true => "affine.if affine_set<(d0)[s0] : (d0 floordiv s0 - 1 >= 0)>(%n)[%s] -> (i32, index) {"
                .to_owned(),
            false => format!("scf.if {condition} -> (i32, index) {{"),
        };
        let yields = if is_set { "affine.yield" } else { "scf.yield" };
        let name = format!("%{}", self.next);
        self.next += 1;
        self.line(&format!("{name}:2 = {head}"));
        for side in 0..2 {
            if side == 1 {
                self.line("} else {");
            }
            self.indent += 1;
            let (numbers, indices) = (self.numbers.clone(), self.indices.clone());
            for _ in 0..self.random.range(0, 2) {
                let hazard = self.hazard();
                self.indices.push(hazard);
            }
            if may_write && self.random.chance(20) {
                let (at, number) = (self.subscript(i), self.number());
                self.line(&format!("memref.store {number}, %o[{at}] : memref<16xi32>"));
            }
            let (number, index) = (self.number(), self.index());
            self.line(&format!("{yields} {number}, {index} : i32, index"));
            (self.numbers, self.indices) = (numbers, indices);
            self.indent -= 1;
        }
        self.line("}");
        self.numbers.push(format!("{name}#0"));
        self.indices.push(format!("{name}#1"));
    }

    /// Adds an inner loop whose bound or step may be undefined.
    fn inner(&mut self, i: &str) {
        let number = self.number();
        let any = self.hazard();
        let few = self.value(&format!("arith.remui {any}, %c15 : index"));
        let step = if self.random.chance(50) { "%c1" } else { "%s" };
        let name = format!("%{}", self.next);
        self.next += 1;
        let head =
            format!("{name} = scf.for %j = {i} to {few} step {step} iter_args(%w = {number}) -> i32 {{");
        self.line(&head);
        self.line("  %y = arith.xori %w, %k : i32");
        self.line("  scf.yield %y : i32");
        self.line("}");
        self.numbers.push(name);
    }
}

/// Three memrefs and their types.
struct Objects([(String, String); 3]);

impl Objects {
    fn plain() -> Objects {
        Objects(["%a", "%b", "%t"].map(|name| (name.to_owned(), "memref<16xi32>".to_owned())))
    }
}
