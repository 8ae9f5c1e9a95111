//! `loomir run --interleave`: parallel iterations in random interleavings.

use std::collections::BTreeSet;

use crate::support::{loomir, shown};

/// The number of seeds that each program runs with.
const SEEDS: u64 = 16;

/// Calls a function of a program with these options. Returns its output, or the first line of its
/// error.
fn call(program: &str, entry: &str, options: &[&str]) -> String {
    let entry = format!("--entry={entry}");
    let output = loomir(&[&["run", "-", &entry], options].concat(), program.as_bytes());
    let text = if output.status.success() { &output.stdout } else { &output.stderr };
    let lines = String::from_utf8_lossy(text);
    let lines: Vec<&str> = lines.lines().take(if output.status.success() { 9 } else { 1 }).collect();
    lines.iter().map(|line| line.split(" digest").next().unwrap_or(line)).collect::<Vec<_>>().join("; ")
}

/// Returns the distinct outputs of interleavings.
fn outputs(program: &str, entry: &str, arguments: &[&str]) -> BTreeSet<String> {
    let output = |seed| {
        let seed = format!("--interleave={seed}");
        call(program, entry, &[arguments, &[seed.as_str()]].concat())
    };
    (0..SEEDS).map(output).collect()
}

/// All interleavings, with and without a search for races, must give what the order gives.
fn same(program: &str, entry: &str, arguments: &[&str], expected: &str) {
    assert_eq!(call(program, entry, arguments), expected);
    let with_races = [arguments, &["--races"]].concat();
    for seed in 0..SEEDS {
        let arguments = if seed % 2 == 0 { arguments } else { &with_races };
        let seed = format!("--interleave={seed}");
        assert_eq!(call(program, entry, &[arguments, &[&seed]].concat()), expected, "{seed} {arguments:?}");
    }
}

const COUNT: &str = "\
func.func @count(%a: memref<1xi32>) {
  %c1 = arith.constant 1 : i32
  affine.parallel (%i) = (0) to (8) {
    %x = affine.load %a[0] : memref<1xi32>
    %y = arith.addi %x, %c1 : i32
    affine.store %y, %a[0] : memref<1xi32>
  }
  return
}
";

#[test]
fn updates_that_race_are_lost_and_reported() {
    assert_eq!(call(COUNT, "count", &["--arg=zeros"]), "argument 0: [8]");
    let outputs = outputs(COUNT, "count", &["--arg=zeros"]);
    assert!(outputs.len() > 3, "{outputs:?}");
    let again = |seed| call(COUNT, "count", &["--arg=zeros", seed]);
    assert_eq!(again("--interleave=5"), again("--interleave=5"));
    insta::assert_snapshot!(shown(
        &["run", "-", "--entry=count", "--arg=zeros", "--races", "--interleave=1"],
        COUNT
    ));
}

#[test]
fn every_order_occurs() {
    let program = "\
func.func @last(%a: memref<1xindex>) {
  affine.parallel (%i, %j) = (0, 2) to (2, 6) step (1, 2) {
    %x = affine.apply affine_map<(i, j) -> (10 * i + j)>(%i, %j)
    affine.store %x, %a[0] : memref<1xindex>
  }
  return
}
";
    let expected = [2, 4, 12, 14].map(|last| format!("argument 0: [{last}]"));
    assert_eq!(outputs(program, "last", &["--arg=zeros"]), BTreeSet::from(expected));
}

#[test]
fn iterations_apart_give_the_same() {
    let program = "\
func.func @squares(%a: memref<6xi32>, %b: memref<6xi32>) {
  affine.parallel (%i) = (0) to (6) {
    %x = affine.load %a[%i] : memref<6xi32>
    %y = arith.muli %x, %x : i32
    affine.store %y, %b[5 - %i] : memref<6xi32>
  }
  return
}
func.func @forall(%a: memref<2x3xindex>) {
  scf.forall (%i, %j) = (0, 1) to (2, 3) step (1, 1) {
    %s = arith.addi %i, %j : index
    memref.store %s, %a[%i, %j] : memref<2x3xindex>
  }
  return
}
";
    let squares = "argument 0: [0, 1, 2, 3, 4, 5]; argument 1: [25, 16, 9, 4, 1, 0]";
    same(program, "squares", &["--arg=iota", "--arg=zeros"], squares);
    same(program, "forall", &["--arg=zeros"], "argument 0: [[0, 1, 2], [0, 2, 3]]");
}

