//! Writing programs with loops that may run in any order.

use std::fmt::Write;

use crate::behaviour::Input;
use crate::random::Random;

/// The number of elements of each memref, and the most iterations of a loop.
const SIZE: i64 = 64;
const MOST: i64 = 20;

const ELEMENTS: [&str; 10] = ["i32", "i32", "i64", "i8", "i16", "i1", "index", "f32", "f64", "bf16"];

/// Returns a random program with a function `kernel`, and calls of it. Its function `sum` calls the
/// kernel too, and adds up what it leaves in memory. Equal seeds give equal programs.
pub(super) fn program(random: &mut Random) -> (String, Vec<Input>) {
    let element = *random.pick(&ELEMENTS);
    let reorders = matches!(element, "f32" | "f64") && random.chance(60);
    let mut writer = Writer {
        random,
        element,
        reorders,
        text: String::new(),
        next: 0,
        numbers: Vec::new(),
        indices: Vec::new(),
    };
    writer.kernel();
    writer.sum();
    let calls = writer.calls();
    (writer.text, calls)
}

struct Writer<'r> {
    random: &'r mut Random,
    element: &'static str,
    /// True if sums of floats may be reordered. Then they are sums of whole numbers.
    reorders: bool,
    text: String,
    next: usize,
    /// The available values of the type of elements.
    numbers: Vec<String>,
    /// The available values of type `index` that differ.
    indices: Vec<String>,
}

/// A loop being written.
#[derive(Clone)]
struct Around {
    is_affine: bool,
    variable: String,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn value(&mut self, line: &str) -> String {
        let name = self.name();
        self.line(&format!("{name} = {line}"));
        name
    }

    fn is_float(&self) -> bool {
        self.element.contains('f')
    }

    fn memref(&self) -> String {
        format!("memref<{SIZE}x{}>", self.element)
    }

    fn number(&mut self) -> String {
        self.random.pick(&self.numbers).clone()
    }

    fn constant(&mut self, number: i64) -> String {
        let ty = self.element;
        match ty {
            "i1" => self.value(&format!("arith.constant {}", number % 2 != 0)),
            _ if self.is_float() => self.value(&format!("arith.constant {number}.0 : {ty}")),
            _ => self.value(&format!("arith.constant {number} : {ty}")),
        }
    }

    fn calls(&mut self) -> Vec<Input> {
        let mut all = Vec::new();
        for round in 0..4u64 {
            let n = self.random.range(0, MOST);
            let (k, x) = (self.random.chance(50), if self.is_float() { "-0.0" } else { "1" });
            let seed = self.random.bits() >> 1;
            let contents = |at: u64| match round % 2 {
                1 if !self.reorders => format!("random:{}", seed.wrapping_add(at)),
                _ => "iota".to_owned(),
            };
            let [a, b, o] = [0, 1, 2].map(contents);
            all.push(vec![n.to_string(), k.to_string(), x.to_owned(), a, b, o]);
        }
        all
    }

    fn kernel(&mut self) {
        let (memref, element) = (self.memref(), self.element);
        self.text += &format!(
            "func.func @kernel(%n: index, %k: i1, %x: {element}, %a: {memref}, %b: {memref}, %o: {memref}) \
             -> {element} {{\n"
        );
        self.numbers = vec!["%x".to_owned()];
        let (number, other) = (self.random.range(1, 3), self.random.range(0, 9));
        let constants = [self.constant(number), self.constant(other)];
        self.numbers.extend(constants);
        for _ in 0..self.random.range(1, 2) {
            self.nest();
        }
        let last = self.numbers.last().cloned().unwrap_or_default();
        self.line(&format!("return {last} : {element}"));
        self.text += "}\n";
    }

