//! Random loops of graphs before and after unrolling and peeling.
//!
//! A quarter of the functions are nests for unroll-and-jam. A quarter are loops that count: over
//! integers of 8 to 64 bits, with any comparison, step and promise, tested at the end or at the
//! start, with a second exit, values carried over several iterations, conditions that become known,
//! and a loop inside. The other half are random graphs of blocks. Some loops lose their last
//! iterations. All are executed before and after; forms and analyses are checked.

use std::collections::BTreeMap;
use std::fmt::Write;

use loomir::check::proof::ProofOptions;
use loomir::check::simulation;
use loomir::dialects::interp::Limits;
use loomir::ir::Body;
use loomir::ir::symbols::lookup;

use crate::behaviour::{Input, same_behaviour};
use crate::check::Checker;
use crate::graphs;
use crate::mutations::changed;
use crate::neighbours::CALLED;
use crate::random::Random;
use crate::verdicts::unproved;

mod nests;

/// The numbers of functions and of their changes.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Functions.
    pub cases: u64,
    /// Functions with a loop that was peeled.
    pub peeled: u64,
    /// Functions with a loop whose last iterations were peeled.
    pub peeled_last: u64,
    /// Functions with a loop that was unrolled completely.
    pub full: u64,
    /// Functions with a loop that was unrolled by a count, without a remainder.
    pub partial: u64,
    /// Functions with a loop that got a remainder.
    pub runtime: u64,
    /// Functions with a nest that was jammed.
    pub jammed: u64,
    /// Functions with a nest that the judge refuses to jam.
    pub refused: u64,
    /// Defined calls that were compared.
    pub compared: usize,
    /// Calls that are not.
    pub skipped: usize,
    /// Changed functions that the checker was asked about.
    pub asked: u64,
    /// Functions among them that it proves equal.
    pub proved: u64,
    /// For each transformation: the functions that the checker was asked about, and those among
    /// them that it proves equal. A function may be in several.
    pub by_kind: BTreeMap<&'static str, [u64; 2]>,
    /// The reasons for which functions are not proved, with the shape of the function.
    pub reasons: BTreeMap<String, u64>,
    /// Changed functions with one more change, which may be wrong.
    pub mutated: u64,
    /// Functions among them that the checker proves equal. They are executed, too.
    pub mutants_proved: u64,
}

/// The remarks of transformations, with names for the report.
const KINDS: [(&str, &str); 6] = [
    ("peeled loop", "peeled"),
    ("Peeled the", "peeled_last"),
    ("completely unroll", "full"),
    ("with run-time", "runtime"),
    ("unroll and jammed loop", "jammed"),
    ("by a factor", "by_count"),
];

impl Tally {
    /// Counts a function that the checker was asked about, with the reasons if it is not proved.
    fn count(&mut self, remarks: &str, text: &str, reasons: Option<&[String]>) {
        let is_proved = reasons.is_none();
        self.asked += 1;
        self.proved += u64::from(is_proved);
        for (_, kind) in KINDS.iter().filter(|(remark, _)| remarks.contains(remark)) {
            let [asked, proved] = self.by_kind.entry(kind).or_default();
            *asked += 1;
            *proved += u64::from(is_proved);
        }
        if let Some(reasons) = reasons {
            // Each of the three provers gives a reason. The last one runs graphs in step, which
            // jammed nests do not.
            let (shape, prover) = match text {
                _ if text.contains("outer:") => ("nest", 0),
                _ if text.contains("l0.head:") => ("counted loop", 2),
                _ => ("random graph", 2),
            };
            let reason = reasons.get(prover).or(reasons.last()).map_or("", String::as_str);
            *self.reasons.entry(format!("{shape}: {reason}")).or_default() += 1;
        }
    }
}

/// Options of unroll-and-jam.
const JAM_OPTIONS: &[&str] = &[
    "unroll-and-jam-count=2",
    "unroll-and-jam-count=3",
    "unroll-and-jam-count=4",
    "unroll-and-jam-count=5 unroll-remainder=true",
    "unroll-and-jam-count=8",
];