#[test]
fn atomic_updates_are_not_lost() {
    let program = "\
func.func @atomics(%a: memref<2xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1 : i32
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %old = memref.atomic_rmw addi %one, %a[%c0] : (i32, memref<2xi32>) -> i32
    %older = memref.generic_atomic_rmw %a[%c1] : memref<2xi32> {
    ^bb0(%x: i32):
      %y = arith.addi %x, %one : i32
      %z = arith.addi %y, %one : i32
      memref.atomic_yield %z : i32
    }
  }
  return
}
";
    same(program, "atomics", &["--arg=zeros"], "argument 0: [8, 16]");
    // A load beside the update of another iteration is a race.
    let load = "%x = memref.load %a[%c0] : memref<2xi32>\n    memref.store %x, %a[%i]";
    let program = format!(
        "{}{load} : memref<2xi32>\n  }}\n  return\n}}\n",
        program.replace("(%c8)", "(%c1)").split("%older").next().unwrap_or_default()
    );
    same(&program, "atomics", &["--arg=zeros"], "argument 0: [1, 0]");
    let raced = call(&program.replace("to (%c1)", "to (%c8)"), "atomics", &["--arg=zeros", "--races"]);
    assert_eq!(
        raced,
        "error: iterations (0) and (1) of a parallel loop race for one element: (1) updates it"
    );
}

/// The spinning iteration waits for the other one. In order it would wait for ever.
#[test]
fn iterations_that_wait_for_each_other_end() {
    let program = "\
func.func @wait(%a: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.parallel (%i) = (%c0) to (%c2) step (%c1) {
    %first = arith.cmpi eq, %i, %c0 : index
    scf.if %first {
      scf.while : () -> () {
        %x = memref.atomic_rmw addi %zero, %a[%c0] : (i32, memref<1xi32>) -> i32
        %more = arith.cmpi eq, %x, %zero : i32
        scf.condition(%more)
      } do {
        scf.yield
      }
    } else {
      %x = memref.atomic_rmw assign %one, %a[%c0] : (i32, memref<1xi32>) -> i32
    }
  }
  return
}
";
    let arguments = ["--arg=zeros", "--max-steps=10000"];
    assert_eq!(call(program, "wait", &arguments), "error: step limit reached");
    assert_eq!(outputs(program, "wait", &arguments), BTreeSet::from(["argument 0: [1]".to_owned()]));
}

const REDUCE: &str = "\
func.func @reduce(%a: memref<8xi32>) -> (i32, i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:2 = scf.parallel (%i) = (%c0) to (%c8) step (%c1) init (%zero, %one) -> (i32, i32) {
    %x = memref.load %a[%i] : memref<8xi32>
    scf.reduce(%x, %x : i32, i32) {
    ^bb0(%l: i32, %q: i32):
      %s = arith.addi %l, %q : i32
      scf.reduce.return %s : i32
    }, {
    ^bb0(%l: i32, %q: i32):
      %s = arith.muli %l, %q : i32
      scf.reduce.return %s : i32
    }
  }
  return %r#0, %r#1 : i32, i32
}
";

#[test]
fn reductions_combine_atomically() {
    let expected = "result 0: 36; result 1: 40320; argument 0: [1, 2, 3, 4, 5, 6, 7, 8]";
    same(REDUCE, "reduce", &["--arg=iota+1"], expected);
    // A difference depends on the order.
    let difference = REDUCE.replace("arith.muli %l, %q", "arith.subi %q, %l");
    assert!(outputs(&difference, "reduce", &["--arg=iota"]).len() > 3);
}

/// Both levels change elements and combine values.
const NESTED: &str = "\
func.func @nested(%a: memref<3x4xi32>) -> i32 {
  %s = affine.parallel (%i) = (0) to (3) reduce (\"addi\") -> i32 {
    %t = affine.parallel (%j) = (0) to (4) reduce (\"ori\") -> i32 {
      %x = affine.load %a[%i, %j] : memref<3x4xi32>
      %y = arith.addi %x, %x : i32
      affine.store %y, %a[%i, %j] : memref<3x4xi32>
      affine.yield %y : i32
    }
    %x = affine.load %a[%i, 0] : memref<3x4xi32>
    %u = arith.addi %t, %x : i32
    affine.yield %u : i32
  }
  return %s : i32
}
";

#[test]
fn parallel_loops_nest() {
    let rows = "[[0, 2, 4, 6], [8, 10, 12, 14], [16, 18, 20, 22]]";
    same(NESTED, "nested", &["--arg=iota"], &format!("result 0: 66; argument 0: {rows}"));
    // Iterations of the inner loop race, those of the outer one do not.
    let inner = NESTED.replace("%a[%i, %j]", "%a[%i, 1]");
    assert!(outputs(&inner, "nested", &["--arg=iota"]).len() > 3);
    for seed in [&["--races"][..], &["--races", "--interleave=7"]] {
        let raced = call(&inner, "nested", &[&["--arg=iota"], seed].concat());
        assert!(
            raced.starts_with("error: iterations (") && raced.contains("race for one element"),
            "{raced}"
        );
    }
}