    /// Writes a loop. Its values go out of scope behind it, but for its results.
    fn nest(&mut self) {
        let scope = (self.numbers.len(), self.indices.len());
        let (around, head) = self.head();
        let count = [0, 1, 2][self.random.weighted(&[40, 40, 20])];
        let carried: Vec<String> = (0..count).map(|_| self.name()).collect();
        let result = self.name();
        let element = self.element;
        let inits: Vec<String> = carried.iter().map(|own| format!("{own} = {}", self.number())).collect();
        let types = vec![element; count].join(", ");
        match count {
            0 => self.line(&format!("{head} {{")),
            _ => self
                .line(&format!("{result}:{count} = {head} iter_args({}) -> ({types}) {{", inits.join(", "))),
        }
        self.indices.push(around.variable.clone());
        for _ in 0..self.random.range(1, 4) {
            self.statement(&around, 0);
        }
        let yields = if around.is_affine { "affine.yield" } else { "scf.yield" };
        let steps: Vec<String> = carried.iter().map(|own| self.step(&around, own)).collect();
        if count > 0 {
            self.line(&format!("{yields} {} : {types}", steps.join(", ")));
        }
        self.line("}");
        self.numbers.truncate(scope.0);
        self.indices.truncate(scope.1);
        self.numbers.extend((0..count).map(|at| format!("{result}#{at}")));
    }

    /// Returns the head of a loop.
    fn head(&mut self) -> (Around, String) {
        let is_affine = self.random.chance(60);
        let variable = self.name();
        let lower = self.random.range(0, 4);
        let step = [1, 1, 1, 2, 3][self.random.below(5)];
        let upper = if self.random.chance(30) { None } else { Some(self.random.range(lower, MOST)) };
        let around = Around { is_affine, variable: variable.clone() };
        if is_affine {
            let upper = upper.map_or("%n".to_owned(), |own| own.to_string());
            return (around, format!("affine.for {variable} = {lower} to {upper} step {step}"));
        }
        let index = |own: i64| format!("arith.constant {own} : index");
        let [lower, step] = [lower, step].map(|own| self.value(&index(own)));
        let upper = upper.map_or("%n".to_owned(), |own| self.value(&index(own)));
        let is_unsigned = if self.random.chance(8) { "unsigned " } else { "" };
        (around, format!("scf.for {is_unsigned}{variable} = {lower} to {upper} step {step}"))
    }

    fn statement(&mut self, around: &Around, depth: usize) {
        let choice = self.random.weighted(&[25, 25, 25, if depth < 3 { 20 } else { 0 }, 8, 8]);
        match choice {
            0 => {
                let loaded = self.load(around);
                self.numbers.push(loaded);
            }
            1 => {
                let computed = self.computed();
                self.numbers.push(computed);
            }
            2 => self.store(around),
            3 => self.condition(around, depth),
            4 if depth < 2 => self.inner(around, depth),
            _ => self.guarded(around),
        }
    }

    /// Returns a subscript in bounds.
    fn subscript(&mut self, around: &Around, is_stored: bool) -> String {
        let i = &around.variable;
        let by = self.random.range(0, 3);
        let choice = self.random.weighted(&[40, 20, 15, 10, 5, if is_stored { 0 } else { 10 }]);
        match choice {
            0 => i.clone(),
            1 => format!("{i} + {by}"),
            2 => format!("-{i} + {}", MOST + 4 + by),
            3 => format!("{i} * 2 + {by}"),
            4 => format!("{i} * 3"),
            _ => [format!("{i} mod 5"), format!("{i} floordiv 2"), by.to_string()][self.random.below(3)]
                .clone(),
        }
    }

    /// Writes a load or store with a subscript, which is `value` or the loaded value.
    fn access(&mut self, around: &Around, (memref, stored): (&str, Option<&str>), subscript: &str) -> String {
        let ty = self.memref();
        let (op, at) = match around.is_affine && self.random.chance(70) {
            true => ("affine", subscript.to_owned()),
            false => ("memref", self.index(around, subscript)),
        };
        match stored {
            Some(stored) => {
                self.line(&format!("{op}.store {stored}, {memref}[{at}] : {ty}"));
                stored.to_owned()
            }
            None => self.value(&format!("{op}.load {memref}[{at}] : {ty}")),
        }
    }

