//! `cargo xtask faults`: faults put into the check of legality and into fusion on graphs, one at a time, to see that a test finds each.
//!
//! A test of a check is worth what it catches. Each fault is a small change of one line: a direction forgotten, a sign turned, an iteration lost. The
//! changed project is a copy under `target/faults`; the test that holds the check against running every instance must fail there, or for what is asked before
//! there is a tree the one of fixtures. A fault that is not found is a hole in the test. The list is kept true by `faults_are_where_they_are_said_to_be`.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::Failure;
use crate::process::{cargo, command, output, root};
use crate::record::{self, Heading};

/// One fault: in this file the text, which is there once, is replaced.
pub(crate) struct Fault {
    what: &'static str,
    file: &'static str,
    text: &'static str,
    replacement: &'static str,
}

const LEGALITY: &str = "transforms/src/legality.rs";
const ORDER: &str = "transforms/src/legality/order.rs";
const PAIRS: &str = "transforms/src/legality/pairs.rs";
const COVERAGE: &str = "transforms/src/legality/coverage.rs";
const WHOLE: &str = "transforms/src/legality/whole.rs";
const REORDERED: &str = "transforms/src/legality/reordered.rs";
const REDUCTION: &str = "transforms/src/dependence/updates/reduction.rs";
const CHECK: &str = "transforms/src/legality/check.rs";
const NEST: &str = "transforms/src/dependence/nest.rs";
const EDIT: &str = "transforms/src/tree/edit/order.rs";
const RANGE: &str = "transforms/src/tree/edit/range.rs";
const MERGE: &str = "transforms/src/legality/merge.rs";
const SEGMENT: &str = "transforms/src/fusion/segment.rs";
const GRAPH_PLAN: &str = "lowering/src/cfg/loop_fusion/plan.rs";
const DEF_USE: &str = "lowering/src/cfg/loop_fusion/def_use.rs";
const FINALS: &str = "lowering/src/cfg/loop_fusion/finals.rs";
const REWIRE: &str = "lowering/src/cfg/loop_fusion/rewire.rs";
const MOTION: &str = "lowering/src/cfg/loop_fusion/motion.rs";
const REST: &str = "lowering/src/cfg/loop_fusion/rest.rs";
const VERSION: &str = "lowering/src/cfg/loop_fusion/version.rs";
const REORDER: &str = "lowering/src/cfg/loop_fusion/reorder.rs";
const BACKWARDS: &str = "lowering/src/cfg/loop_fusion/backwards.rs";
const INTERCHANGE: &str = "lowering/src/cfg/loop_fusion/interchange.rs";

impl Fault {
    /// The test that has to find it: the one that holds the check against running every instance, or for what the check does not use, the one that fuses
    /// each fixture, and judges and runs what comes of it. Of fusion on graphs it is the one that holds it against fusion on the tree, or what it does by
    /// itself against what was.
    fn test(&self) -> &'static str {
        match self.file {
            MERGE | SEGMENT | INTERCHANGE => FIXTURES,
            GRAPH_PLAN | REWIRE => REWIRING,
            REST | MOTION | VERSION | DEF_USE | FINALS | REORDER | BACKWARDS => GRAPHS,
            _ => INSTANCES,
        }
    }
}

const INSTANCES: &str = "legality";
const FIXTURES: &str = "fixtures";
const REWIRING: &str = "rewiring";
const GRAPHS: &str = "cfg_fusion";