#[test]
fn iterations_call_functions_and_have_memory_of_their_own() {
    let program = "\
func.func private @fib(%n: i32) -> i32 {
  %c2 = arith.constant 2 : i32
  %c1 = arith.constant 1 : i32
  %small = arith.cmpi slt, %n, %c2 : i32
  %r = scf.if %small -> i32 {
    scf.yield %n : i32
  } else {
    %p = arith.subi %n, %c1 : i32
    %q = arith.subi %n, %c2 : i32
    %x = func.call @fib(%p) : (i32) -> i32
    %y = func.call @fib(%q) : (i32) -> i32
    %z = arith.addi %x, %y : i32
    scf.yield %z : i32
  }
  return %r : i32
}
func.func @calls(%a: memref<8xi32>) {
  affine.parallel (%i) = (0) to (8) {
    %n = arith.index_cast %i : index to i32
    %x = func.call @fib(%n) : (i32) -> i32
    affine.store %x, %a[%i] : memref<8xi32>
  }
  return
}
func.func @own(%a: memref<4xindex>) {
  affine.parallel (%i) = (0) to (4) {
    %t = memref.alloca() : memref<4xindex>
    affine.for %k = 0 to 4 {
      %s = arith.muli %i, %k : index
      affine.store %s, %t[%k] : memref<4xindex>
    }
    %x = affine.load %t[3] : memref<4xindex>
    affine.store %x, %a[%i] : memref<4xindex>
  }
  return
}
// Calls itself in the first of two iterations.
func.func @deep(%n: index, %a: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %one = arith.constant 1 : i32
  %old = memref.atomic_rmw addi %one, %a[%c0] : (i32, memref<1xi32>) -> i32
  scf.parallel (%i) = (%c0) to (%c2) step (%c1) {
    %first = arith.cmpi ult, %i, %n : index
    %more = arith.cmpi eq, %i, %c0 : index
    %both = arith.andi %first, %more : i1
    scf.if %both {
      %m = arith.subi %n, %c1 : index
      func.call @deep(%m, %a) : (index, memref<1xi32>) -> ()
    }
  }
  return
}
";
    same(program, "calls", &["--arg=zeros"], "argument 0: [0, 1, 1, 2, 3, 5, 8, 13]");
    same(program, "own", &["--arg=zeros"], "argument 0: [0, 3, 6, 9]");
    same(program, "deep", &["--arg=50", "--arg=zeros"], "argument 1: [51]");
    let limit = "error: call depth limit of 4096 reached";
    same(program, "deep", &["--arg=5000", "--arg=zeros"], limit);
}

/// A fault of an iteration has its place and the calls around it, also those around the loop.
#[test]
fn a_fault_in_an_iteration() {
    let program = "\
func.func private @put(%a: memref<8xindex>, %i: index) {
  memref.store %i, %a[%i] : memref<8xindex>
  return
}
func.func private @all(%a: memref<8xindex>) {
  affine.parallel (%i) = (0) to (9) {
    func.call @put(%a, %i) : (memref<8xindex>, index) -> ()
  }
  return
}
func.func @main(%a: memref<8xindex>) {
  func.call @all(%a) : (memref<8xindex>) -> ()
  return
}
";
    let arguments = ["run", "-", "--entry=main", "--arg=zeros"];
    let expected = shown(&arguments, program);
    for seed in 0..SEEDS {
        let seed = format!("--interleave={seed}");
        assert_eq!(shown(&[&arguments[..], &[&seed]].concat(), program), expected);
    }
    insta::assert_snapshot!(expected);
}

/// A run takes as many steps as in order.
#[test]
fn the_step_limit_is_exact() {
    let program = "\
func.func @steps(%a: memref<8xindex>) {
  affine.parallel (%i) = (0) to (8) {
    affine.store %i, %a[%i] : memref<8xindex>
  }
  return
}
";
    let limited = |steps: &str| call(program, "steps", &["--arg=zeros", "--interleave=3", steps]);
    // The loop, a store and a terminator in each iteration, and the return.
    assert_eq!(limited("--max-steps=18"), "argument 0: [0, 1, 2, 3, 4, 5, 6, 7]");
    assert_eq!(limited("--max-steps=17"), "error: step limit reached");
}