    /// Computes a subscript.
    fn index(&mut self, around: &Around, subscript: &str) -> String {
        let i = &around.variable;
        if let Some(by) = subscript.strip_prefix(&format!("{i} + ")) {
            let flags = *self.random.pick(&["", " overflow<nsw>", " overflow<nsw, nuw>"]);
            let by = self.value(&format!("arith.constant {by} : index"));
            return self.value(&format!("arith.addi {i}, {by}{flags} : index"));
        }
        let expr = subscript.replace(i, "d");
        self.value(&format!("affine.apply affine_map<(d) -> ({expr})>({i})"))
    }

    fn load(&mut self, around: &Around) -> String {
        if !self.is_float() && !matches!(self.element, "i1" | "index") && self.random.chance(10) {
            return self.indexed();
        }
        let subscript = self.subscript(around, false);
        let from = *self.random.pick(&["%a", "%b", "%a", "%o"]);
        let from = if self.reorders { "%a" } else { from };
        self.access(around, (from, None), &subscript)
    }

    /// Loads an element whose place is computed from a number.
    fn indexed(&mut self) -> String {
        let (number, from, to) = (self.number(), self.element, self.memref());
        let index = self.value(&format!("arith.index_castui {number} : {from} to index"));
        let size = self.value(&format!("arith.constant {SIZE} : index"));
        let place = self.value(&format!("arith.remui {index}, {size} : index"));
        self.value(&format!("memref.load %a[{place}] : {to}"))
    }

    fn store(&mut self, around: &Around) {
        let subscript = self.subscript(around, true);
        let to = if self.reorders || self.random.chance(80) { "%o" } else { "%b" };
        let stored = self.number();
        self.access(around, (to, Some(&stored)), &subscript);
    }

    fn computed(&mut self) -> String {
        let ty = self.element;
        let [a, b] = [self.number(), self.number()];
        let ints =
            ["addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxui", "addi", "minui", "maxsi"];
        let floats = ["addf", "subf", "mulf", "minimumf", "maximumf", "maxnumf"];
        if self.random.chance(20) {
            let k = self.bit();
            return self.value(&format!("arith.select {k}, {a}, {b} : {ty}"));
        }
        match self.is_float() {
            true => {
                let op = *self.random.pick(&floats);
                self.value(&format!("arith.{op} {a}, {b} : {ty}"))
            }
            false => {
                let op = *self.random.pick(&ints);
                let flags = if op == "addi" && self.random.chance(30) { " overflow<nsw>" } else { "" };
                self.value(&format!("arith.{op} {a}, {b}{flags} : {ty}"))
            }
        }
    }

    /// Returns a value of type `i1`.
    fn bit(&mut self) -> String {
        let ty = self.element;
        match self.random.below(4) {
            0 => "%k".to_owned(),
            1 if !self.indices.is_empty() => {
                let i = self.random.pick(&self.indices).clone();
                let bound = self.random.range(0, MOST);
                let bound = self.value(&format!("arith.constant {bound} : index"));
                let how = *self.random.pick(&["slt", "sge", "eq", "ne", "ult"]);
                self.value(&format!("arith.cmpi {how}, {i}, {bound} : index"))
            }
            _ => {
                let [a, b] = [self.number(), self.number()];
                let (op, how) = match self.is_float() {
                    true => ("cmpf", *self.random.pick(&["olt", "ult", "oeq", "une"])),
                    false => ("cmpi", *self.random.pick(&["slt", "eq", "uge", "ne"])),
                };
                self.value(&format!("arith.{op} {how}, {a}, {b} : {ty}"))
            }
        }
    }

