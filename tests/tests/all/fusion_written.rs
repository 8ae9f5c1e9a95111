//! Two hundred functions of neighbouring loops in the style of human programmers:
//! `tests/fixtures/loop_fusion_written/`, fused by Loomir and by `opt`.
//!
//! Loomir must keep their behaviour, and must fuse every pair that `opt` fuses correctly.

#![allow(clippy::print_stderr, reason = "it says what it skips")]

use std::fmt::Write;
use std::path::Path;

use loomir_tests::behaviour::Input;
use loomir_tests::neighbours::Neighbours;
use loomir_tests::pairs::compared::{Rival, Tally, compare};
use loomir_tests::peers::Peer;

#[test]
fn what_opt_fuses_of_written_functions_loomir_fuses_too() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/loop_fusion_written");
    let Some(opt) = Peer::find("opt") else {
        eprintln!("LOOMIR_LLVM names no folder with bin/opt: nothing to compare with");
        return;
    };
    let text = std::fs::read_to_string(folder.join("kernels.ll")).unwrap_or_default();
    let (head, functions) = functions(&text);
    let mut tally = Tally::default();
    compare(&head, &functions, &opt, &mut tally).unwrap_or_else(|difference| panic!("{difference}"));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("kernels", shown(&tally)));
    assert_eq!(tally.plain.missed, 0, "{:?}", tally.plain.examples);
    assert!(tally.cases >= 200 && tally.plain.fused * 10 >= tally.cases * 4, "{tally:?}");
}

/// Splits a text into the parts outside of functions, and the functions with their calls.
fn functions(text: &str) -> (String, Vec<(String, Neighbours)>) {
    let (mut head, mut functions) = (String::new(), Vec::new());
    let mut parts = text.split("define ");
    head += parts.next().unwrap_or_default();
    for part in parts {
        let (body, rest) = part.split_once("\n}\n").unwrap_or((part, ""));
        head += rest;
        let name: String = body.chars().skip_while(|c| *c != '@').skip(1).take_while(|c| *c != '(').collect();
        let text = format!("define {body}\n}}\n");
        functions.push((name.clone(), Neighbours { text, calls: calls(&name), more: Vec::new }));
    }
    (head, functions)
}

/// Calls of `NAME_TYPE(n, s, a, b, c)`.
fn calls(name: &str) -> Vec<Input> {
    let ty = name.rsplit('_').next().unwrap_or_default();
    let buffer = |contents: &str| format!("{contents}:memref<80x{ty}>");
    let numbers = [(0, 0), (1, 3), (5, 2), (12, -1), (16, 1)];
    let call =
        |(n, s): (i64, i64)| vec![n.to_string(), s.to_string(), buffer("iota"), buffer("7"), buffer("iota")];
    numbers.into_iter().map(call).collect()
}

fn shown(tally: &Tally) -> String {
    let Tally { cases, loops, runs, ours, wrong, .. } = tally;
    let mut text = format!("{cases} functions, {loops} loops, {runs} runs\nLoomir fuses {ours} pairs\n");
    for (name, rival) in [("opt", &tally.plain), ("opt, peeling 3", &tally.peeling)] {
        let Rival { fused, wrong, pairs, both, missed, ours_alone, crashed, .. } = rival;
        let _ = writeln!(
            text,
            "{name} fuses loops of {fused} functions, {wrong} of them wrongly, and crashes on {crashed}"
        );
        let _ = writeln!(
            text,
            "  of {pairs} pairs that it fuses rightly Loomir fuses {both} and {missed} not, and {ours_alone} others"
        );
    }
    let _ = writeln!(text, "opt gets wrong: {}", wrong.join(" "));
    for (reason, count) in tally.plain.reasons.iter().chain(&tally.peeling.reasons) {
        let _ = writeln!(text, "opt alone, {count}: {reason}");
    }
    text
}
