//! Random functions of neighbouring loops as LLVM IR, for fusion of control flow graphs.
//!
//! Two to four loops stand behind each other, tested at their end; some behind guards, some with code between, some with a loop inside. They count to numbers or to `%n`, up or from somewhere, and touch three
//! arrays of bytes with elements of 8 to 64 bits: in order, backwards, ahead, every second one, one again and again. Some hand out sums. Two of the arrays may be one.

use std::fmt::Write;

use crate::random::Random;

/// How many bytes each array has.
pub const BYTES: usize = 256;

/// A function `@kernel(i64 %n, ptr %a, ptr %b, ptr %c)` that returns a number. It is defined for `%n` up to 6 and arrays of [`BYTES`] bytes.
pub fn neighbours(random: &mut Random) -> String {
    let mut writer = Writer { random, out: String::new(), next: 0, handed: Vec::new() };
    writer.function();
    writer.out
}

struct Writer<'r> {
    random: &'r mut Random,
    out: String,
    next: usize,
    /// Values that loops have handed out, as far as they are there at the end.
    handed: Vec<String>,
}

/// How often loops of a function run, most of them.
#[derive(Clone, Copy)]
enum Trip {
    Number(usize),
    /// `%n` times, none if that is not positive.
    Parameter,
}

impl Writer<'_> {
    fn fresh(&mut self, name: &str) -> String {
        self.next += 1;
        format!("{name}{}", self.next)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "  {text}");
    }

    fn one_in(&mut self, of: usize) -> bool {
        self.random.below(of) == 0
    }

    fn function(&mut self) {
        let noalias = if self.one_in(4) { "" } else { "noalias " };
        let _ = writeln!(
            self.out,
            "define i64 @kernel(i64 %n, ptr {noalias}%a, ptr {noalias}%b, ptr %c) {{\nentry:"
        );
        let common = if self.one_in(2) { Trip::Parameter } else { Trip::Number(1 + self.random.below(5)) };
        let loops = 2 + self.random.below(3);
        for _ in 0..loops {
            let trip = if self.one_in(6) { Trip::Number(1 + self.random.below(5)) } else { common };
            self.neighbour(trip);
            if self.one_in(4) {
                self.between();
            }
        }
        let handed = std::mem::take(&mut self.handed);
        let mut sum = "0".to_owned();
        for value in handed {
            let next = self.fresh("%sum");
            self.line(&format!("{next} = add i64 {sum}, {value}"));
            sum = next;
        }
        self.line(&format!("ret i64 {sum}"));
        self.out.push_str("}\n");
    }

    /// Straight code.
    fn between(&mut self) {
        match self.random.below(3) {
            0 => {
                let value = self.fresh("%x");
                self.line(&format!("{value} = add i64 %n, 3"));
                self.handed.push(value);
            }
            1 => {
                let index = self.random.below(8).to_string();
                let value = self.load("i32", &index);
                self.handed.push(value);
            }
            _ => {
                let index = self.random.below(8).to_string();
                self.store("i32", &index, "7");
            }
        }
    }

    fn neighbour(&mut self, trip: Trip) {
        let label = self.fresh("l");
        let guarded = matches!(trip, Trip::Parameter);
        let hands_out = self.one_in(3);
        let count = match trip {
            Trip::Number(number) => number.to_string(),
            Trip::Parameter => "%n".to_owned(),
        };
        if guarded {
            let guard = self.fresh("%g");
            self.line(&format!("{guard} = icmp sgt i64 %n, 0"));
            self.line(&format!("br i1 {guard}, label %{label}.ph, label %{label}.end"));
        } else {
            self.line(&format!("br label %{label}.ph"));
        }
        // What skips the loop comes from a block of its own name.
        let skips = format!("{label}.skip");
        if guarded {
            let last = self.out.rfind(&format!("label %{label}.end")).unwrap_or_default();
            self.out.replace_range(last.., &format!("label %{skips}\n"));
            let _ = writeln!(self.out, "{skips}:\n  br label %{label}.end");
        }
        let start = usize::from(self.one_in(5));
        let _ = writeln!(self.out, "{label}.ph:\n  br label %{label}.h\n{label}.h:");
        let inner = self.one_in(6);
        let latch = if inner { format!("{label}.t") } else { format!("{label}.h") };
        self.line(&format!("%{label}.i = phi i64 [ {start}, %{label}.ph ], [ %{label}.n, %{latch} ]"));
        if hands_out {
            self.line(&format!("%{label}.s = phi i64 [ 1, %{label}.ph ], [ %{label}.u, %{latch} ]"));
        }
        let variable = format!("%{label}.i");
        let last = self.statements(&variable);
        if inner {
            let _ = writeln!(self.out, "  br label %{label}.q\n{label}.q:");
            self.line(&format!("%{label}.j = phi i64 [ 0, %{label}.h ], [ %{label}.k, %{label}.q ]"));
            self.statements(&format!("%{label}.j"));
            self.line(&format!("%{label}.k = add nsw i64 %{label}.j, 1"));
            self.line(&format!("%{label}.w = icmp slt i64 %{label}.k, 3"));
            self.line(&format!("br i1 %{label}.w, label %{label}.q, label %{label}.t"));
            let _ = writeln!(self.out, "{label}.t:");
        }
        if hands_out {
            self.line(&format!("%{label}.u = add i64 %{label}.s, {last}"));
        }
        self.line(&format!("%{label}.n = add nsw i64 %{label}.i, 1"));
        let bound = match trip {
            Trip::Number(number) => (number + start).to_string(),
            Trip::Parameter if start == 1 => {
                self.line(&format!("%{label}.b = add nsw i64 %n, 1"));
                format!("%{label}.b")
            }
            Trip::Parameter => count,
        };
        self.line(&format!("%{label}.c = icmp slt i64 %{label}.n, {bound}"));
        let out = format!("{label}.x");
        self.line(&format!("br i1 %{label}.c, label %{label}.h, label %{out}"));
        let _ = writeln!(self.out, "{out}:\n  br label %{label}.end\n{label}.end:");
        if hands_out && guarded {
            self.line(&format!("%{label}.r = phi i64 [ 5, %{skips} ], [ %{label}.u, %{out} ]"));
            self.handed.push(format!("%{label}.r"));
        } else if hands_out {
            self.line(&format!("%{label}.r = phi i64 [ %{label}.u, %{out} ]"));
            self.handed.push(format!("%{label}.r"));
        }
    }

    /// Statements of an iteration; a value of the last.
    fn statements(&mut self, variable: &str) -> String {
        let mut last = variable.to_owned();
        for _ in 0..1 + self.random.below(3) {
            let ty = ["i8", "i16", "i32", "i32", "i32", "i64"][self.random.below(6)];
            let index = self.index(variable);
            if self.one_in(2) {
                last = self.load(ty, &index);
            } else {
                let value = last.clone();
                self.store(ty, &index, &value);
            }
        }
        last
    }

    /// A subscript from 0 to 15.
    fn index(&mut self, variable: &str) -> String {
        let value = self.fresh("%e");
        let text = match self.random.below(10) {
            0..=4 => return variable.to_owned(),
            5 => format!("add nsw i64 {variable}, {}", 1 + self.random.below(3)),
            6 => format!("sub nsw i64 10, {variable}"),
            7 => format!("mul nsw i64 {variable}, 2"),
            8 => format!("and i64 {variable}, 1"),
            _ => return self.random.below(4).to_string(),
        };
        self.line(&format!("{value} = {text}"));
        value
    }

    fn place(&mut self, ty: &str, index: &str) -> String {
        let place = self.fresh("%p");
        let array = ["%a", "%a", "%b", "%c"][self.random.below(4)];
        self.line(&format!("{place} = getelementptr inbounds {ty}, ptr {array}, i64 {index}"));
        place
    }

    /// A loaded number, as one of 64 bits.
    fn load(&mut self, ty: &str, index: &str) -> String {
        let place = self.place(ty, index);
        let value = self.fresh("%v");
        self.line(&format!("{value} = load {ty}, ptr {place}, align 1"));
        if ty == "i64" {
            return value;
        }
        let wide = self.fresh("%w");
        self.line(&format!("{wide} = zext {ty} {value} to i64"));
        wide
    }

    fn store(&mut self, ty: &str, index: &str, value: &str) {
        let place = self.place(ty, index);
        let narrow = match ty {
            "i64" => value.to_owned(),
            _ if value.starts_with('%') => {
                let narrow = self.fresh("%t");
                self.line(&format!("{narrow} = trunc i64 {value} to {ty}"));
                narrow
            }
            _ => value.to_owned(),
        };
        self.line(&format!("store {ty} {narrow}, ptr {place}, align 1"));
    }
}
