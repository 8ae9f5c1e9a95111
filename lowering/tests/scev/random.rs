//! Random nests of loops: every expression, range, flag, fact and count is true in runs, whatever
//! the program. Programs are made from a list of choices, so a failure shrinks to a short one.

use std::fmt::Write;

use proptest::prelude::*;

use crate::watch::{Watched, watch};
use crate::{context, functions, read};

/// The maximal number of operations of a program, and the maximal nesting depth of loops.
const MAX_OPERATIONS: usize = 60;
const MAX_DEPTH: usize = 3;
const WIDTHS: [u32; 3] = [8, 16, 32];
const PREDICATES: [&str; 10] = ["ne", "slt", "ult", "sgt", "ugt", "sle", "ule", "sge", "uge", "eq"];

/// A program being written.
struct Program<'c> {
    choices: std::slice::Iter<'c, u8>,
    text: String,
    /// The visible values, with their widths.
    values: Vec<(String, u32)>,
    next: usize,
    operations: usize,
    block: String,
}

impl Program<'_> {
    /// Returns a choice among `count`; the first, when the choices are used up.
    fn choose(&mut self, count: usize) -> usize {
        usize::from(self.choices.next().copied().unwrap_or(0)) % count.max(1)
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    /// Returns a visible value of a width, or a number.
    fn operand(&mut self, width: u32) -> String {
        let own: Vec<String> =
            self.values.iter().filter(|(_, own)| *own == width).map(|(name, _)| name.clone()).collect();
        let turn = self.choose(own.len() + 3);
        // What was computed last first.
        if turn < own.len() { own[own.len() - 1 - turn].clone() } else { self.number() }
    }

    fn number(&mut self) -> String {
        [1, 2, 3, 0, 4, -1, 7, -2, 10, 100, -128, 127][self.choose(12)].to_string()
    }

    fn width(&mut self) -> u32 {
        WIDTHS[self.choose(3)]
    }

    fn define(&mut self, width: u32, line: &str) -> String {
        let name = self.name();
        let _ = writeln!(self.text, "  {name} = {line}");
        self.values.push((name.clone(), width));
        name
    }

    fn operation(&mut self) {
        self.operations += 1;
        let width = self.width();
        let (a, b) = (self.operand(width), self.operand(width));
        let flags = ["", " nsw", " nuw", " nuw nsw"][self.choose(4)];
        match self.choose(16) {
            0..=2 => self.define(width, &format!("add{flags} i{width} {a}, {b}")),
            3 => self.define(width, &format!("sub{flags} i{width} {a}, {b}")),
            4 => self.define(width, &format!("mul{flags} i{width} {a}, {b}")),
            5 => {
                let by = self.choose(4);
                self.define(width, &format!("shl{flags} i{width} {a}, {by}"))
            }
            6 => {
                let by = self.choose(4);
                self.define(width, &format!("lshr i{width} {a}, {by}"))
            }
            7 => {
                let by = [1, 2, 3, 4, 10][self.choose(5)];
                let op = ["udiv", "urem", "sdiv", "srem"][self.choose(4)];
                self.define(width, &format!("{op} i{width} {a}, {by}"))
            }
            8 => {
                let by = [7, 12, 1, -4, 3][self.choose(5)];
                self.define(width, &format!("and i{width} {a}, {by}"))
            }
            9 => self.define(width, &format!("xor i{width} {a}, -1")),
            10 => {
                let to = self.width();
                let op = if to < width { "trunc" } else { ["zext", "sext"][self.choose(2)] };
                if to == width {
                    self.define(width, &format!("or i{width} {a}, {b}"))
                } else {
                    self.define(to, &format!("{op} i{width} {a} to i{to}"))
                }
            }
            11 | 12 => {
                let to = if width == 8 { 32 } else { width };
                let op = ["sext", "zext"][self.choose(2)];
                if to == width {
                    self.define(width, &format!("ashr i{width} {a}, 1"))
                } else {
                    self.define(to, &format!("{op} i{width} {a} to i{to}"))
                }
            }
            13 => {
                let kind = ["smin", "smax", "umin", "umax"][self.choose(4)];
                self.define(
                    width,
                    &format!("call i{width} @llvm.{kind}.i{width}(i{width} {a}, i{width} {b})"),
                )
            }
            _ => {
                let predicate = PREDICATES[self.choose(10)];
                let condition = self.name();
                let _ = writeln!(self.text, "  {condition} = icmp {predicate} i{width} {a}, {b}");
                self.define(width, &format!("select i1 {condition}, i{width} {a}, i{width} {b}"))
            }
        };
    }

    fn body(&mut self, depth: usize) {
        for _ in 0..=self.choose(5) {
            if self.operations >= MAX_OPERATIONS {
                return;
            }
            match self.choose(4) {
                0 if depth < MAX_DEPTH => self.counting(depth),
                _ => self.operation(),
            }
        }
    }

    /// Writes a loop. Its header's arguments are in scope behind it, its other values are not.
    fn counting(&mut self, depth: usize) {
        self.operations += 4;
        let width = self.width();
        let own = self.next;
        let (header, latch, exit) = (format!("h{own}"), format!("l{own}"), format!("x{own}"));
        let (start, carried_width) = (self.operand(width), self.width());
        let carried_start = self.operand(carried_width);
        let [iv, carried, next] = [0; 3].map(|_| self.name());
        let from = std::mem::replace(&mut self.block, header.clone());
        let _ = writeln!(self.text, "  br label %{header}\n{header}:");
        // The values of the backedge are known once the body is written.
        let phis = self.text.len();
        self.values.push((iv.clone(), width));
        self.values.push((carried.clone(), carried_width));
        let in_sight = self.values.len();
        let at_start = self.choose(3) == 0;
        if at_start {
            self.test(width, &iv, &latch, &exit);
            let _ = writeln!(self.text, "{latch}:");
            self.block.clone_from(&latch);
        }
        if width < 32 {
            // The extensions show if it wraps.
            self.define(32, &format!("sext i{width} {iv} to i32"));
            self.define(32, &format!("zext i{width} {iv} to i32"));
        }
        self.body(depth + 1);
        if self.choose(5) == 0 {
            let go_on = format!("g{own}");
            let (a, b) = (self.operand(width), self.operand(width));
            let (predicate, condition) = (PREDICATES[self.choose(10)], self.name());
            let _ = writeln!(
                self.text,
                "  {condition} = icmp {predicate} i{width} {a}, {b}\n  br i1 {condition}, label %{go_on}, label %{exit}\n{go_on}:"
            );
            self.block = go_on;
        }
        let step = match self.choose(6) {
            0 => self.operand(width),
            _ => [1, 1, 2, -1, 3, -2][self.choose(6)].to_string(),
        };
        let flags = ["", " nsw", " nuw", " nuw nsw"][self.choose(4)];
        let _ = writeln!(self.text, "  {next} = add{flags} i{width} {iv}, {step}");
        let carried_next = self.operand(carried_width);
        let back = self.block.clone();
        if at_start {
            let _ = writeln!(self.text, "  br label %{header}");
        } else {
            let tested = if self.choose(2) == 0 { next.clone() } else { iv.clone() };
            self.test(width, &tested, &header, &exit);
        }
        let taken = format!(
            "  {iv} = phi i{width} [ {start}, %{from} ], [ {next}, %{back} ]\n  {carried} = phi i{carried_width} [ {carried_start}, %{from} ], [ {carried_next}, %{back} ]\n"
        );
        self.text.insert_str(phis, &taken);
        // The step must be a value from before: the others are in the loop.
        self.values.truncate(in_sight);
        let _ = writeln!(self.text, "{exit}:");
        self.block = exit;
    }

    fn test(&mut self, width: u32, tested: &str, go_on: &str, exit: &str) {
        let predicate = PREDICATES[self.choose(10)];
        let bound = self.operand(width);
        let condition = self.name();
        let _ = writeln!(
            self.text,
            "  {condition} = icmp {predicate} i{width} {tested}, {bound}\n  br i1 {condition}, label %{go_on}, label %{exit}"
        );
    }
}