/// Options of the peeling of last iterations.
const PEEL_OPTIONS: &[&str] = &["first=0 last=1", "first=0 last=2", "first=1 last=1", "first=2 last=3"];

/// The maximal number of attempts at a valid change.
const CHANGES_TRIED: usize = 20;

/// The checker is asked about one function in this many, among the first ones.
const CHECKED: u64 = 10;
/// The number of functions among which the checker is asked about some. A proof takes seconds.
const MOST_CHECKED: u64 = 2_000;

/// Options of the pass. Each function is transformed with one of them.
const OPTIONS: &[&str] = &[
    "unroll-threshold=2000",
    "unroll-threshold=2000 unroll-upperbound=true",
    "unroll-count=2 unroll-threshold=9000",
    "unroll-count=3 unroll-threshold=9000",
    "unroll-count=4 unroll-threshold=9000 unroll-runtime-multi-exit=true",
    "unroll-count=5 unroll-threshold=9000 unroll-runtime-epilog=false unroll-runtime-multi-exit=true",
    "unroll-count=2 unroll-threshold=9000 unroll-runtime-epilog=false",
    "unroll-count=8 unroll-threshold=9000 unroll-runtime-epilog=true unroll-runtime-multi-exit=true",
    "unroll-runtime=true unroll-partial-threshold=300",
    "unroll-runtime=true unroll-partial-threshold=900 unroll-remainder=true",
    "unroll-allow-partial=true unroll-threshold=30 unroll-partial-threshold=300",
    "unroll-peel-count=1",
    "unroll-peel-count=2",
    "unroll-peel-count=5",
    "unroll-threshold=400",
    "",
];

/// Transforms the functions of these numbers, and compares.
///
/// # Errors
/// The first function that behaves differently afterwards, with both texts.
pub fn run(seed: u64, (first, count): (u64, u64), tally: &mut Tally) -> Result<(), String> {
    let checker = Checker::default();
    for index in first..first + count {
        let mut random = Random::of_case(seed, index);
        let jams = index % 4 == 2;
        let peels = index % 8 == 4 || index % 16 == 5;
        let pass = match jams {
            _ if peels => format!("loop-peel{{{}}}", random.pick(PEEL_OPTIONS)),
            true => format!("loop-unroll-and-jam{{allow-unroll-and-jam=true {}}}", random.pick(JAM_OPTIONS)),
            false => format!("loop-unroll{{{}}}", random.pick(OPTIONS)),
        };
        let pipeline = format!("builtin.module(llvm.func({pass}))");
        let (text, calls) = match index % 2 {
            0 if jams => nests::function(&mut random),
            0 => counted(&mut random),
            _ => (graphs::function(&mut random, "kernel"), graph_calls()),
        };
        // The place within ten moves on, so that functions of all kinds are asked about.
        let asks = index < MOST_CHECKED && index % CHECKED == index / CHECKED % CHECKED;
        compare(&checker, &pipeline, (&text, &calls, asks), &mut random, tally)
            .map_err(|error| format!("case {index}: {pipeline}: {error}\n{text}"))?;
        tally.cases += 1;
    }
    Ok(())
}

