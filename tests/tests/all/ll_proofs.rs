//! Proofs about LLVM IR: transformations of loops in graphs by Loomir and `opt` are proved, wrong
//! edits are not.

#![allow(clippy::print_stderr, reason = "it says what is open and what it skips")]

use std::fmt::Write;
use std::path::{Path, PathBuf};

use loomir::check::execution::Options;
use loomir::check::functions::{Verdict, check, prover};
use loomir::ir::{Body, Context};
use loomir_tests::Checker;
use loomir_tests::peers::Peer;
use loomir_tests::random::Random;

/// Edited programs of the campaign.
const EDITED: usize = 2000;

fn fixtures(folder: &str, end: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|own| own == end));
    paths.sort();
    paths
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn parsed(ctx: &Context, text: &str) -> Option<Body> {
    loomir::parse(ctx, text, "program.ll").ok()
}

/// The number of changed functions, the number of proved ones, and a line for each other function.
#[derive(Default)]
struct Share {
    changed: usize,
    proved: usize,
    open: String,
}

impl Share {
    fn add(&mut self, before: &Body, after: &Body, what: &str) {
        let options = Options { inputs: 8, ..Options::default() };
        for function in check(before, after, None, None, &options, Some(&prover(false))) {
            match function.verdict {
                Verdict::Identical => continue,
                Verdict::Proved(_) => self.proved += 1,
                Verdict::Undecided(reasons, _) => {
                    let _ = writeln!(self.open, "@{} after {what}: {}", function.name, reasons.join("; "));
                }
                // The fixtures cover known faults of `opt`.
                Verdict::Different(_) | Verdict::Unfit(_) => continue,
            }
            self.changed += 1;
        }
    }

    fn is_at_least(&self, percent: usize, what: &str) {
        let Share { changed, proved, open } = self;
        eprintln!("{what}: {proved} of {changed} proved\n{open}");
        assert!(*changed > 0 && 100 * proved >= percent * changed, "{what}: {proved} of {changed}\n{open}");
    }
}

/// Passes of Loomir on functions of the `llvm` dialect, with the least percentages of proofs. The
/// first is for functions in the style of human programmers, the second for traps, many of which
/// are refused.
const OWN: [(&str, usize, usize); 3] =
    [("loop-fusion", 99, 36), ("loop-rotate", 99, 22), ("lcssa,loop-simplify", 99, 22)];

#[test]
fn what_loomir_does_to_graphs_is_proved() {
    let checker = Checker::default();
    for (pass, written, traps) in OWN {
        for (folder, end, least) in [
            ("loop_fusion_written", "ll", written),
            ("loop_fusion_traps", "ll", traps),
            ("cfg", "mlir", traps),
        ] {
            let mut share = Share::default();
            for path in fixtures(folder, end) {
                let Some(before) = parsed(&checker.ctx, &text(&path)) else { continue };
                let Some(mut after) = parsed(&checker.ctx, &text(&path)) else { continue };
                if checker.run(&format!("builtin.module(llvm.func({pass}))"), &mut after).is_ok() {
                    share.add(&before, &after, pass);
                }
            }
            if share.changed > 0 {
                share.is_at_least(least, &format!("{pass} on {folder}"));
            }
        }
    }
}

/// Passes of `opt`, with the percentages of [`OWN`].
const PEERS: [(&str, usize, usize); 5] = [
    ("loop(loop-rotate)", 99, 55),
    ("loop-fusion", 99, 45),
    ("loop-mssa(licm)", 98, 55),
    ("loop(indvars)", 97, 42),
    ("loop-unroll", 85, 32),
];

#[test]
fn what_opt_does_to_loops_is_proved() {
    let Some(opt) = Peer::find("opt") else {
        eprintln!("LOOMIR_LLVM names no folder with bin/opt: nothing is made");
        return;
    };
    let ctx = loomir::context();
    for (passes, written, traps) in PEERS {
        for (folder, least) in [("loop_fusion_written", written), ("loop_fusion_traps", traps)] {
            let mut share = Share::default();
            for path in fixtures(folder, "ll") {
                let source = text(&path);
                let made = opt.run(&source, &["-S", &format!("-passes={passes}")]);
                let pair = made.ok().and_then(|made| Some((parsed(&ctx, &source)?, parsed(&ctx, &made)?)));
                if let Some((before, after)) = pair {
                    share.add(&before, &after, passes);
                }
            }
            share.is_at_least(least, &format!("opt -passes={passes} on {folder}"));
        }
    }
}

