//! Random functions of neighbouring loops as LLVM IR, for fusion of control flow graphs.
//!
//! Two or three loops follow each other, with their exit tests at the end. Some are behind guards
//! of all kinds. Some have code between them that loads, stores, divides or may end the program.
//! Some contain a loop or conditions.
//!
//! They count to numbers or to `%n`, up, down or from somewhere, and sometimes one trip count is
//! larger than the next. They touch three arrays of bytes with elements of 8 to 64 bits: in order,
//! backwards, ahead, every second element, or one again and again. Some accesses are atomic or
//! volatile. The arrays are distinct, or parts of one that may overlap, or chosen by the caller.
//!
//! Some loops have live-out values: sums, final values of counters, loop-invariant values, or
//! values computed from an earlier loop's live-out value.
//!
//! Most of it is in the form that `opt` fuses, and every value has a name.
//!
//! | module | makes |
//! | --- | --- |
//! | `body` | the statements of an iteration |
//! | [`odd`] | loops that compilers seldom see |

use std::fmt::Write;

use loomir::ir::Body;
use loomir::ir::graph::loops::LoopId;
use loomir::ir::symbols::SymbolTable;
use loomir::lowering::cfg::{Analysis, lcssa, loop_rotate, loop_simplify};

use crate::behaviour::Input;
use crate::random::Random;

use body::TYPES;

mod body;
pub mod odd;

/// The number of bytes of each array.
pub const BYTES: usize = 320;

/// The functions that the generated functions call: one without effect, and one that ends the
/// program if its argument says so.
pub const CALLED: &str = "
define i64 @mixed(i64 %x) nounwind willreturn memory(none) {
  %y = mul i64 %x, 2862933555777941757
  %z = lshr i64 %y, 3
  ret i64 %z
}
define void @ends_at(i64 %x, i64 %stop) noinline nounwind memory(inaccessiblemem: write) {
  %is.stop = icmp eq i64 %x, %stop
  br i1 %is.stop, label %then, label %end
then:
  call void @llvm.trap()
  unreachable
end:
  ret void
}
declare void @llvm.trap()
";

/// A function and its calls.
#[derive(Clone, Debug)]
pub struct Neighbours {
    /// `define i64 @name(i64 %n, i64 %m, i64 %k, i1 %g, i1 %h, ptr %a, ptr %b, ptr %c)`.
    pub text: String,
    /// Arguments. For most of them the function is defined.
    pub calls: Vec<Input>,
    /// Many more calls, for cases that these leave undecided.
    pub more: fn() -> Vec<Input>,
}

/// Arguments of calls: bounds, a divisor, a stride, and true for each guard that is passed.
const NUMBERS: [(i64, i64, i64, bool, bool); 8] = [
    (0, 0, 0, false, false),
    (1, 1, 1, true, true),
    (4, 3, 0, true, false),
    (6, 1, 2, false, true),
    (6, 3, 1, true, true),
    (4, 0, 0, true, true),
    (5, 2, 0, false, true),
    (3, -1, 1, true, false),
];

/// Returns a function of this name. It may call the functions in [`CALLED`].
pub fn neighbours(random: &mut Random, name: &str) -> Neighbours {
    neighbours_apart_by(random, name, Between::Anything)
}

/// The code between the loops of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Between {
    /// Most often nothing.
    Anything,
    /// Loads and stores of the first elements of arrays. The next loop uses the loaded values.
    FirstElements,
}

/// Returns a function of this name with this code between its loops.
pub fn neighbours_apart_by(random: &mut Random, name: &str, between: Between) -> Neighbours {
    written(random, name, between, false)
}

/// Returns a function of this name with rare constructs; see [`odd`]. It may call the functions in
/// [`CALLED`] and in [`odd::CALLED`].
pub fn odd_neighbours(random: &mut Random, name: &str) -> Neighbours {
    written(random, name, Between::Anything, true)
}

