//! Random programs that keep scalars in memory, decide by conditionals without effects, and call
//! helper functions.
//!
//! Helpers are private and may call the helpers before them. Some are graphs of blocks. The entry
//! is `@kernel`. All programs end, and nearly all memory is written before it is read.

use std::fmt::Write;

use crate::random::Random;

/// The parameters of every function, as text.
const PARAMETERS: &str = "%a: memref<8xi32>, %x: i32, %y: i32, %c: i1";

/// Returns a program.
pub(crate) fn locals(random: &mut Random) -> String {
    let mut text = String::new();
    let helpers = 1 + random.below(3);
    for number in 0..helpers {
        text += &function(random, &format!("private @helper{number}"), number, 4);
    }
    text + &function(random, "@kernel", helpers, 9)
}

fn function(random: &mut Random, name: &str, helpers: usize, statements: usize) -> String {
    let mut writer = Writer {
        text: String::new(),
        next: 0,
        indent: 2,
        numbers: vec!["%x".to_owned(), "%y".to_owned()],
        conditions: vec!["%c".to_owned()],
        cells: Vec::new(),
        helpers,
    };
    for index in 0..8 {
        writer.line(&format!("%i{index} = arith.constant {index} : index"));
    }
    writer.cell(random);
    writer.statements(random, statements, 0);
    let result = writer.number(random);
    if name.starts_with("private") && random.chance(40) {
        let condition = writer.condition(random);
        writer.line(&format!("cf.cond_br {condition}, ^one, ^two({result} : i32)"));
        writer.line("^one:");
        writer.statements(random, 2, 2);
        let other = writer.number(random);
        match random.chance(50) {
            true => writer.line(&format!("cf.br ^two({other} : i32)")),
            false => writer.line(&format!("return {other} : i32")),
        }
        writer.line("^two(%end: i32):");
        writer.line("return %end : i32");
    } else {
        writer.line(&format!("return {result} : i32"));
    }
    format!("func.func {name}({PARAMETERS}) -> i32 {{\n{}}}\n", writer.text)
}

/// The values and memory that a place in the program may use, by name.
struct Writer {
    text: String,
    next: usize,
    indent: usize,
    numbers: Vec<String>,
    conditions: Vec<String>,
    /// Memrefs, each with the text of a subscript, and its type.
    cells: Vec<(String, usize)>,
    /// The number of helpers that may be called.
    helpers: usize,
}

impl Writer {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{:1$}{text}", "", self.indent);
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn number(&mut self, random: &mut Random) -> String {
        let recent = self.numbers.len().saturating_sub(4);
        let from = if random.chance(60) { recent } else { 0 };
        self.numbers[from + random.below(self.numbers.len() - from)].clone()
    }

    fn condition(&mut self, random: &mut Random) -> String {
        if random.chance(40) {
            return random.pick(&self.conditions).clone();
        }
        let (a, b, name) = (self.number(random), self.number(random), self.name());
        let predicate = random.pick(&["slt", "eq", "uge", "ne"]);
        self.line(&format!("{name} = arith.cmpi {predicate}, {a}, {b} : i32"));
        self.conditions.push(name.clone());
        name
    }

    fn compute(&mut self, random: &mut Random) -> String {
        let (a, b, name) = (self.number(random), self.number(random), self.name());
        let op = random.pick(&["addi", "subi", "muli", "xori", "andi", "maxsi"]);
        self.line(&format!("{name} = arith.{op} {a}, {b} : i32"));
        self.numbers.push(name.clone());
        name
    }

    /// Allocates one number, or a few, and writes them.
    fn cell(&mut self, random: &mut Random) {
        let (name, size) = (self.name(), *random.pick(&[0, 0, 1, 3]));
        self.line(&format!("{name} = memref.alloca() : {}", cell_type(size)));
        if random.chance(96) {
            for index in 0..size.max(1) {
                let value = self.number(random);
                self.line(&format!(
                    "memref.store {value}, {name}[{}] : {}",
                    at(size, index),
                    cell_type(size)
                ));
            }
        }
        self.cells.push((name, size));
    }

