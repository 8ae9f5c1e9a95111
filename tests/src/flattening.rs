//! Random nests of two loops of graphs before and after flattening.
//!
//! Both loops are tested at their ends. Counters have 8 to 64 bits, so that the number of all
//! iterations may not fit. A guard may leave the inner loop out. Values are functions of the number
//! of the iteration, are carried through both loops, or depend on one counter alone. Some come back
//! to the outer loop an iteration late. All nests are executed before and after; forms and analyses
//! are checked.

use std::fmt::Write;

use loomir::dialects::interp::Limits;

use crate::behaviour::{Input, same_behaviour};
use crate::check::Checker;
use crate::random::Random;
use crate::unrolling::memory;

/// The numbers of functions and of their changes.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Functions.
    pub cases: u64,
    /// Functions whose nest was flattened.
    pub flattened: u64,
    /// Functions among them whose nest was kept beside.
    pub kept: u64,
    /// Defined calls that were compared.
    pub compared: usize,
    /// Calls that are not.
    pub skipped: usize,
}

/// Options of the pass. Each function is transformed with one of them.
const OPTIONS: &[&str] = &[
    "",
    "divide=true",
    "loop-flatten-widen-iv=false",
    "loop-flatten-widen-iv=false divide=true",
    "loop-flatten-widen-iv=false loop-flatten-version-loops=false",
    "loop-flatten-version-loops=false loop-flatten-cost-threshold=0",
];

/// Transforms the functions of these numbers, and compares.
///
/// # Errors
/// The first function that behaves differently afterwards, with both texts.
pub fn run(seed: u64, (first, count): (u64, u64), tally: &mut Tally) -> Result<(), String> {
    let checker = Checker::default();
    let said = |errors: loomir::ir::Diagnostics| checker.lines(&errors);
    for index in first..first + count {
        let mut random = Random::of_case(seed, index);
        let pipeline = format!("builtin.module(llvm.func(loop-flatten{{{}}}))", random.pick(OPTIONS));
        let (text, calls) = function(&mut random);
        let context = |error: String| format!("case {index}: {pipeline}: {error}\n{text}");
        let before = loomir::lowering::from_ll(&checker.ctx, &text, "f.ll").map_err(said).map_err(context)?;
        let mut after = before.duplicate();
        let remarks = checker.run(&pipeline, &mut after).map_err(said).map_err(context)?;
        let limits = Limits { steps: 40_000, ..Limits::default() };
        let agreement = same_behaviour(&before, &after, "kernel", &calls, &limits);
        let agreement = agreement.map_err(|error| context(format!("{error}\n{}", loomir::print(&after))))?;
        let remarks = checker.lines(&remarks);
        tally.cases += 1;
        tally.flattened += u64::from(remarks.contains("Loops flattened"));
        tally.kept += u64::from(remarks.contains("kept beside"));
        tally.compared += agreement.compared;
        tally.skipped += agreement.skipped;
    }
    Ok(())
}

/// The number of elements of the array.
const LENGTH: i64 = 256;

/// A nest to write.
struct Nest<'r> {
    random: &'r mut Random,
    text: String,
    names: usize,
    /// The number of bits of the counters.
    width: u32,
}

/// Returns a function `@kernel(iN %n, iN %m) -> i64`, and calls.
fn function(random: &mut Random) -> (String, Vec<Input>) {
    let width = *random.pick(&[8, 8, 16, 32, 64]);
    let mut nest = Nest { random, text: String::new(), names: 0, width };
    nest.write();
    let text = nest.text;
    let text = format!(
        "define i64 @kernel(i{width} %n, i{width} %m) mustprogress {{\nentry:\n  \
         %a = alloca [{LENGTH} x i64]\n  call void @fill(ptr %a)\n{text}exit:\n  \
         %out = phi i64 [ %left, %latch ]\n  %hash = call i64 @hash(ptr %a)\n  \
         %all = add i64 %hash, %out\n  ret i64 %all\n}}\n{}",
        memory(LENGTH)
    );
    let mut calls = Vec::new();
    for _ in 0..10 {
        let mut count = || {
            let least = i64::from(random.chance(80));
            random.range(least, 20).to_string()
        };
        calls.push(vec![count(), count()]);
    }
    (text, calls)
}