fn written(random: &mut Random, name: &str, between: Between, is_odd: bool) -> Neighbours {
    let arrays = Arrays::of(random);
    let guard = *random.pick(&GUARDS);
    let types = if is_odd { &odd::TYPES } else { &TYPES };
    let types = [(); 3].map(|()| *random.pick(types));
    let (out, handed, block) = (String::new(), Vec::new(), "entry".to_owned());
    let mut writer = Writer { random, out, next: 0, handed, block, guard, types, between, is_odd };
    writer.function(name, arrays);
    let text = writer.out;
    let may_overlap = matches!(arrays, Arrays::Any);
    let calls = NUMBERS.into_iter().flat_map(|numbers| calls(numbers, may_overlap)).collect();
    Neighbours { text, calls, more: if may_overlap { || more_calls(true) } else { || more_calls(false) } }
}

/// Brings a function into the form in which its loops are fused. Returns its outermost loops in the
/// order of the text.
pub fn in_form(function: &mut Body, symbols: &SymbolTable) -> (Analysis, Vec<LoopId>) {
    let (mut analysis, _) = loop_simplify::loop_simplify(function, symbols, false);
    lcssa::lcssa(function, &analysis);
    loop_rotate::loop_rotate(function, &mut analysis, symbols, 16);
    analysis.settle();
    // The loops are in postorder.
    let loops = analysis.loops().top().iter().rev().copied().collect();
    (analysis, loops)
}

/// Returns calls with these numbers: with distinct arrays, and with overlapping ones if they may
/// overlap.
fn calls((n, m, k, g, h): (i64, i64, i64, bool, bool), may_overlap: bool) -> impl Iterator<Item = Input> {
    let numbers = [n.to_string(), m.to_string(), k.to_string(), g.to_string(), h.to_string()];
    let buffer = format!("iota:memref<{BYTES}xi8>");
    let shared = |by: i64| format!("@5+{by}:memref<{}xi8>", BYTES as i64 - by);
    let apart = [&numbers[..], &vec![buffer.clone(); 3]].concat();
    let overlapping = [&numbers[..], &[buffer.clone(), shared(4 * k.max(0)), shared(n)]].concat();
    std::iter::once(apart).chain(may_overlap.then_some(overlapping))
}

/// Calls with all small numbers.
fn more_calls(may_overlap: bool) -> Vec<Input> {
    let flags = [(false, false), (false, true), (true, false), (true, true)];
    let numbers = [0, 1, 2, 4, 7].into_iter().flat_map(move |n| {
        let others = [-1, 0, 1, 3].into_iter().flat_map(|m| [0, 1, 2].map(|k| (m, k)));
        others.flat_map(move |(m, k)| flags.map(|(g, h)| (n, m, k, g, h)))
    });
    numbers.flat_map(|numbers| calls(numbers, may_overlap)).collect()
}

/// The aliasing of the three arrays.
#[derive(Clone, Copy)]
enum Arrays {
    /// All arrays are distinct.
    Apart,
    /// The first two arrays are distinct.
    TwoApart,
    /// All arrays are parts of the first.
    Parts,
    /// The arrays may overlap.
    Any,
}

impl Arrays {
    fn of(random: &mut Random) -> Arrays {
        [Arrays::Apart, Arrays::TwoApart, Arrays::Parts, Arrays::Any][random.weighted(&[50, 15, 25, 10])]
    }
}

/// The trip count of most loops of a function.
#[derive(Clone, Copy)]
enum Trip {
    Number(usize),
    /// `%n` iterations, none if that is not positive.
    Parameter,
    /// `%n` iterations, one if that is not positive.
    Once,
}

/// The live-out value of a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handed {
    Nothing,
    Sum,
    /// The final value of its counter.
    Counter,
    /// A loop-invariant value.
    Same,
    /// A value that the last iteration computes from another loop's live-out value.
    Other,
}