/// Returns the program of these choices.
fn program(choices: &[u8]) -> String {
    let text = "define i32 @f(i8 %a, i16 %b, i32 %c) {\nentry:\n".to_owned();
    let values = [("%a", 8), ("%b", 16), ("%c", 32)].map(|(name, width)| (name.to_owned(), width)).to_vec();
    let mut program =
        Program { choices: choices.iter(), text, values, next: 0, operations: 0, block: "entry".to_owned() };
    program.counting(0);
    program.body(0);
    let result = program.operand(32);
    let _ = writeln!(program.text, "  %last = freeze i32 {result}\n  ret i32 %last\n}}");
    for kind in ["smin", "smax", "umin", "umax"] {
        for width in WIDTHS {
            let _ = writeln!(program.text, "declare i{width} @llvm.{kind}.i{width}(i{width}, i{width})");
        }
    }
    program.text
}

/// Arguments of all programs.
const CALLS: [[i64; 3]; 6] = [[0, 0, 0], [1, 2, 3], [10, 20, 5], [-1, -1, -1], [127, 100, 7], [-128, 7, 40]];

fn check(source: &str) -> Result<Watched, String> {
    let ctx = context();
    let module = read(&ctx, source);
    let (_, function) = functions(&module)[0];
    let calls: Vec<Vec<u128>> =
        CALLS.iter().map(|call| call.iter().map(|word| *word as u128).collect()).collect();
    let (watched, _) = watch(&module, "f", function, &calls).map_err(|error| format!("{error}\n{source}"))?;
    Ok(watched)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_is_what_runs(choices in prop::collection::vec(any::<u8>(), 10..220)) {
        if let Err(error) = check(&program(&choices)) {
            return Err(TestCaseError::fail(error));
        }
    }
}

/// A recurrence with step zero equals its start. The no-wrap flags of its step imply nothing about
/// the start.
#[test]
fn flags_of_a_step_by_nothing_are_not_those_of_the_start() {
    let source = "
define i32 @f(i8 %a, i16 %b, i32 %c) {
entry:
  %start = add i16 %b, %b
  br label %header
header:
  %x = phi i16 [ %start, %entry ], [ %next, %latch ]
  %again = icmp ult i16 %x, 7
  br i1 %again, label %latch, label %exit
latch:
  %next = add nuw i16 %x, 0
  br label %header
exit:
  %wide = zext i16 %x to i32
  ret i32 %wide
}
";
    if let Err(error) = check(source) {
        panic!("{error}");
    }
}
