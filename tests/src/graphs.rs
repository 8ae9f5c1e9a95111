//! Random control flow graphs, irreducible ones included, as LLVM IR; and the campaign that holds what Loomir finds in them against what
//! `opt` prints.

use std::fmt::Write;

use loomir::lowering::cfg::print::{Printed, print};

use crate::peers::Peer;
use crate::random::Random;

/// What a campaign found.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Functions.
    pub cases: u64,
    /// Blocks.
    pub blocks: u64,
    /// Natural loops.
    pub loops: u64,
    /// Functions in which a cycle is entered at several places.
    pub irreducible: u64,
}

/// How many functions are asked about at once.
const BATCH: u64 = 250;

/// What is compared, with the name of `opt`'s printer.
const PRINTERS: [(Printed, &str); 3] = [
    (Printed::Loops, "print<loops>"),
    (Printed::Cycles, "print<cycles>"),
    (Printed::Dominators, "print<domtree>"),
];

/// A function called `name` of a few blocks whose branches lead anywhere but to the first.
pub fn function(random: &mut Random, name: &str) -> String {
    let blocks = 1 + random.below(14);
    let mut text = format!("define void @{name}(i1 %c, i32 %n) {{\n");
    for block in 0..blocks {
        if block > 0 {
            let _ = writeln!(text, "b{block}:");
        }
        // Mostly near by, so that cycles nest.
        let target = |random: &mut Random| {
            if blocks == 1 {
                return 0;
            }
            let near = block as i64 + random.range(-3, 4);
            let far = 1 + random.below(blocks - 1) as i64;
            if random.chance(70) { near.clamp(1, blocks as i64 - 1) } else { far }
        };
        let kind = if blocks == 1 { 3 } else { random.weighted(&[25, 60, 8, 5, 2]) };
        let _ = match kind {
            0 => writeln!(text, "  br label %b{}", target(random)),
            1 => writeln!(text, "  br i1 %c, label %b{}, label %b{}", target(random), target(random)),
            2 => {
                let _ = write!(text, "  switch i32 %n, label %b{} [", target(random));
                for case in 0..random.below(4) {
                    let _ = write!(text, " i32 {case}, label %b{}", target(random));
                }
                writeln!(text, " ]")
            }
            3 => writeln!(text, "  ret void"),
            _ => writeln!(text, "  unreachable"),
        };
    }
    text + "}\n"
}

/// Runs `cases` functions of the campaign of `seed`, from number `first` on.
///
/// # Errors
/// The first difference, with the program.
pub fn run(seed: u64, first: u64, cases: u64, opt: &Peer, tally: &mut Tally) -> Result<(), String> {
    let mut at = first;
    while at < first + cases {
        let end = (at + BATCH).min(first + cases);
        let text: String =
            (at..end).map(|case| function(&mut Random::of_case(seed, case), &format!("f{case}"))).collect();
        compare(&text, opt, tally)?;
        tally.cases += end - at;
        at = end;
    }
    Ok(())
}

/// Holds what is printed of every function of a module against what `opt` prints of it.
fn compare(text: &str, opt: &Peer, tally: &mut Tally) -> Result<(), String> {
    let ctx = loomir::context();
    let module = loomir::parse(&ctx, text, "graphs.ll").map_err(|errors| errors.to_text(&ctx))?;
    let written = loomir::lowering::to_ll(&module).map_err(|errors| errors.to_text(&ctx))?;
    for (what, pass) in PRINTERS {
        let theirs = opt.said(&written, &["-disable-output", &format!("-passes={pass}")])?;
        let ours = print(&module, what);
        let same_lines = ours.lines().zip(theirs.lines()).position(|(a, b)| a != b);
        if let Some(line) = same_lines {
            let of = |text: &str| text.lines().take(line + 1).last().unwrap_or_default().to_owned();
            let head = |line: &&str| line.contains("unction");
            let function = ours.lines().take(line + 1).filter(head).last().unwrap_or_default();
            return Err(format!(
                "{pass}, {function}\nours:   {}\ntheirs: {}\n{written}",
                of(&ours),
                of(&theirs)
            ));
        }
        if ours.lines().count() != theirs.lines().count() {
            return Err(format!("{pass}: lines are missing\n{ours}\n{theirs}"));
        }
        if what == Printed::Loops {
            tally.loops += ours.matches("Loop at depth").count() as u64;
        }
        if what == Printed::Cycles {
            let many = |function: &&str| {
                let entries = |line: &str| Some(line.split_once('(')?.1.split_once(')')?.0.contains(' '));
                function.lines().any(|line| entries(line) == Some(true))
            };
            tally.irreducible += ours.split("CycleInfo").filter(many).count() as u64;
        }
        if what == Printed::Dominators {
            tally.blocks += ours.matches("} [").count() as u64;
        }
    }
    Ok(())
}