#[test]
fn ranges_that_are_empty_or_reach_the_ends_of_numbers() {
    let program = "\
func.func @range(%a: memref<4xindex>, %l: index, %u: index, %s: index) {
  %c62 = arith.constant 62 : index
  scf.parallel (%i) = (%l) to (%u) step (%s) {
    %k = arith.shrui %i, %c62 : index
    memref.store %i, %a[%k] : memref<4xindex>
  }
  return
}
";
    let least = "--arg=-9223372036854775808";
    let whole = [least, "--arg=4611686018427387904", "--arg=4611686018427387904"];
    let range = |bounds: [&'static str; 3]| [&["--arg=zeros"][..], &bounds].concat();
    let expected = "argument 0: [0, 0, -9223372036854775808, -4611686018427387904]";
    same(program, "range", &range(whole), expected);
    same(program, "range", &range(["--arg=5", "--arg=5", "--arg=1"]), "argument 0: [0, 0, 0, 0]");
    let over = range(["--arg=0", "--arg=9223372036854775807", "--arg=9223372036854775800"]);
    let overflow = "error: the induction variable of a loop overflows 64 bits: \
                    9223372036854775800 + 9223372036854775800";
    same(program, "range", &over, overflow);
    same(
        program,
        "range",
        &range(["--arg=0", "--arg=5", "--arg=0"]),
        "error: the step of a loop is 0, and must be positive",
    );
    let all = [&range([least, "--arg=9223372036854775807", "--arg=1"])[..], &["--max-steps=9999"]].concat();
    assert_eq!(outputs(program, "range", &all), BTreeSet::from(["error: step limit reached".to_owned()]));
}

/// The stack of a function is shared by the iterations of its loops.
#[test]
fn the_stack_around_a_loop() {
    let program = "\
llvm.func @LEAVE(%p: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %one = llvm.mlir.constant(1 : i32) : i32
  %around = llvm.intr.stacksave : !llvm.ptr
  %q = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %own = llvm.intr.stacksave : !llvm.ptr
    %r = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
    llvm.store %one, %r : i32, !llvm.ptr
    %x = llvm.load %r : !llvm.ptr -> i32
    %old = llvm.atomicrmw add %p, %x monotonic : !llvm.ptr, i32
    BODY
  }
  llvm.return %one : i32
}
";
    let run = |body: &str, expected: &str| {
        let program = program.replace("LEAVE", "f").replace("BODY", body);
        let outputs = outputs(&program, "f", &["--arg=zeros : memref<4xi8>"]);
        assert_eq!(outputs, BTreeSet::from([expected.to_owned()]));
    };
    run("llvm.intr.stackrestore %own : !llvm.ptr", "result 0: 1; argument 0: [8, 0, 0, 0]");
    run("", "result 0: 1; argument 0: [8, 0, 0, 0]");
    run(
        "llvm.intr.stackrestore %around : !llvm.ptr",
        "error: an iteration of a parallel loop ends stack objects from outside of the loop",
    );
    run(
        "scf.execute_region {\n      llvm.return %one : i32\n    }",
        "error: an iteration of a parallel loop returns from the function",
    );
}

/// Accesses other than of single elements race too.
#[test]
fn races_of_ranges() {
    let racing = |body: &str, arguments: &[&str]| {
        let program = format!(
            "func.func @f(%a: memref<8xi32>, %b: memref<8xi32>) {{\n  affine.parallel (%i) = (0) to (2) {{\n    \
             {body}\n  }}\n  return\n}}\n"
        );
        call(&program, "f", &[&["--arg=iota", "--arg=iota", "--races"], arguments].concat())
    };
    for body in [
        "memref.copy %a, %b : memref<8xi32> to memref<8xi32>",
        "%v = affine.vector_load %a[%i] : memref<8xi32>, vector<4xi32>\n    \
         affine.vector_store %v, %b[%i] : memref<8xi32>, vector<4xi32>",
        "linalg.add ins(%a, %a : memref<8xi32>, memref<8xi32>) outs(%b : memref<8xi32>)",
    ] {
        for seed in [&[][..], &["--interleave=4"]] {
            let raced = racing(body, seed);
            assert!(raced.contains("race for one element"), "{body}: {raced}");
        }
    }
}

#[test]
fn options_that_do_not_go_together() {
    for option in ["--engine=jit", "--profile=counts.mlir", "--order=order.svg", "--interleave=many"] {
        let seed = if option.starts_with("--interleave") { "--races" } else { "--interleave=1" };
        let output = loomir(&["run", "-", "--entry=count", "--arg=zeros", seed, option], COUNT.as_bytes());
        assert_eq!(output.status.code(), Some(2), "{option}");
    }
}