fn compare(
    checker: &Checker,
    pipeline: &str,
    (text, calls, asks): (&str, &[Input], bool),
    random: &mut Random,
    tally: &mut Tally,
) -> Result<(), String> {
    let said = |errors: loomir::ir::Diagnostics| checker.lines(&errors);
    let before = loomir::lowering::from_ll(&checker.ctx, text, "f.ll").map_err(said)?;
    let mut after = before.duplicate();
    let remarks = checker.run(pipeline, &mut after).map_err(said)?;
    let printed = loomir::print(&after);
    let agreement =
        same_behaviour(&before, &after, "kernel", calls, &Limits { steps: 20_000, ..Limits::default() });
    let agreement = agreement.map_err(|error| format!("{error}\n{printed}"))?;
    let remarks = checker.lines(&remarks);
    let has = |what: &str| u64::from(remarks.contains(what));
    let with_remainder = remarks.lines().filter(|line| line.contains("with run-time")).count();
    let by_count = remarks.lines().filter(|line| line.contains("by a factor")).count();
    tally.peeled += has("peeled loop");
    tally.peeled_last += has("Peeled the");
    tally.full += has("completely unrolled");
    tally.runtime += u64::from(with_remainder > 0);
    tally.partial += u64::from(by_count > with_remainder);
    tally.jammed += has("unroll and jammed loop");
    tally.refused += has("InvalidDependencies");
    tally.compared += agreement.compared;
    tally.skipped += agreement.skipped;
    if asks && (by_count > 0 || has("peeled loop") + has("Peeled the") + has("completely unroll") > 0) {
        let reasons = unproved([&before, &after], "kernel", ProofOptions::default())?;
        tally.count(&remarks, text, reasons.first().map(Vec::as_slice));
        mutate(checker, (&before, &after), calls, random, tally)?;
    }
    Ok(())
}

/// Asks the prover about a function with one more change, and executes it if it is proved equal.
fn mutate(
    checker: &Checker,
    (before, after): (&Body, &Body),
    calls: &[Input],
    random: &mut Random,
    tally: &mut Tally,
) -> Result<(), String> {
    // Both are read from texts, so that equal operations have equal attributes.
    let Ok(before) = &checker.read(&loomir::print(before)) else { return Ok(()) };
    let printed = loomir::print(after);
    let changes = (0..CHANGES_TRIED).filter_map(|_| changed(&printed, random));
    let read = |text: String| checker.read(&text).ok().filter(|body| loomir::print(body) != printed);
    let Some(mutant) = changes.filter(|text| *text != printed).find_map(read) else { return Ok(()) };
    let places = [before, &mutant].map(|module| lookup(module, "kernel"));
    let [Some(one), Some(other)] = places else { return Ok(()) };
    tally.mutated += 1;
    if !simulation::prove(before, one, &mutant, other).is_equal() {
        return Ok(());
    }
    tally.mutants_proved += 1;
    // Functions that are called may have been changed. The proof takes them to be equal.
    let has_own_callees = CALLEES.iter().any(|name| text_of(before, name) != text_of(&mutant, name));
    if has_own_callees {
        return Ok(());
    }
    let limits = Limits { steps: 20_000, ..Limits::default() };
    let agreement = same_behaviour(before, &mutant, "kernel", calls, &limits);
    agreement.map_err(|error| format!("proved, but {error}\n{}", loomir::print(&mutant)))?;
    Ok(())
}

/// Functions that the kernels call.
const CALLEES: [&str; 4] = ["fill", "hash", "ends_at", "mixed"];

fn text_of(module: &Body, name: &str) -> Option<String> {
    let op = lookup(module, name)?;
    Some(module.nested(op).map_or_else(String::new, loomir::print))
}

pub(crate) fn graph_calls() -> Vec<Input> {
    ["0", "1", "77", "-5", "123456"].iter().map(|number| vec![(*number).to_owned()]).collect()
}

/// Comparisons of a counter.
const PREDICATES: [&str; 10] = ["slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge", "ne", "eq"];

/// A loop to write.
struct Loop<'r> {
    random: &'r mut Random,
    width: i64,
    text: String,
    /// The number of names made.
    names: usize,
}