/// The faults.
pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        what: "an access does not depend on itself",
        file: PAIRS,
        text: "if is_one_kind { &others[i..] }",
        replacement: "if is_one_kind { &others[i + 1..] }",
    },
    Fault {
        what: "only the first of two accesses may come first",
        file: ORDER,
        text: "if is_one { verdict } else { verdict.or(turned_around(part, b, a, overlap, tested)) }",
        replacement: "let _ = is_one;\n    verdict",
    },
    Fault {
        what: "the order of the program is turned around",
        file: ORDER,
        text: "parted(pairs, Order::Less, &mut found);\n    if",
        replacement: "parted(pairs, Order::Greater, &mut found);\n    if",
    },
    Fault {
        what: "the order of the tree is turned around",
        file: ORDER,
        text: "(pair, false)), Order::Greater, &mut found);",
        replacement: "(pair, false)), Order::Less, &mut found);",
    },
    Fault {
        what: "the place in the tree is turned around",
        file: ORDER,
        text: "later(&levels, around, b.1 < a.1)",
        replacement: "later(&levels, around, a.1 < b.1)",
    },
    Fault {
        what: "the place in the program does not count",
        file: ORDER,
        text: "if first.statement < second.statement {",
        replacement: "if false {",
    },
    Fault {
        what: "flow and anti dependences do not count",
        file: LEGALITY,
        text: "(a.writes || b.writes)",
        replacement: "(a.writes && b.writes)",
    },
    Fault {
        what: "output dependences do not count",
        file: LEGALITY,
        text: "(a.writes || b.writes)",
        replacement: "(a.writes != b.writes)",
    },
    Fault {
        what: "updates by different operations may change places",
        file: LEGALITY,
        text: "a.update == b.update",
        replacement: "b.update.is_some()",
    },
    Fault {
        what: "what is left of a torn update may change places",
        file: WHOLE,
        text: "class.update.filter(|_| whole.contains(&(place, *op)))",
        replacement: "class.update",
    },
    Fault {
        what: "sums of floats need no leave to be associated otherwise",
        file: REDUCTION,
        text: "(flags & needed == needed)",
        replacement: "(flags | needed == flags | needed)",
    },
    Fault {
        what: "what is promised of updates holds in any order",
        file: REORDERED,
        text: "updates.len() > MAX_UPDATES || !either_way(part, a, b, overlap, &[]).is_legal()",
        replacement: "updates.len() > MAX_UPDATES",
    },
    Fault {
        what: "what is promised of updates holds in no order",
        file: REORDERED,
        text: "updates.len() > MAX_UPDATES || !either_way(part, a, b, overlap, &[]).is_legal()",
        replacement: "updates.len() > MAX_UPDATES || !either_way(part, a, b, overlap, &[]).is_legal() || !updates.is_empty()",
    },
    Fault {
        what: "inner loops are looked at whatever the outer ones do",
        file: ORDER,
        text: "        equal.push(Relation { first, is: Order::Equal, second });\n",
        replacement: "",
    },
    Fault {
        what: "only the outermost loop of the program orders",
        file: ORDER,
        text: ".skip(from).zip(loops);",
        replacement: ".skip(from).take(1).zip(loops);",
    },
    Fault {
        what: "only the outermost loop of the tree orders",
        file: ORDER,
        text: "(0..around.len() as u32).map(|k|",
        replacement: "(0..around.len().min(1) as u32).map(|k|",
    },
    Fault {
        what: "iterations in any order keep an order",
        file: ORDER,
        text: "if around.iter().any(|own| own.parallel) {",
        replacement: "if false {",
    },
    Fault {
        what: "what runs in any order has none with anything else",
        file: ORDER,
        text: "!(before.in_any_order && behind.in_any_order)",
        replacement: "!behind.in_any_order",
    },
    Fault {
        what: "a condition goes one way in all iterations",
        file: ORDER,
        text: "Some((map, others))\n",
        replacement: "Some((&map[..0], others))\n",
    },
    Fault {
        what: "any two conditions are opposite",
        file: ORDER,
        text: "== Unsaid::Condition(of, !holds))",
        replacement: "== Unsaid::Condition(of, holds))",
    },
    Fault {
        what: "items that change places are not looked at",
        file: CHECK,
        text: "(x < y) != (a.item < b.item)",
        replacement: "false",
    },
    Fault {
        what: "nothing is looked at inside a changed item",
        file: CHECK,
        text: "            _ => true,\n",
        replacement: "            _ => a.item != b.item,\n",
    },
    Fault {
        what: "lost iterations are not missed",
        file: COVERAGE,
        text: "Times::Once if verdict.is_legal() => verdict.or(nothing_lost(part, leaves, whole)),",
        replacement: "",
    },
    Fault {
        what: "repeated iterations are not noticed",
        file: COVERAGE,
        text: "for other in leaves[..=i].iter().filter(|_| times == Times::Once) {",
        replacement: "for other in leaves[..0].iter().filter(|_| times == Times::Once) {",
    },
    Fault {
        what: "one iteration too many is not noticed",
        file: COVERAGE,
        text: "runs.system.set.add_lt(broken, 0);",
        replacement: "runs.system.set.add_lt(broken, -1);",
    },
    Fault {
        what: "a statement of another part is not noticed",
        file: COVERAGE,
        text: "&[Form::constant(-1)], true, Witness::Repeated",
        replacement: "&[Form::constant(0)], true, Witness::Repeated",
    },
    Fault {
        what: "any loops will do for a statement",
        file: COVERAGE,
        text: "wanted == Some(own)",
        replacement: "wanted.is_some()",
    },
    Fault {
        what: "a part of a loop is one iteration longer",
        file: NEST,
        text: "let last = absolute(form, depth).and_then(|f| f.plus(&Form::constant(1), -1));",
        replacement: "let last = absolute(form, depth);",
    },
    Fault {
        what: "a condition counts for its opposite",
        file: NEST,
        text: "let outcome = program.if_info(of).condition.outcome(holds);",
        replacement: "let outcome = program.if_info(of).condition.outcome(!holds);",
    },
    Fault {
        what: "a loop run backwards is one iteration off",
        file: EDIT,
        text: "let mirror = first.plus(&last, 1)?",
        replacement: "let mirror = first.plus(&last, 1)?.plus(&Form::constant(1), 1)?",
    },
    Fault {
        what: "the second part of a loop begins one iteration late",
        file: RANGE,
        text: "let from = Span::range(scale, with(&lower), upper.to_vec());",
        replacement: "let at = at.plus(&Form::constant(scale), 1)?;\n        let with = |forms: &[Form]| forms.iter().chain([&at]).cloned().collect();\n        let from = Span::range(scale, with(&lower), upper.to_vec());",
    },
    Fault {
        what: "what runs in later iterations does not stand in the way",
        file: MERGE,
        text: "apart(first, second, &[], frame, means)",
        replacement: "merged(first, second, 0, frame, means)",
    },
    Fault {
        what: "what changes places for what is assumed is in no version",
        file: SEGMENT,
        text: "if line.swapped.is_empty() || !is_versioned {",
        replacement: "let _ = is_versioned;\n        if true {",
    },
    Fault {
        what: "the second latch leads back to its own header",
        file: REWIRE,
        text: "next = Target { block: first.header, operands };",
        replacement: "next = Target { block: second.header, operands };",
    },
    Fault {
        what: "a loop starts with what another of its arguments does",
        file: REWIRE,
        text: "enters.push(initial[index]);",
        replacement: "enters.push(initial[0]);",
    },
    Fault {
        what: "the back edge hands on what it did in another order",
        file: REWIRE,
        text: ".zip(next.operands)",
        replacement: ".zip(next.operands.into_iter().rev())",
    },
    Fault {
        what: "what the first loop hands out is not handed on",
        file: REWIRE,
        text: "        if uses.is_empty() {\n            continue;\n        }\n        let new = match",
        replacement: "        if true {\n            continue;\n        }\n        let new = match",
    },
    Fault {
        what: "what the first loop hands out is what it is handed first",
        file: REWIRE,
        text: "leaves.operands.push(value);",
        replacement: "leaves.operands.push(function.argument(first.header, 0));",
    },
    Fault {
        what: "the latch goes on where it should leave",
        file: REWIRE,
        text: "let both = if goes_on_if_false {",
        replacement: "let both = if !goes_on_if_false {",
    },
    Fault {
        what: "the guard's edges are swapped",
        file: REWIRE,
        text: "all[usize::from(own.enters_if)] = Target",
        replacement: "all[usize::from(!own.enters_if)] = Target",
    },
    Fault {
        what: "the guard leads to the exit instead of around it",
        file: REWIRE,
        text: "= Target { block: join, operands };",
        replacement: "= Target { block: second.exit, operands };",
    },
    Fault {
        what: "the second preheader is kept",
        file: REWIRE,
        text: "plan.between.blocks().for_each(|block| analysis.erase_block(function, block));",
        replacement: "plan.between.blocks().filter(|block| *block != second.preheader).for_each(|block| analysis.erase_block(function, block));",
    },
    Fault {
        what: "nobody hears of the second latch's new edges",
        file: REWIRE,
        text: "for block in [first.latch, second.latch, first.preheader] {",
        replacement: "for block in [first.latch, first.preheader] {",
    },
    Fault {
        what: "the second loop is not absorbed",
        file: REWIRE,
        text: "    analysis.loops_mut().absorb(first.id, second.id);\n",
        replacement: "",
    },
    Fault {
        what: "what is hoisted stands above its operands",
        file: REWIRE,
        text: "motion.hoisted.iter().for_each(",
        replacement: "motion.hoisted.iter().rev().for_each(",
    },
    Fault {
        what: "counters that start elsewhere are merged",
        file: GRAPH_PLAN,
        text: "|counter| counter.counts_like(variable)",
        replacement: "|_| true",
    },
    Fault {
        what: "around both loops goes what only comes out of them",
        file: REWIRE,
        text: "operands.push(brought[argument]);",
        replacement: "operands.push(arrives);",
    },
    Fault {
        what: "what the loops bring and what goes around them are swapped",
        file: REWIRE,
        text: "if is_on_way { arrives } else { new }",
        replacement: "arrives",
    },
    Fault {
        what: "the target that leads back is taken for the other",
        file: REWIRE,
        text: "if a.block == block { Some((a, b)) }",
        replacement: "if a.block != block { Some((a, b)) }",
    },
    Fault {
        what: "arguments of the second header are the first's own",
        file: REWIRE,
        text: "function.add_argument(first.header, function.value_type(*argument))",
        replacement: "function.add_argument(first.header, function.value_type(arguments[0]))",
    },
    Fault {
        what: "a condition to leave is taken for one to go on",
        file: REST,
        text: "goes_on = decisions.map(|decision| match decision.stays {\n        0 =>",
        replacement: "goes_on = decisions.map(|decision| match decision.stays {\n        1 =>",
    },
    Fault {
        what: "a loop that may run longer is taken for one that does not",
        file: REST,
        text: "behind: [first > second, first < second]",
        replacement: "behind: [first > second, false]",
    },
    Fault {
        what: "the rest of the second starts again",
        file: REST,
        text: "let parts = of_second.renamed(rest_arguments);",
        replacement: "let mut parts = of_second.renamed(rest_arguments);\n            parts.back = initial.to_vec();",
    },
    Fault {
        what: "what is loaded in front of a loop that writes there is what it loads later",
        file: DEF_USE,
        text: "runs_anyway() && self.is_apart(op, summary)",
        replacement: "runs_anyway()",
    },
    Fault {
        what: "what waits for the end stands above its operands",
        file: DEF_USE,
        text: "for op in &plan.sunk {",
        replacement: "for op in plan.sunk.iter().rev() {",
    },
    Fault {
        what: "what is kept between runs in front of the iteration",
        file: REST,
        text: "let branch = function.terminator(copy.latch)?;\n        motion.kept",
        replacement: "let branch = function.first_op(copy.header)?;\n        motion.kept",
    },
    Fault {
        what: "what is kept between runs before any iteration that comes later",
        file: MOTION,
        text: "            && self.never_meets(op, &later.nest)\n",
        replacement: "",
    },
    Fault {
        what: "what is kept between passes what waits for the end",
        file: MOTION,
        text: "            && self.is_apart_from(op, &moved.left)\n",
        replacement: "",
    },
    Fault {
        what: "what goes in front passes what is kept between",
        file: MOTION,
        text: "[&moved.left, &moved.kept].into_iter()",
        replacement: "[&moved.left].into_iter()",
    },
    Fault {
        what: "a counter ends with one more",
        file: FINALS,
        text: "numbers.insert(value, signed(width, bits))",
        replacement: "numbers.insert(value, signed(width, bits) + 1)",
    },
    Fault {
        what: "it is tested that a loop does not run",
        file: VERSION,
        text: "all.push(if *holds {",
        replacement: "all.push(if !*holds {",
    },
    Fault {
        what: "bytes are only looked at from the last on",
        file: VERSION,
        text: "let from = extreme(offset, class, depth, false)?;",
        replacement: "let from = extreme(offset, class, depth, true)?;",
    },
    Fault {
        what: "the copies hand out what the fused loops do",
        file: VERSION,
        text: "if is_copy { mapping.value(*value) } else { *value }",
        replacement: "if !is_copy { *value } else { *value }",
    },
    Fault {
        what: "iterations that depend on each other run backwards",
        file: REORDER,
        text: "if !self.keeps_order(depth, [&own.summary.nest; 2], 0) {",
        replacement: "if false {",
    },
    Fault {
        what: "what stays in front is judged as if it stayed behind",
        file: REORDER,
        text: "match takes_head == (which == Which::Second) {",
        replacement: "match true {",
    },
    Fault {
        what: "the last value is that of one iteration more",
        file: BACKWARDS,
        text: "let way = last.times(step)?;",
        replacement: "let way = last.plus(&Form::constant(1), 1)?.times(step)?;",
    },
    Fault {
        what: "loops that change places run as often as before",
        file: INTERCHANGE,
        text: "outer.count_to(function, by_outer, lasts[1], above)?;",
        replacement: "outer.count_to(function, by_outer, lasts[0], above)?;",
    },
];