/// The guard of loops that need none.
#[derive(Clone, Copy)]
enum Guard {
    None,
    /// An argument of the function.
    Argument(&'static str),
    /// The opposite.
    Not(&'static str),
    /// A comparison.
    Compare(&'static str),
}

/// The guards to draw from, repeated by frequency.
const GUARDS: [Guard; 10] = [
    Guard::None,
    Guard::None,
    Guard::None,
    Guard::None,
    Guard::None,
    Guard::Argument("%g"),
    Guard::Argument("%h"),
    Guard::Not("%g"),
    Guard::Compare("sgt i64 %m, 0"),
    Guard::Compare("ne i64 %k, 1"),
];

struct Writer<'r> {
    random: &'r mut Random,
    out: String,
    next: usize,
    /// The live-out values of loops that are available here.
    handed: Vec<String>,
    /// The current block.
    block: String,
    /// The guard of most loops with a given trip count.
    guard: Guard,
    /// The types of the elements of the arrays.
    types: [&'static str; 3],
    /// The code between the loops.
    between: Between,
    /// True if the function has rare constructs.
    is_odd: bool,
}

impl Writer<'_> {
    fn fresh(&mut self, name: &str) -> String {
        self.next += 1;
        format!("{name}{}", self.next)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "  {text}");
    }

    fn start_block(&mut self, label: &str) {
        let _ = writeln!(self.out, "{label}:");
        self.block = label.to_owned();
    }

    fn one_in(&mut self, of: usize) -> bool {
        self.random.below(of) == 0
    }

    fn function(&mut self, name: &str, arrays: Arrays) {
        let parameters = match arrays {
            Arrays::Apart => "ptr noalias %a, ptr noalias %b, ptr noalias %c",
            Arrays::TwoApart => "ptr noalias %a, ptr noalias %b, ptr %c",
            Arrays::Parts => "ptr noalias %a, ptr %whole.b, ptr %whole.c",
            Arrays::Any => "ptr %a, ptr %b, ptr %c",
        };
        let _ = writeln!(
            self.out,
            "define i64 @{name}(i64 %n, i64 %m, i64 %k, i1 %g, i1 %h, {parameters}) {{\nentry:"
        );
        if matches!(arrays, Arrays::Parts) {
            for part in ["b", "c"] {
                let by = *self.random.pick(&["0", "2", "4", "8", "16", "32", "64", "128", "144", "%k"]);
                self.line(&format!("%{part} = getelementptr inbounds i8, ptr %a, i64 {by}"));
            }
        }
        let common = match self.random.below(8) {
            0..=3 => Trip::Number(1 + self.random.below(5)),
            7 => Trip::Once,
            _ => Trip::Parameter,
        };
        let loops = 2 + usize::from(self.one_in(3));
        for index in 0..loops {
            let trip = match (self.random.below(10), common) {
                (0, _) => Trip::Number(1 + self.random.below(5)),
                // One that is peeled.
                (1, Trip::Number(number)) if index == 0 => Trip::Number(number + 1 + self.random.below(3)),
                _ => common,
            };
            self.neighbour(trip);
        }
        let mut sum = "0".to_owned();
        for value in std::mem::take(&mut self.handed) {
            let next = self.fresh("%sum");
            self.line(&format!("{next} = add i64 {sum}, {value}"));
            sum = next;
        }
        self.line(&format!("ret i64 {sum}"));
        self.out.push_str("}\n");
    }

    /// Writes straight-line code with probability one in `of`.
    fn between(&mut self, of: usize) {
        if self.between == Between::FirstElements {
            return self.first_elements();
        }
        if !self.one_in(of) {
            return;
        }
        if self.is_odd && self.one_in(3) {
            let value = self.odd_between();
            return self.handed.push(value);
        }
        let index = self.random.below(8).to_string();
        let value = match self.random.weighted(&[30, 25, 25, 10, 5]) {
            0 => {
                let value = self.fresh("%x");
                self.line(&format!("{value} = add i64 %n, 3"));
                value
            }
            1 => self.load(&index),
            2 => return self.store(&index, "7"),
            3 => {
                let value = self.fresh("%x");
                self.line(&format!("{value} = sdiv i64 60, %m"));
                value
            }
            _ => return self.line("call void @ends_at(i64 %n, i64 %k)"),
        };
        // Some of these values are used only by later code on the same path.
        self.handed.push(value);
    }

    /// Writes loads and stores of first elements.
    fn first_elements(&mut self) {
        for _ in 0..1 + self.random.below(3) {
            let index = ["0", "1", "2"][self.random.weighted(&[70, 24, 6])];
            let last = self.handed.last().cloned().unwrap_or("7".to_owned());
            match self.random.weighted(&[35, 15, 50]) {
                0 => self.store(index, &last),
                1 => {
                    let value = self.fresh("%x");
                    self.line(&format!("{value} = xor i64 {last}, 5"));
                    self.handed.push(value);
                }
                _ => {
                    let value = self.load(index);
                    self.handed.push(value);
                }
            }
        }
    }

    /// Returns the condition of a guard, or `None` without guard. The second is true if the loop
    /// runs when the condition is false.
    fn guard(&mut self, trip: Trip) -> Option<(String, bool)> {
        let wanted = match trip {
            Trip::Parameter => Guard::Compare("sgt i64 %n, 0"),
            _ if self.one_in(12) => *self.random.pick(&GUARDS),
            _ => self.guard,
        };
        match wanted {
            Guard::None => None,
            Guard::Argument(name) => Some((name.to_owned(), false)),
            Guard::Not(name) => Some((name.to_owned(), true)),
            Guard::Compare(text) => {
                let guard = self.fresh("%g");
                self.line(&format!("{guard} = icmp {text}"));
                Some((guard, false))
            }
        }
    }

    /// Writes a loop with its guard, and the code between it and the loop before.
    fn neighbour(&mut self, trip: Trip) {
        let label = self.fresh("l");
        self.between(7);
        let around = self.block.clone();
        let guard = self.guard(trip);
        let known = self.handed.len();
        if let Some((condition, is_opposite)) = &guard {
            let [yes, no] = [format!("{label}.ph"), format!("{label}.end")];
            let [yes, no] = if *is_opposite { [no, yes] } else { [yes, no] };
            self.line(&format!("br i1 {condition}, label %{yes}, label %{no}"));
            self.start_block(&format!("{label}.ph"));
            self.between(10);
        } else if self.one_in(4) {
            self.line(&format!("br label %{label}.ph"));
            self.start_block(&format!("{label}.ph"));
        }
        let count = match trip {
            Trip::Number(number) => number.to_string(),
            Trip::Parameter => "%n".to_owned(),
            Trip::Once => {
                let count = self.fresh("%once");
                let is_more = self.fresh("%more");
                self.line(&format!("{is_more} = icmp sgt i64 %n, 1"));
                self.line(&format!("{count} = select i1 {is_more}, i64 %n, i64 1"));
                count
            }
        };
        let handed = self.counting(&label, &count);
        // Values of a guarded path are not available behind the guard.
        if guard.is_some() {
            self.handed.truncate(known);
        }
        let block = self.block.clone();
        let Some((value, is_closed)) = handed else {
            if guard.is_some() {
                self.between(12);
                self.handed.truncate(known);
                self.line(&format!("br label %{label}.end"));
                self.start_block(&format!("{label}.end"));
            }
            return;
        };
        let result = format!("%{label}.r");
        if guard.is_some() {
            self.line(&format!("br label %{label}.end"));
            self.start_block(&format!("{label}.end"));
            self.line(&format!("{result} = phi i64 [ 5, %{around} ], [ {value}, %{block} ]"));
        } else if is_closed {
            self.line(&format!("{result} = phi i64 [ {value}, %{label}.t ]"));
        } else {
            return self.handed.push(value);
        }
        self.handed.push(result);
    }

    /// Writes a loop with trip count `count`. Returns its live-out value, and true if uses must go
    /// through a phi node in its exit. The current block is then the exit.
    fn counting(&mut self, label: &str, count: &str) -> Option<(String, bool)> {
        let preheader = self.block.clone();
        let kinds = [Handed::Nothing, Handed::Sum, Handed::Counter, Handed::Same, Handed::Other];
        let hands = kinds[self.random.weighted(&[56, 18, 8, 14, 10])];
        let hands = if hands == Handed::Other && self.handed.is_empty() { Handed::Sum } else { hands };
        let hands_out = hands == Handed::Sum;
        let other = self.handed.last().cloned();
        let way = self.random.weighted(&[70, 10, 10, 10]);
        let start = if way == 1 { "1" } else { "0" };
        let bound = match (way, count.parse::<usize>()) {
            (1, Ok(number)) => (number + 1).to_string(),
            (1, Err(_)) => {
                let bound = self.fresh("%bound");
                self.line(&format!("{bound} = add nsw i64 {count}, 1"));
                bound
            }
            _ => count.to_owned(),
        };
        self.line(&format!("br label %{label}.h"));
        self.start_block(&format!("{label}.h"));
        let before = std::mem::take(&mut self.out);
        let mut variable = format!("%{label}.i");
        if way == 2 {
            // Down to zero.
            let down = self.fresh("%down");
            let last = self.fresh("%last");
            self.line(&format!("{last} = sub nsw i64 {count}, %{label}.i"));
            self.line(&format!("{down} = sub nsw i64 {last}, 1"));
            variable = down;
        }
        let known = self.handed.len();
        let pointer = self.one_in(8).then(|| format!("%{label}.p"));
        let last = self.iteration(label, &variable, pointer.as_deref());
        self.handed.truncate(known);
        // Each loop has an observable effect.
        if !hands_out && !self.out.contains("store") && !self.out.contains("atomicrmw") {
            self.store(&variable, "3");
        }
        let latch = format!("{label}.t");
        let is_split = self.block != format!("{label}.h") || self.one_in(4);
        if is_split && self.block != latch {
            self.line(&format!("br label %{latch}"));
            self.start_block(&latch);
        }
        let latch = self.block.clone();
        let handed = self.handed_out(label, hands, &last, other.as_deref());
        if let Some(pointer) = &pointer {
            let by = *self.random.pick(&["4", "4", "4", "8", "%k"]);
            self.line(&format!("{pointer}.n = getelementptr inbounds i8, ptr {pointer}, i64 {by}"));
        }
        self.line(&format!("%{label}.n = add nuw nsw i64 %{label}.i, 1"));
        let out = format!("{label}.x");
        let (compare, is_opposite) =
            *self.random.pick(&[("slt", false), ("slt", false), ("ne", false), ("eq", true)]);
        let [yes, no] = if is_opposite { [&out[..], label] } else { [label, &out[..]] };
        let name = |to: &str| if to == label { format!("{label}.h") } else { to.to_owned() };
        self.line(&format!("%{label}.c = icmp {compare} i64 %{label}.n, {bound}"));
        self.line(&format!("br i1 %{label}.c, label %{}, label %{}", name(yes), name(no)));
        let body = std::mem::replace(&mut self.out, before);
        let mut phi = |ty: &str, name: &str, first: &str, next: &str| {
            let _ = writeln!(self.out, "  {name} = phi {ty} [ {first}, %{preheader} ], [ {next}, %{latch} ]");
        };
        phi("i64", &format!("%{label}.i"), start, &format!("%{label}.n"));
        if hands_out {
            phi("i64", &format!("%{label}.s"), "1", &format!("%{label}.u"));
        }
        if let Some(pointer) = &pointer {
            phi("ptr", pointer, "%a", &format!("{pointer}.n"));
        }
        self.out += &body;
        self.start_block(&out);
        let is_closed = latch == format!("{label}.t") && self.one_in(2);
        handed.map(|handed| (handed, is_closed))
    }

    /// Writes the live-out value of a loop in its latch and returns its name.
    fn handed_out(&mut self, label: &str, what: Handed, last: &str, other: Option<&str>) -> Option<String> {
        let value = format!("%{label}.u");
        let text = match what {
            Handed::Nothing => return None,
            Handed::Sum => {
                let how = *self.random.pick(&["add", "xor", "mul"]);
                format!("{how} i64 %{label}.s, {last}")
            }
            Handed::Counter => {
                return Some(format!("%{label}.{}", if self.one_in(4) { "i" } else { "n" }));
            }
            Handed::Same => match self.random.below(6) {
                0 | 5 => {
                    let index = self.random.below(8).to_string();
                    format!("add i64 {}, 1", self.load(&index))
                }
                1 => "sdiv i64 60, %m".to_owned(),
                2 => {
                    let part = self.fresh("%same");
                    self.line(&format!("{part} = mul i64 %n, 7"));
                    format!("xor i64 {part}, %k")
                }
                3 => "and i64 %m, 3".to_owned(),
                _ => "add i64 %n, %k".to_owned(),
            },
            Handed::Other => {
                let other = other.unwrap_or("1");
                let part = self.fresh("%of");
                let how = *self.random.pick(&["add", "xor", "mul"]);
                let with = if self.one_in(3) { format!("%{label}.i") } else { last.to_owned() };
                self.line(&format!("{part} = {how} i64 {other}, {with}"));
                match self.random.below(4) {
                    0 => format!("sdiv i64 {part}, %m"),
                    1 => format!("add i64 {part}, {other}"),
                    _ => format!("mul i64 {part}, 3"),
                }
            }
        };
        self.line(&format!("{value} = {text}"));
        Some(value)
    }
}
