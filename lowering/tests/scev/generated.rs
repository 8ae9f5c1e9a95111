//! Systematically generated loops: each comparison, direction, step, width and promise, with starts
//! and bounds that are constants or arguments, tested at the end or at the start of an iteration,
//! guarded or not.

use std::fmt::Write;

use crate::opt::{Verdict, compare};
use crate::watch::{Watched, watch};
use crate::{context, functions, read};

/// One loop that counts.
#[derive(Clone, Debug)]
pub(crate) struct Counting {
    pub(crate) width: u32,
    pub(crate) predicate: &'static str,
    pub(crate) step: i64,
    pub(crate) flags: &'static str,
    pub(crate) start: Option<i64>,
    pub(crate) bound: Option<i64>,
    pub(crate) shape: Shape,
}

/// The place of a loop's test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// Tested at the end of each iteration, the next value.
    Next,
    /// Tested at the end of each iteration, the current value.
    Latch,
    /// At the start.
    Header,
    /// At the end, and by a guard before the loop.
    Guarded,
}

pub(crate) const PREDICATES: [&str; 10] =
    ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
const SHAPES: [Shape; 4] = [Shape::Next, Shape::Latch, Shape::Header, Shape::Guarded];

impl Counting {
    /// Returns the reason why the analysis is less precise than `opt`'s.
    fn why_less(&self) -> Option<&'static str> {
        let is_promised = !self.flags.is_empty();
        if self.step < 0 && self.flags.contains("nuw") {
            return Some(
                "to add what is negative without wrapping unsigned is possible once at most, so no count matters",
            );
        }
        if is_promised && self.predicate == "ne" && self.start.is_some() && self.bound.is_some() {
            return Some("the bound is stepped over, so no run leaves the loop; `opt` counts up to there");
        }
        if self.step < -1 && matches!(self.predicate, "sgt" | "ugt") && self.flags == "nsw" {
            return Some(
                "the sum `opt` divides wraps: from 127 down to -128 by 3 it says no backedge is taken, and 85 are",
            );
        }
        None
    }

    /// Returns a function with this loop. Its arguments are the start and the bound.
    pub(crate) fn function(&self, name: &str) -> String {
        let ty = format!("i{}", self.width);
        let operand = |number: Option<i64>, argument: &str| {
            number.map_or(argument.to_owned(), |number| number.to_string())
        };
        let (start, bound) = (operand(self.start, "%s"), operand(self.bound, "%e"));
        let (predicate, step, flags) = (self.predicate, self.step, self.flags);
        let mut text = format!("define {ty} @{name}({ty} %s, {ty} %e) {{\nentry:\n");
        if self.shape == Shape::Guarded {
            let _ = writeln!(
                text,
                "  %g = icmp {predicate} {ty} {start}, {bound}\n  br i1 %g, label %h, label %x"
            );
        } else {
            text.push_str("  br label %h\n");
        }
        let latch = if self.shape == Shape::Header { "l" } else { "h" };
        let _ = writeln!(text, "h:\n  %i = phi {ty} [ {start}, %entry ], [ %n, %{latch} ]");
        let _ = writeln!(text, "  %q = phi {ty} [ 1, %entry ], [ %q1, %{latch} ]");
        let tested = if matches!(self.shape, Shape::Next | Shape::Guarded) { "%n" } else { "%i" };
        let next = format!("  %n = add {flags} {ty} %i, {step}\n  %q1 = add {ty} %q, %i\n");
        let test = format!("  %c = icmp {predicate} {ty} {tested}, {bound}\n");
        if self.shape == Shape::Header {
            let _ = writeln!(text, "{test}  br i1 %c, label %l, label %x\nl:\n{next}  br label %h");
        } else {
            let _ = writeln!(text, "{next}{test}  br i1 %c, label %h, label %x");
        }
        let from = if self.shape == Shape::Guarded { "[ 7, %entry ], [ %q, %h ]" } else { "[ %q, %h ]" };
        let _ = writeln!(text, "x:\n  %r = phi {ty} {from}\n  ret {ty} %r\n}}");
        text
    }
}

/// Returns the loops.
pub(crate) fn all() -> Vec<Counting> {
    let mut loops = Vec::new();
    let mut turn = 0usize;
    for width in [8, 32, 64] {
        for predicate in PREDICATES {
            for step in [1, -1, 2, -3, 8] {
                for flags in ["", "nsw", "nuw", "nuw nsw"] {
                    for (start, bound) in
                        [(None, None), (Some(0), None), (None, Some(10)), (Some(3), Some(90))]
                    {
                        // Shapes in turn, so that each occurs with each.
                        turn += 1;
                        let shape = SHAPES[(turn + turn / 4 + turn / 16 + turn / 64) % 4];
                        loops.push(Counting { width, predicate, step, flags, start, bound, shape });
                    }
                }
            }
        }
    }
    loops
}

/// Words that matter.
pub(crate) const WORDS: [i64; 12] = [0, 1, 2, 3, 9, 10, 100, 127, -1, -2, -8, -128];

/// Returns starts and bounds for a loop. Different loops get different pairs.
pub(crate) fn calls(index: usize) -> Vec<Vec<u128>> {
    let word = |at: usize| WORDS[at % WORDS.len()] as u128;
    (0..WORDS.len()).map(|turn| vec![word(turn), word(turn * 5 + index)]).collect()
}

#[test]
fn counting_loops_are_what_runs() {
    let ctx = context();
    let (mut watched, mut wrong) = (Watched::default(), Vec::new());
    for (index, counting) in all().iter().enumerate() {
        let source = counting.function("f");
        let module = read(&ctx, &source);
        let (_, function) = functions(&module)[0];
        match watch(&module, "f", function, &calls(index)) {
            Ok((done, _)) => watched.add(done),
            Err(error) => wrong.push(format!("{error}\n{source}")),
        }
    }
    assert!(wrong.is_empty(), "{} are wrong\n{}", wrong.len(), wrong[..wrong.len().min(5)].join("\n"));
    assert!(watched.exact > 2000, "{watched:?}");
}

#[test]
fn counting_loops_are_what_opt_says_or_better() {
    let loops = all();
    let mut source = String::new();
    for (index, counting) in loops.iter().enumerate() {
        source.push_str(&counting.function(&format!("f{index}")));
    }
    let Some(verdicts) = compare(&source, &calls) else { return };
    let less: Vec<String> = verdicts
        .iter()
        .filter(|(_, verdict)| matches!(verdict, Verdict::Less(_)))
        .map(|(name, verdict)| (name, verdict, &loops[name[1..].parse::<usize>().expect("a number")]))
        .filter(|(.., counting)| counting.why_less().is_none())
        .map(|(name, verdict, counting)| format!("{verdict:?}\n{}", counting.function(name)))
        .collect();
    let count = |wanted: fn(&Verdict) -> bool| verdicts.iter().filter(|(_, verdict)| wanted(verdict)).count();
    let (equal, more) = (count(|v| matches!(v, Verdict::Equal)), count(|v| matches!(v, Verdict::More)));
    assert!(
        less.is_empty(),
        "{equal} equal, {more} more precise, {} less\n{}",
        less.len(),
        less[..less.len().min(12)].join("\n")
    );
}