/// Returns a function `@kernel(iN %n, iN %m, i1 %g) -> i64` with a counted loop or a nest of two,
/// and calls.
pub(crate) fn counted(random: &mut Random) -> (String, Vec<Input>) {
    let width = *random.pick(&[8, 8, 16, 32, 64]);
    let mut writer = Loop { random, width, text: String::new(), names: 0 };
    let nested = writer.random.chance(30);
    let sum = writer.nest(usize::from(nested), "entry", "end", "0");
    let body = writer.text;
    let mut text = format!(
        "{CALLED}\ndefine i64 @kernel(i{width} %n, i{width} %m, i1 %g){} {{\nentry:\n  %a = alloca [16 x i64]\n  \
         call void @fill(ptr %a)\n  br label %l0.pre\n{body}end:\n  %hash = call i64 @hash(ptr %a)\n  \
         %all = add i64 %hash, {sum}\n  ret i64 %all\n}}\n",
        if random.chance(50) { " mustprogress" } else { "" }
    );
    text.push_str(&memory(16));
    let mut calls = Vec::new();
    for _ in 0..12 {
        let n = match random.below(3) {
            0 => random.range(-128, 127),
            _ => random.range(-2, 20),
        };
        let m = random.range(-3, 12);
        let g = random.chance(50);
        calls.push(vec![n.to_string(), m.to_string(), g.to_string()]);
    }
    (text, calls)
}

/// Returns functions that write and read an array of `length` elements.
pub(crate) fn memory(length: i64) -> String {
    MEMORY.replace("LENGTH", &length.to_string())
}

/// Functions that write and read the array.
const MEMORY: &str = "
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)
define void @fill(ptr %a) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %p = getelementptr i64, ptr %a, i64 %i
  %v = mul i64 %i, 37
  store i64 %v, ptr %p
  %j = add i64 %i, 1
  %c = icmp ult i64 %j, LENGTH
  br i1 %c, label %loop, label %end
end:
  ret void
}
define i64 @hash(ptr %a) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %loop ]
  %s = phi i64 [ 0, %entry ], [ %t, %loop ]
  %p = getelementptr i64, ptr %a, i64 %i
  %v = load i64, ptr %p
  %u = mul i64 %s, 31
  %t = add i64 %u, %v
  %j = add i64 %i, 1
  %c = icmp ult i64 %j, LENGTH
  br i1 %c, label %loop, label %end
end:
  ret i64 %t
}
";