    /// Writes a condition, maybe with a value.
    fn condition(&mut self, around: &Around, depth: usize) {
        let (ty, has_result, has_else) = (self.element, self.random.chance(50), self.random.chance(50));
        let result = self.name();
        let results = if has_result { format!("{result} = ") } else { String::new() };
        let types = if has_result { format!("-> {ty} ") } else { String::new() };
        let mut yields = "scf.yield";
        if around.is_affine && self.random.chance(40) {
            let (at, bound) = (&around.variable, self.random.range(0, MOST));
            let set = ["i - B >= 0", "B - i >= 0", "i mod 3 - 1 >= 0, B - i >= 0", "i - B == 0"];
            let set = self.random.pick(&set).replace('B', &bound.to_string());
            yields = "affine.yield";
            let line = format!("{results}affine.if affine_set<(i) : ({set})>({at}) {types}{{");
            self.line(&line);
        } else {
            let k = self.bit();
            self.line(&format!("{results}scf.if {k} {types}{{"));
        }
        for side in 0..1 + usize::from(has_result || has_else) {
            if side == 1 {
                self.line("} else {");
            }
            let scope = self.numbers.len();
            for _ in 0..self.random.range(if has_result { 0 } else { 1 }, 2) {
                self.statement(around, depth + 1);
            }
            if has_result {
                let own = self.number();
                self.line(&format!("{yields} {own} : {ty}"));
            }
            self.numbers.truncate(scope);
        }
        self.line("}");
        if has_result {
            self.numbers.push(result);
        }
    }

    /// Writes an inner loop that all iterations run together, or not.
    fn inner(&mut self, around: &Around, depth: usize) {
        let (element, k, carried, result) = (self.element, self.name(), self.name(), self.name());
        let init = self.number();
        let bound = match self.random.below(8) {
            0 if around.is_affine => format!("affine_map<(d) -> (d)>({})", around.variable),
            _ => "3".to_owned(),
        };
        self.line(&format!(
            "{result} = affine.for {k} = 0 to {bound} iter_args({carried} = {init}) -> ({element}) {{"
        ));
        let scope = self.numbers.len();
        self.numbers.push(carried);
        for _ in 0..self.random.range(1, 2) {
            self.statement(around, depth + 2);
        }
        let last = self.computed();
        self.line(&format!("affine.yield {last} : {element}"));
        self.line("}");
        self.numbers.truncate(scope);
        self.numbers.push(result);
    }

    /// Writes an access or a division that only some iterations may execute.
    fn guarded(&mut self, around: &Around) {
        let (ty, i) = (self.element, around.variable.clone());
        let result = self.name();
        if !self.is_float() && ty != "i1" && self.random.chance(40) {
            let op = *self.random.pick(&["divui", "divsi", "remui", "remsi", "ceildivui", "floordivsi"]);
            let [a, b, zero] = [self.number(), self.number(), self.constant(0)];
            let k = self.value(&format!("arith.cmpi ne, {b}, {zero} : {ty}"));
            self.line(&format!("{result} = scf.if {k} -> {ty} {{"));
            let quotient = self.value(&format!("arith.{op} {a}, {b} : {ty}"));
            self.line(&format!("scf.yield {quotient} : {ty}\n  }} else {{\n  scf.yield {a} : {ty}\n  }}"));
        } else {
            let by = self.random.range(1, 8);
            let bound = self.value(&format!("arith.constant {by} : index"));
            // The element does not exist where the condition does not hold.
            let (how, subscript) = match self.random.below(2) {
                0 => ("sge", format!("{i} - {by}")),
                _ => ("slt", format!("{i} + {}", SIZE - by)),
            };
            let k = self.value(&format!("arith.cmpi {how}, {i}, {bound} : index"));
            let other = self.number();
            self.line(&format!("{result} = scf.if {k} -> {ty} {{"));
            let loaded = self.access(around, ("%a", None), &subscript);
            self.line(&format!("scf.yield {loaded} : {ty}\n  }} else {{\n  scf.yield {other} : {ty}\n  }}"));
        }
        self.numbers.push(result);
    }