    fn access(&mut self, random: &mut Random) {
        let in_array = self.cells.is_empty() || random.chance(25);
        let (memref, size) = if in_array { ("%a".to_owned(), 8) } else { random.pick(&self.cells).clone() };
        let (index, ty) = (at(size, random.below(size.max(1))), cell_type(size));
        if random.chance(50) {
            let value = self.number(random);
            self.line(&format!("memref.store {value}, {memref}[{index}] : {ty}"));
        } else {
            let name = self.name();
            self.line(&format!("{name} = memref.load {memref}[{index}] : {ty}"));
            self.numbers.push(name);
        }
    }

    fn call(&mut self, random: &mut Random) {
        if self.helpers == 0 {
            return;
        }
        let (callee, x, y) = (random.below(self.helpers), self.number(random), self.number(random));
        let (condition, name) = (self.condition(random), self.name());
        self.line(&format!(
            "{name} = func.call @helper{callee}(%a, {x}, {y}, {condition}) : (memref<8xi32>, i32, i32, i1) -> i32"
        ));
        self.numbers.push(name);
    }

    fn statements(&mut self, random: &mut Random, count: usize, depth: usize) {
        for _ in 0..count {
            match random.weighted(&[25, 30, 8, 8, 14, if depth < 2 { 8 } else { 0 }, 8]) {
                0 => drop(self.compute(random)),
                1 => self.access(random),
                2 => self.cell(random),
                3 => self.call(random),
                4 => self.choice(random),
                5 => self.repetition(random, depth),
                _ if depth < 2 => self.conditional(random, depth),
                _ => self.access(random),
            }
        }
    }

    /// Writes lines into a region. What they define is known there alone.
    fn region(&mut self, write: impl FnOnce(&mut Writer)) {
        let known = (self.numbers.len(), self.conditions.len(), self.cells.len());
        self.indent += 2;
        write(self);
        self.indent -= 2;
        self.numbers.truncate(known.0);
        self.conditions.truncate(known.1);
        self.cells.truncate(known.2);
    }

    /// A conditional that only computes.
    fn choice(&mut self, random: &mut Random) {
        let (condition, name) = (self.condition(random), self.name());
        self.line(&format!("{name} = scf.if {condition} -> (i32) {{"));
        for side in 0..2 {
            self.region(|own| {
                let value = if random.chance(70) { own.compute(random) } else { own.number(random) };
                own.line(&format!("scf.yield {value} : i32"));
            });
            self.line(if side == 0 { "} else {" } else { "}" });
        }
        self.numbers.push(name);
    }

    fn conditional(&mut self, random: &mut Random, depth: usize) {
        let condition = self.condition(random);
        self.line(&format!("scf.if {condition} {{"));
        self.region(|own| own.statements(random, 3, depth + 1));
        self.line("}");
    }

    fn repetition(&mut self, random: &mut Random, depth: usize) {
        let (name, counter, carried) = (self.name(), self.name(), self.name());
        let (first, last, init) = (random.below(2), 1 + random.below(4), self.number(random));
        self.line(&format!(
            "{name} = scf.for {counter} = %i{first} to %i{last} step %i1 iter_args({carried} = {init}) -> (i32) {{"
        ));
        self.region(|own| {
            own.numbers.push(carried);
            own.statements(random, 4, depth + 1);
            let value = own.number(random);
            own.line(&format!("scf.yield {value} : i32"));
        });
        self.line("}");
        self.numbers.push(name);
    }
}

/// Returns the type of memory for a number of numbers; zero means one without a dimension.
fn cell_type(size: usize) -> String {
    if size == 0 { "memref<i32>".to_owned() } else { format!("memref<{size}xi32>") }
}

fn at(size: usize, index: usize) -> String {
    if size == 0 { String::new() } else { format!("%i{index}") }
}