/// `[--only K]`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let only: Option<usize> = match arguments {
        [] => None,
        [key, value] if key == "--only" => Some(value.parse().map_err(|_| "--only takes a number")?),
        _ => return Err("[--only K]".to_owned()),
    };
    let copy = root().join("target/faults/project");
    copy_project(&copy)?;
    if !(test(&copy, INSTANCES)? && test(&copy, FIXTURES)? && test(&copy, REWIRING)?) {
        return Err("the test fails without any fault".to_owned());
    }
    let mut found = 0;
    let mut missed = Vec::new();
    for (number, fault) in FAULTS.iter().enumerate().filter(|(number, _)| only.is_none_or(|k| k == *number)) {
        let file = copy.join(fault.file);
        let text = read(&file)?;
        write(&file, &text.replacen(fault.text, fault.replacement, 1))?;
        let passes = test(&copy, fault.test());
        write(&file, &text)?;
        if passes? {
            missed.push(fault.what);
        } else {
            found += 1;
        }
        println!(
            "{number}: {}: {}",
            fault.what,
            if missed.last() == Some(&fault.what) { "MISSED" } else { "found" }
        );
    }
    if only.is_none() {
        let heading = Heading {
            title: "Faults in the check of legality and in fusion on graphs".to_owned(),
            does: "one fault at a time is put in; a test has to find each",
            command: "cargo xtask faults".to_owned(),
        };
        let values = [("faults", FAULTS.len()), ("found", found), ("missed", missed.len())];
        record::keep("faults", &heading, &values.map(|(key, value)| (key.to_owned(), value.to_string())))?;
    }
    if missed.is_empty() { Ok(()) } else { Err(format!("not found: {}", missed.join("; "))) }
}