    /// Writes the step of a reduction, or of what looks like one. Returns its result.
    fn step(&mut self, around: &Around, carried: &str) -> String {
        let ty = self.element;
        let (mut op, mut contributed) = (String::new(), self.number());
        if !self.is_float() {
            let ops =
                ["addi", "addi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui", "subi"];
            op += *self.random.pick(&ops);
            if matches!(&op[..], "addi" | "muli" | "subi") && self.random.chance(20) {
                return self.value(&format!("arith.{op} {carried}, {contributed} overflow<nsw> : {ty}"));
            }
        } else if self.reorders {
            let flags = *self.random.pick(&["reassoc", "reassoc,ninf", "reassoc,nnan,contract"]);
            let name = *self.random.pick(&["addf", "subf", "mulf"]);
            contributed = match name {
                "mulf" => {
                    let k = self.bit();
                    let powers = [2, 1].map(|power| self.constant(power));
                    self.value(&format!("arith.select {k}, {}, {} : {ty}", powers[0], powers[1]))
                }
                _ => self.load(around),
            };
            return self.value(&format!("arith.{name} {carried}, {contributed} fastmath<{flags}> : {ty}"));
        } else {
            op += *self.random.pick(&["minimumf", "maximumf", "addf", "minnumf"]);
        }
        let swaps = op != "subi" && self.random.chance(30);
        let (a, b) = if swaps { (&*contributed, carried) } else { (carried, &*contributed) };
        self.value(&format!("arith.{op} {a}, {b} : {ty}"))
    }

    /// Writes the function that calls the kernel, and adds up its memory.
    fn sum(&mut self) {
        let (memref, ty) = (self.memref(), self.element);
        let to_element = match ty {
            "index" => "arith.addi %i, %c0 : index".to_owned(),
            _ if self.is_float() => format!("arith.uitofp %w : i32 to {ty}"),
            "i32" => "arith.addi %w, %w : i32".to_owned(),
            "i64" => "arith.extui %w : i32 to i64".to_owned(),
            _ => format!("arith.trunci %w : i32 to {ty}"),
        };
        let to_word = match ty {
            "index" => "%y = arith.index_cast %e : index to i64".to_owned(),
            "i64" => "%c = arith.constant 0 : i64\n    %y = arith.addi %e, %c : i64".to_owned(),
            "f64" => "%y = arith.bitcast %e : f64 to i64".to_owned(),
            "f32" => "%c = arith.bitcast %e : f32 to i32\n    %y = arith.extui %c : i32 to i64".to_owned(),
            "bf16" => "%c = arith.bitcast %e : bf16 to i16\n    %y = arith.extui %c : i16 to i64".to_owned(),
            _ => format!("%y = arith.extui %e : {ty} to i64"),
        };
        let (n, k) = (self.random.range(0, MOST), self.random.chance(50));
        let x = match ty {
            "i1" => "true".to_owned(),
            _ if self.is_float() => format!("1.0 : {ty}"),
            _ => format!("1 : {ty}"),
        };
        let _ = write!(
            self.text,
            "func.func @sum() -> i64 {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = arith.constant {SIZE} : index
  %n = arith.constant {n} : index
  %k = arith.constant {k}
  %x = arith.constant {x}
  %z = arith.constant 0 : i64
  %f = arith.constant 31 : i64
  %a = memref.alloc() : {memref}
  %b = memref.alloc() : {memref}
  %o = memref.alloc() : {memref}
  scf.for %i = %c0 to %end step %c1 {{
    %w = arith.index_cast %i : index to i32
    %e = {to_element}
    memref.store %e, %a[%i] : {memref}
    memref.store %e, %b[%i] : {memref}
    memref.store %e, %o[%i] : {memref}
  }}
  %r = func.call @kernel(%n, %k, %x, %a, %b, %o) : (index, i1, {ty}, {memref}, {memref}, {memref}) -> {ty}
  memref.store %r, %a[%c0] : {memref}
  %s = scf.for %i = %c0 to %end step %c1 iter_args(%s = %z) -> i64 {{
    %t = func.call @add(%s, %a, %i) : (i64, {memref}, index) -> i64
    %u = func.call @add(%t, %b, %i) : (i64, {memref}, index) -> i64
    %v = func.call @add(%u, %o, %i) : (i64, {memref}, index) -> i64
    scf.yield %v : i64
  }}
  return %s : i64
}}
func.func @add(%s: i64, %m: {memref}, %i: index) -> i64 {{
    %f = arith.constant 31 : i64
    %e = memref.load %m[%i] : {memref}
    {to_word}
    %p = arith.muli %s, %f : i64
    %q = arith.addi %p, %y : i64
    return %q : i64
}}
"
        );
    }
}