/// Edits of a line: a text and its replacement.
const EDITS: [(&str, &str); 30] = [
    ("slt", "sle"),
    ("slt", "ult"),
    ("slt", "ne"),
    ("sgt", "sge"),
    ("sgt", "ne"),
    ("ult", "ule"),
    ("ult", "ugt"),
    (" 0, %", " 1, %"),
    (" 1, %", " 0, %"),
    (", 1\n", ", 2\n"),
    (", 0\n", ", 1\n"),
    (", 15\n", ", 14\n"),
    (", 16\n", ", 17\n"),
    ("ptr %a,", "ptr %b,"),
    ("ptr %b,", "ptr %a,"),
    ("ptr %c,", "ptr %b,"),
    ("fadd", "fmul"),
    ("fmul", "fadd"),
    ("add ", "sub "),
    ("add nuw nsw ", "sub nsw "),
    ("mul ", "add "),
    ("add i", "add nsw i"),
    ("add nsw", "add nuw nsw"),
    ("mul i", "mul nuw i"),
    ("icmp s", "icmp samesign s"),
    ("fadd ", "fadd nnan "),
    ("getelementptr i", "getelementptr inbounds i"),
    ("align 4", "align 8"),
    ("float", "i32"),
    ("load ", "load volatile "),
];

/// Returns a function with one edit; `None` if there is no place for it.
fn edited(function: &str, random: &mut Random) -> Option<String> {
    let mut lines: Vec<String> = function.split_inclusive('\n').map(str::to_string).collect();
    let at = 1 + random.below(lines.len().checked_sub(2).filter(|rest| *rest > 0)?);
    let line = lines[at].clone();
    let is_access = |line: &str| line.contains(" = load ") || line.trim_start().starts_with("store ");
    match random.below(8) {
        0 if line.trim_start().starts_with("store ") => lines[at] = String::new(),
        1 if is_access(&line) => {
            let other = (at + 1..lines.len()).find(|next| is_access(&lines[*next]))?;
            lines.swap(at, other);
        }
        2 if line.contains("br i1 ") => {
            let (head, targets) = line.trim_end().split_once(", ")?;
            let (yes, no) = targets.split_once(", ")?;
            lines[at] = format!("{head}, {no}, {yes}\n");
        }
        _ => {
            let start = random.below(EDITS.len());
            let edits = EDITS.iter().cycle().skip(start).take(EDITS.len());
            let (from, to) = edits.into_iter().find(|(from, _)| line.contains(from))?;
            lines[at] = line.replacen(from, to, 1);
        }
    }
    Some(lines.concat()).filter(|text| text != function)
}

#[test]
fn edited_functions_that_differ_are_not_proved() {
    let source = text(&fixtures("loop_fusion_written", "ll")[0]);
    let (head, rest) = source.split_once("define ").expect("functions");
    let functions: Vec<String> = rest.split("\ndefine ").map(|own| format!("define {own}\n")).collect();
    let declared = functions.last().and_then(|own| own.split_once("\n}\n")).map_or("", |(_, rest)| rest);
    let (mut tried, mut proved, mut differ) = (0, 0, 0);
    for index in 0..EDITED {
        let mut random = Random::of_case(11, index as u64);
        let function = &functions[random.below(functions.len())];
        let function = function.split_inclusive("\n}\n").next().unwrap_or_default();
        let Some(other) = edited(function, &mut random) else { continue };
        let ctx = loomir::context();
        let whole = |function: &str| format!("{head}{function}\n{declared}");
        let (Some(before), Some(after)) = (parsed(&ctx, &whole(function)), parsed(&ctx, &whole(&other)))
        else {
            continue;
        };
        tried += 1;
        let options = Options { inputs: 48, ..Options::default() };
        let found = check(&before, &after, None, None, &options, None);
        let differs = found.iter().any(|function| matches!(function.verdict, Verdict::Different(_)));
        differ += usize::from(differs);
        let answers = check(&before, &after, None, None, &options, Some(&prover(false)));
        let equal = answers.iter().any(|function| matches!(function.verdict, Verdict::Proved(_)));
        proved += usize::from(equal);
        assert!(!(equal && differs), "proved, though it differs\n{function}\n{other}");
    }
    eprintln!("{tried} edited functions: {differ} differ, {proved} are proved equal");
    assert!(tried * 4 >= EDITED && differ * 2 >= tried, "{differ} of {tried} differ");
}
