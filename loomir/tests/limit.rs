//! `--limit`: a bound on edits, to find the one that goes wrong by bisection.

use crate::support::loomir;

/// Four loops of one function that may all become one, and two of another.
const LOOPS: &str = "\
func.func @four(%a: memref<8xi32>, %v: i32) {
  affine.for %i = 0 to 8 { affine.store %v, %a[%i] : memref<8xi32> }
  affine.for %i = 0 to 8 { affine.store %v, %a[%i] : memref<8xi32> }
  affine.for %i = 0 to 8 { affine.store %v, %a[%i] : memref<8xi32> }
  affine.for %i = 0 to 8 { affine.store %v, %a[%i] : memref<8xi32> }
  return
}
func.func @two(%a: memref<8xi32>, %v: i32) {
  affine.for %i = 0 to 8 { affine.store %v, %a[%i] : memref<8xi32> }
  affine.for %i = 0 to 8 { affine.store %v, %a[%i] : memref<8xi32> }
  return
}
";

/// The number of `word` in the program that is printed, and what is said of the last edit.
fn counted(args: &[&str], input: &str, word: &str) -> String {
    let output = loomir(args, input.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    let (text, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let mut last = said.lines().skip_while(|line| !line.contains("edit"));
    let message = last.next().unwrap_or_default();
    let place = last.next().unwrap_or_default().trim();
    format!("{} left; {message} {place}\n", text.matches(word).count())
}

fn table(args: &[&str], input: &str, word: &str, most: usize) -> String {
    (0..=most)
        .map(|limit| {
            let limit = format!("--limit={limit}");
            let all: Vec<&str> = args.iter().copied().chain([limit.as_str()]).collect();
            counted(&all, input, word)
        })
        .collect()
}

#[test]
fn fusions_stop_at_the_limit() {
    insta::assert_snapshot!(table(&["opt", "-", "--loop-fusion", "--remarks=all"], LOOPS, "affine.for", 5));
    // Without a limit nothing is said of it.
    let plain = counted(&["opt", "-", "--loop-fusion"], LOOPS, "affine.for");
    assert_eq!(plain, "2 left;  \n");
}

#[test]
fn the_main_job_stops_at_the_limit() {
    insta::assert_snapshot!(table(&["fuse", "-", "--contract=false"], LOOPS, "affine.for", 4));
    // What contraction does to a function is an edit too.
    insta::assert_snapshot!(table(&["fuse", "-"], LOOPS, "affine.store", 6));
}

#[test]
fn transformations_of_single_loops_stop_at_the_limit() {
    insta::assert_snapshot!(table(&["opt", "-", "--loop-strip-mine=size=2"], LOOPS, "for %", 7));
}

#[test]
fn fusions_of_graphs_stop_at_the_limit() {
    let lowered = loomir(&["opt", "-", "--emit=ll"], LOOPS.as_bytes());
    let text = String::from_utf8_lossy(&lowered.stdout).into_owned();
    insta::assert_snapshot!(table(&["opt", "-", "--loop-fusion", "--emit=loops"], &text, "Loop at", 5));
}

#[test]
fn limits_are_numbers() {
    assert_eq!(loomir(&["fuse", "-", "--limit=some"], LOOPS.as_bytes()).status.code(), Some(2));
}