/// Copies what is under version control.
fn copy_project(to: &Path) -> Result<(), Failure> {
    for name in output(command("git").args(["ls-files"]))?.lines() {
        let (from, to) = (root().join(name), to.join(name));
        // What did not change keeps its time, so that it is not built again.
        if std::fs::read(&from).ok() != std::fs::read(&to).ok() {
            let folder = to.parent().unwrap_or(&to);
            std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::copy(&from, &to))
                .map_err(|error| format!("{name}: {error}"))?;
        }
    }
    Ok(())
}

/// Whether a test passes in a copy of the project. A copy that cannot be built is an error.
fn test(copy: &Path, name: &str) -> Result<bool, Failure> {
    let prepared = |command: &mut Command| {
        command.current_dir(copy).env("CARGO_TARGET_DIR", root().join("target/faults/build"));
        command.args(["test", "--quiet", "-p", "loomir-testing", "--test", name]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
    };
    let status = |arguments: &[&str]| {
        let mut command = cargo();
        prepared(&mut command);
        command.args(arguments).status().map_err(|error| error.to_string())
    };
    if !status(&["--no-run"])?.success() {
        return Err("the project does not build".to_owned());
    }
    Ok(status(&[])?.success())
}

fn read(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_where_they_are_said_to_be() {
        for fault in FAULTS {
            let text = read(&root().join(fault.file)).unwrap_or_default();
            assert_eq!(text.matches(fault.text).count(), 1, "{} in {}", fault.what, fault.file);
        }
    }
}