impl Loop<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("%t{}", self.names)
    }

    fn flags(&mut self) -> &'static str {
        self.random.pick::<&'static str>(&["", "", "", "nsw ", "nuw ", "nuw nsw "])
    }

    /// Writes a loop, whose preheader block is `%l{depth}.pre`, with `inner` loops inside. It ends
    /// at the block `next`. Returns the value that leaves it.
    fn nest(&mut self, inner: usize, before: &str, next: &str, start: &str) -> String {
        let l = format!("l{inner}");
        let l = if inner == 0 && before != "entry" { "in".to_owned() } else { l.replace("l1", "l0") };
        let width = self.width;
        let begin = match self.random.below(4) {
            0 => "%m".to_owned(),
            1 => self.random.range(-3, 9).to_string(),
            _ => "0".to_owned(),
        };
        let step = *self.random.pick(&[1, 1, 1, 1, -1, 2, 3, -2]);
        let bound = match self.random.below(5) {
            0..=2 => "%n".to_owned(),
            3 => self.random.range(0, 20).to_string(),
            _ => "%m".to_owned(),
        };
        let usual = if step > 0 { ["slt", "ult", "ne"] } else { ["sgt", "ugt", "ne"] };
        let predicate = match self.random.chance(70) {
            true => *self.random.pick(&usual),
            false => *self.random.pick(&PREDICATES),
        };
        let at_end = self.random.chance(70);
        let _ = writeln!(self.text, "{l}.pre:\n  br label %{l}.head\n{l}.head:");
        let latch = format!("{l}.latch");
        self.line(&format!("%{l}.i = phi i{width} [ {begin}, %{l}.pre ], [ %{l}.next, %{latch} ]"));
        self.line(&format!("%{l}.s = phi i64 [ {start}, %{l}.pre ], [ %{l}.sum, %{latch} ]"));
        let delays = self.random.below(4);
        for delay in 0..delays {
            let from = if delay == 0 { "7".to_owned() } else { format!("%{l}.d{}", delay - 1) };
            self.line(&format!("%{l}.d{delay} = phi i64 [ 1, %{l}.pre ], [ {from}, %{latch} ]"));
        }
        let exits = format!("{l}.exit");
        if !at_end {
            self.line(&format!("%{l}.c = icmp {predicate} i{width} %{l}.i, {bound}"));
            self.branch(&l, &format!("{l}.body"), &exits);
        } else {
            self.line(&format!("br label %{l}.body"));
        }
        let _ = writeln!(self.text, "{l}.body:");
        let mut value = format!("%{l}.s");
        for _ in 0..1 + self.random.below(3) {
            value = self.statement(&l, &value, delays);
        }
        let second = self.random.chance(25);
        let leaves_early = second.then(|| {
            let condition = self.name();
            let other = self.random.range(0, 12);
            let predicate = *self.random.pick(&PREDICATES);
            self.line(&format!("{condition} = icmp {predicate} i{width} %{l}.i, {other}"));
            let target = if self.random.chance(60) { exits.clone() } else { format!("{l}.other") };
            self.line(&format!("br i1 {condition}, label %{target}, label %{l}.more"));
            let _ = writeln!(self.text, "{l}.more:");
            (target, value.clone())
        });
        if inner > 0 {
            self.line("br label %in.pre");
            value = self.nest(0, "l0", &format!("{l}.after"), &value);
            let _ = writeln!(self.text, "{l}.after:");
        }
        self.line(&format!("br label %{latch}"));
        let _ = writeln!(self.text, "{latch}:");
        self.line(&format!("%{l}.sum = add i64 {value}, 3"));
        let flags = self.flags();
        self.line(&format!("%{l}.next = add {flags}i{width} %{l}.i, {step}"));
        if at_end {
            let compared = if self.random.chance(70) { "next" } else { "i" };
            self.line(&format!("%{l}.c = icmp {predicate} i{width} %{l}.{compared}, {bound}"));
            self.branch(&l, &format!("{l}.head"), &exits);
        } else {
            self.line(&format!("br label %{l}.head"));
        }
        self.leave(&l, (at_end, &latch), leaves_early, next);
        format!("%{l}.out")
    }

    /// Writes the exits of a loop, which meet and lead to the block `next`. A second exit has a
    /// target and a value.
    fn leave(&mut self, l: &str, (at_end, latch): (bool, &str), early: Option<(String, String)>, next: &str) {
        let exits = format!("{l}.exit");
        let early_block = format!("{l}.body");
        if let Some((target, value)) = &early
            && *target != exits
        {
            let _ = writeln!(self.text, "{target}:");
            self.line(&format!("%{l}.early = add i64 {value}, 1000"));
            self.line(&format!("br label %{exits}"));
        }
        let _ = writeln!(self.text, "{exits}:");
        let (last, from) = if at_end {
            (format!("%{l}.sum"), latch.to_owned())
        } else {
            (format!("%{l}.s"), format!("{l}.head"))
        };
        let mut incoming = format!("[ {last}, %{from} ]");
        if let Some((target, value)) = &early {
            let (value, from) = match *target == exits {
                true => (value.clone(), self.block_of(&early_block)),
                false => (format!("%{l}.early"), target.clone()),
            };
            let _ = write!(incoming, ", [ {value}, %{from} ]");
        }
        self.line(&format!("%{l}.out = phi i64 {incoming}"));
        self.line(&format!("br label %{next}"));
    }

    /// Writes the branch of a loop's test: as it is, or inverted.
    fn branch(&mut self, l: &str, stays: &str, leaves: &str) {
        if self.random.chance(50) {
            self.line(&format!("br i1 %{l}.c, label %{stays}, label %{leaves}"));
        } else {
            self.line(&format!("%{l}.not = xor i1 %{l}.c, true"));
            self.line(&format!("br i1 %{l}.not, label %{leaves}, label %{stays}"));
        }
    }

    /// Returns the last block that statements of a body opened.
    fn block_of(&self, body: &str) -> String {
        let prefix = format!("{}.join", body.trim_end_matches(".body"));
        let more = format!("{}.more:", body.trim_end_matches(".body"));
        let before = self.text.split(&more).next().unwrap_or_default();
        let joins = before.lines().filter_map(|line| line.strip_suffix(':'));
        joins.rev().find(|label| label.starts_with(&prefix)).unwrap_or(body).to_owned()
    }

    /// Writes a statement of an iteration and returns the new sum.
    fn statement(&mut self, l: &str, sum: &str, delays: usize) -> String {
        let (width, new) = (self.width, self.name());
        let wide = self.name();
        match width {
            64 => self.line(&format!("{wide} = add i64 %{l}.i, 0")),
            _ => self.line(&format!("{wide} = sext i{width} %{l}.i to i64")),
        }
        match self.random.below(7) {
            0 => {
                let (at, pointer, old) = (self.name(), self.name(), self.name());
                self.line(&format!("{at} = and i64 {wide}, 15"));
                self.line(&format!("{pointer} = getelementptr i64, ptr %a, i64 {at}"));
                self.line(&format!("{old} = load i64, ptr {pointer}"));
                self.line(&format!("{new} = add i64 {sum}, {old}"));
                self.line(&format!("store i64 {new}, ptr {pointer}"));
            }
            1 if delays > 0 => {
                let delay = self.random.below(delays);
                let product = self.name();
                self.line(&format!("{product} = mul i64 %{l}.d{delay}, {wide}"));
                self.line(&format!("{new} = add i64 {sum}, {product}"));
            }
            2 => {
                let (condition, chosen) = (self.name(), self.name());
                let predicate = *self.random.pick(&PREDICATES);
                let bound = self.random.range(0, 4);
                self.line(&format!("{condition} = icmp {predicate} i{width} %{l}.i, {bound}"));
                self.line(&format!("{chosen} = select i1 {condition}, i64 5, i64 {wide}"));
                self.line(&format!("{new} = add i64 {sum}, {chosen}"));
            }
            3 => {
                let (condition, k) = (self.name(), self.names);
                let predicate = *self.random.pick(&PREDICATES);
                let bound = self.random.range(0, 4);
                self.line(&format!("{condition} = icmp {predicate} i{width} %{l}.i, {bound}"));
                self.line(&format!("br i1 {condition}, label %{l}.then{k}, label %{l}.else{k}"));
                let _ = writeln!(self.text, "{l}.then{k}:\n  %y{k} = add i64 {sum}, 11");
                let _ = writeln!(self.text, "  br label %{l}.join{k}\n{l}.else{k}:");
                let _ = writeln!(self.text, "  %z{k} = xor i64 {sum}, {wide}\n  br label %{l}.join{k}");
                let _ = writeln!(self.text, "{l}.join{k}:");
                self.line(&format!("{new} = phi i64 [ %y{k}, %{l}.then{k} ], [ %z{k}, %{l}.else{k} ]"));
            }
            4 => {
                let small = self.name();
                let kind = *self.random.pick(&["smin", "smax", "umin", "umax"]);
                let bound = self.random.range(0, 4);
                self.line(&format!("{small} = call i64 @llvm.{kind}.i64(i64 {wide}, i64 {bound})"));
                self.line(&format!("{new} = add i64 {sum}, {small}"));
            }
            5 => {
                let stop = self.random.range(3, 40);
                self.line(&format!("call void @ends_at(i64 {wide}, i64 {stop})"));
                self.line(&format!("{new} = add i64 {sum}, {wide}"));
            }
            _ => {
                let product = self.name();
                self.line(&format!("{product} = mul i64 {sum}, 3"));
                self.line(&format!("{new} = add i64 {product}, {wide}"));
            }
        }
        new
    }
}