impl Nest<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    /// Writes an operation and returns the name of its result.
    fn op(&mut self, op: &str) -> String {
        self.names += 1;
        let name = format!("%t{}", self.names);
        self.line(&format!("{name} = {op}"));
        name
    }

    fn flags(&mut self) -> &'static str {
        self.random.pick::<&'static str>(&["", "", "nsw ", "nuw ", "nuw nsw "])
    }

    fn bound(&mut self, name: &str) -> String {
        if self.random.chance(60) { name.to_owned() } else { self.random.range(1, 19).to_string() }
    }

    fn write(&mut self) {
        let w = self.width;
        let [n, m] = ["%n", "%m"].map(|name| self.bound(name));
        let is_guarded = self.random.chance(35);
        let carries_pointer = self.random.chance(25);
        let is_late = self.random.chance(15);
        let guard = is_guarded.then(|| {
            let predicate = *self.random.pick(&["ne", "ugt", "sgt"]);
            self.op(&format!("icmp {predicate} i{w} {m}, 0"))
        });
        self.line("br label %outer");
        let _ = writeln!(self.text, "outer:");
        self.line(&format!("%i = phi i{w} [ 0, %entry ], [ %i.next, %latch ]"));
        let back = if is_late { "%late" } else { "%left" };
        self.line(&format!("%s = phi i64 [ 1, %entry ], [ {back}, %latch ]"));
        if is_late {
            self.line("%late = phi i64 [ 2, %entry ], [ %left, %latch ]");
        }
        if carries_pointer {
            self.line("%p = phi ptr [ %a, %entry ], [ %p.left, %latch ]");
        }
        let product = format!("mul {}i{w} %i, {m}", self.flags());
        let row = self.op(&product);
        // A row begins elsewhere now and then.
        let row = match self.random.chance(12) {
            true => self.op(&format!("add i{w} {row}, %i")),
            false => row,
        };
        match &guard {
            Some(guard) => self.line(&format!("br i1 {guard}, label %before, label %latch")),
            None => self.line("br label %before"),
        }
        let _ = writeln!(self.text, "before:\n  br label %inner\ninner:");
        self.line(&format!("%j = phi i{w} [ 0, %before ], [ %j.next, %inner ]"));
        self.line("%t = phi i64 [ %s, %before ], [ %t.next, %inner ]");
        if carries_pointer {
            self.line("%q = phi ptr [ %p, %before ], [ %q.next, %inner ]");
        }
        self.body(&row, carries_pointer);
        let step = format!("add {}i{w} %j, 1", self.flags());
        self.line(&format!("%j.next = {step}"));
        let (predicate, more) = self.test();
        self.line(&format!("%j.c = icmp {predicate} i{w} %j.next, {m}"));
        self.line(&format!("br i1 %j.c, {}", ways(more, "inner", "behind")));
        let _ = writeln!(self.text, "behind:\n  %t.out = phi i64 [ %t.next, %inner ]");
        if carries_pointer {
            self.line("%q.out = phi ptr [ %q.next, %inner ]");
        }
        self.line("br label %latch");
        let _ = writeln!(self.text, "latch:");
        let skipped = |start: &str| if is_guarded { format!(", [ {start}, %outer ]") } else { String::new() };
        self.line(&format!("%left = phi i64 [ %t.out, %behind ]{}", skipped("%s")));
        if carries_pointer {
            self.line(&format!("%p.left = phi ptr [ %q.out, %behind ]{}", skipped("%p")));
        }
        let step = format!("add {}i{w} %i, 1", self.flags());
        self.line(&format!("%i.next = {step}"));
        let (predicate, more) = self.test();
        self.line(&format!("%i.c = icmp {predicate} i{w} %i.next, {n}"));
        self.line(&format!("br i1 %i.c, {}", ways(more, "outer", "exit")));
    }

    /// Returns the predicate of a test at the end of a loop, and true if the loop goes on then.
    fn test(&mut self) -> (&'static str, bool) {
        *self.random.pick(&[("ne", true), ("ult", true), ("slt", true), ("eq", false), ("uge", false)])
    }

    /// Writes the body of the inner loop.
    fn body(&mut self, row: &str, carries_pointer: bool) {
        let w = self.width;
        let mut value = "%t".to_owned();
        if carries_pointer {
            let before = self.op("load i64, ptr %q");
            value = self.op(&format!("add i64 {value}, {before}"));
            self.line(&format!("store i64 {value}, ptr %q"));
            self.line("%q.next = getelementptr i64, ptr %q, i64 1");
        }
        for _ in 0..1 + self.random.below(2) {
            let sum = format!("add {}i{w} {row}, %j", self.flags());
            let index = match self.random.below(12) {
                0 => "%i".to_owned(),
                1 => "%j".to_owned(),
                2 => self.op(&format!("add i{w} %j, {row}")),
                _ => self.op(&sum),
            };
            let index = match self.random.below(4) {
                0 => self.op(&format!("mul i{w} {index}, 3")),
                1 => self.op(&format!("sub i{w} 7, {index}")),
                _ => index,
            };
            let extension = *self.random.pick(&["zext", "sext"]);
            let wide = match w {
                64 => index,
                _ => self.op(&format!("{extension} i{w} {index} to i64")),
            };
            let place = self.op(&format!("and i64 {wide}, {}", LENGTH - 1));
            let address = self.op(&format!("getelementptr inbounds i64, ptr %a, i64 {place}"));
            let loaded = self.op(&format!("load i64, ptr {address}"));
            value = self.op(&format!("add i64 {value}, {loaded}"));
            if self.random.chance(60) {
                let stored = if self.random.chance(50) { &value } else { &wide };
                self.line(&format!("store i64 {stored}, ptr {address}"));
            }
        }
        self.line(&format!("%t.next = add i64 {value}, 3"));
    }
}

/// Returns the targets of a branch that goes on if its condition is `more`.
fn ways(more: bool, on: &str, out: &str) -> String {
    match more {
        true => format!("label %{on}, label %{out}"),
        false => format!("label %{out}, label %{on}"),
    }
}
