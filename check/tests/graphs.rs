//! Proofs about control-flow graphs and pointers: what is proved, and that nothing wrong is.

use crate::support;
use crate::support::{parse, prove_named, told};
use loomir_check::proof::ProofOptions;

/// Says what comes of a proof about `@f` of two programs.
fn answer(before: &str, after: &str) -> String {
    let ctx = loomir_dialects::context();
    let (before, after) = (parse(&ctx, before), parse(&ctx, after));
    let proof = prove_named(&before, &after, "f", &ProofOptions::default()).expect("both functions");
    told(&ctx, &proof)
}

/// Proves a pair, and shows that no wrong edit of the second program is proved.
fn equal_but_not_with(before: &str, after: &str, wrong: &[(&str, &str)]) {
    support::equal_but_not_with(answer, before, after, wrong);
}

/// Refuses a pair, for a reason.
fn not_decided(before: &str, after: &str, reason: &str) {
    let said = answer(before, after);
    assert!(said.starts_with("undecided") && said.contains(reason), "{said}");
}

/// `for (i = 0; i < n; i++) a[i] = a[i] + s`, tested at the top.
const TOP: &str = "llvm.func @f(%a: !llvm.ptr, %s: f32, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp \"slt\" %i, %n : i64
  llvm.cond_br %more, ^body, ^end
^body:
  %p = llvm.getelementptr inbounds %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> f32
  %w = llvm.fadd %v, %s : f32
  llvm.store %w, %p {alignment = 4 : i64} : f32, !llvm.ptr
  %next = llvm.add %i, %one overflow<nsw> : i64
  llvm.br ^head(%next : i64)
^end:
  llvm.return
}";

/// The same, tested at the bottom behind a guard.
const BOTTOM: &str = "llvm.func @f(%a: !llvm.ptr, %s: f32, %n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %some = llvm.icmp \"sgt\" %n, %zero : i64
  llvm.cond_br %some, ^body(%zero : i64), ^end
^body(%i: i64):
  %p = llvm.getelementptr inbounds %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> f32
  %w = llvm.fadd %v, %s : f32
  llvm.store %w, %p {alignment = 4 : i64} : f32, !llvm.ptr
  %next = llvm.add %i, %one overflow<nsw> : i64
  %more = llvm.icmp \"slt\" %next, %n : i64
  llvm.cond_br %more, ^body(%next : i64), ^end
^end:
  llvm.return
}";

#[test]
fn rotated_loops() {
    let wrong = [
        ("\"sgt\" %n, %zero", "\"sge\" %n, %zero"),
        ("\"slt\" %next", "\"sle\" %next"),
        ("\"slt\" %next", "\"slt\" %i"),
        ("constant(1 ", "constant(2 "),
        ("constant(0 ", "constant(1 "),
        ("%a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32", "%a[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32"),
        ("%a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32", "%a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f64"),
        ("llvm.cond_br %some, ^body(%zero : i64), ^end", "llvm.br ^body(%zero : i64)"),
        ("^body(%next : i64), ^end\n^end", "^end, ^body(%next : i64)\n^end"),
        ("alignment = 4", "alignment = 8"),
        ("llvm.fadd %v, %s", "llvm.fadd %v, %s {fastmathFlags = #llvm.fastmath<nnan>}"),
        ("llvm.store %w, %p {alignment = 4 : i64} : f32, !llvm.ptr", ""),
        ("llvm.store %w, %p", "llvm.store %v, %p"),
        ("llvm.store %w, %p", "llvm.store volatile %w, %p"),
    ];
    equal_but_not_with(TOP, BOTTOM, &wrong);
    equal_but_not_with(BOTTOM, TOP, &[("\"slt\"", "\"sle\""), ("\"slt\"", "\"ult\""), ("\"slt\"", "\"ne\"")]);
}

#[test]
fn counters_that_are_compared_otherwise() {
    // Behind the guard the counter reaches its bound, so it may be compared as unsigned or for
    // equality; and without the flag it does not wrap either.
    for other in ["\"ne\" %next", "\"ult\" %next", "\"ugt\" %n, %next :i64//"] {
        assert!(answer(TOP, &BOTTOM.replace("\"slt\" %next", other)).starts_with("equal"), "{other}");
    }
    assert!(answer(TOP, &BOTTOM.replace(" overflow<nsw>", "")).starts_with("equal"));
    assert!(answer(TOP, &BOTTOM.replace("<nsw>", "<nsw, nuw>")).starts_with("equal"));
    let inverted = BOTTOM
        .replace("\"slt\" %next", "\"eq\" %next")
        .replace("%more, ^body(%next : i64), ^end", "%more, ^end, ^body(%next : i64)");
    assert!(answer(TOP, &inverted).starts_with("equal"));
}

#[test]
fn bounds_that_are_unsigned() {
    let unsigned = TOP.replace("\"slt\"", "\"ult\"").replace("<nsw>", "<nuw>");
    let rotated = BOTTOM
        .replace("\"sgt\" %n, %zero", "\"ne\" %n, %zero")
        .replace("\"slt\" %next", "\"ult\" %next")
        .replace("<nsw>", "<nuw>");
    let said = "equal if bounds compared as unsigned are less than 2^63";
    assert_eq!(answer(&unsigned, &rotated), said);
    assert_eq!(answer(&rotated, &unsigned), said);
    assert_eq!(answer(&unsigned, &rotated.replace("\"ult\" %next", "\"ne\" %next")), said);
    not_decided(&unsigned, &rotated.replace("\"ne\" %n, %zero", "\"ugt\" %n, %one"), "");
    // A bound that the original takes as signed may be negative.
    not_decided(TOP, &unsigned, "");
    let both = unsigned.replace(
        "llvm.br ^head(%zero : i64)\n^head",
        "%low = llvm.icmp \"slt\" %n, %zero : i64\n  llvm.cond_br %low, ^end, ^start\n^start:\n  llvm.br ^head(%zero : i64)\n^head",
    );
    assert!(!answer(&both, &unsigned).starts_with("equal"));
    assert!(answer(TOP, &both).starts_with("equal"));
}

#[test]
fn counters_that_go_down() {
    let down = TOP
        .replace("^head(%zero : i64)", "^head(%n : i64)")
        .replace("\"slt\" %i, %n", "\"sgt\" %i, %zero")
        .replace("[%i]", "[%at]")
        .replace("  %p =", "  %at = llvm.sub %i, %one overflow<nsw> : i64\n  %p =")
        .replace("llvm.add %i, %one", "llvm.sub %i, %one");
    let wrong = [
        ("\"sgt\" %i, %zero", "\"sgt\" %i, %one"),
        ("\"sgt\" %i, %zero", "\"sge\" %i, %zero"),
        ("[%at]", "[%i]"),
        ("^head(%n : i64)", "^head(%zero : i64)"),
    ];
    equal_but_not_with(TOP, &down, &wrong);
}

#[test]
fn loops_that_may_not_end_are_refused() {
    let plain = TOP.replace(" overflow<nsw>", "");
    let missed = "the counter may be beyond the bound that it is compared with";
    let unequal = plain.replace("\"slt\"", "\"ne\"");
    not_decided(TOP, &unequal, missed);
    not_decided(&unequal, TOP, missed);
    let step = TOP.replace("constant(1 ", "constant(3 ").replace("\"slt\"", "\"ne\"");
    not_decided(&step, TOP, "the counter may step over the bound that it is compared with");
    let stays = TOP.replace("llvm.add %i, %one overflow<nsw>", "llvm.add %i, %zero overflow<nsw>");
    not_decided(TOP, &stays, "the loop is not known to end");
    let inclusive = plain.replace("\"slt\"", "\"sle\"");
    not_decided(&inclusive, &inclusive.replace("%v, %s", "%s, %v"), "may wrap");
    let endless = TOP.replace("llvm.cond_br %more, ^body, ^end", "llvm.br ^body");
    not_decided(TOP, &endless, "the loop is never left");
}

#[test]
fn counters_that_wrap_before_their_test_are_no_fact() {
    // The low bits of a counter meet any bound, so nothing is known of `n` behind the loop.
    let cut = TOP.replace("%n: i64", "%n: i32").replace(
        "%more = llvm.icmp \"slt\" %i, %n : i64",
        "%low = llvm.trunc %i : i64 to i32\n  %more = llvm.icmp \"ne\" %low, %n : i32",
    );
    not_decided(&cut, &cut.replace("%v, %s", "%s, %v"), "the counter may be beyond");
    // So does a sum that may wrap, though the counter itself may not.
    let sum = TOP.replace(
        "%more = llvm.icmp \"slt\" %i, %n",
        "%sum = llvm.add %i, %one : i64\n  %more = llvm.icmp \"ne\" %sum, %n",
    );
    not_decided(&sum, &sum.replace("%v, %s", "%s, %v"), "the counter may be beyond");
    // Where the counter is compared itself, the original is undefined if it misses the bound.
    let itself = TOP.replace("\"slt\"", "\"ne\"");
    assert!(answer(&itself, TOP).starts_with("equal"));
    assert!(answer(&itself, BOTTOM).starts_with("equal"));
}

#[test]
fn several_numbers_of_one_frozen_value_are_refused() {
    let once = "llvm.func @f(%a: !llvm.ptr) -> i32 {
      %v = llvm.load %a {alignment = 4 : i64} : !llvm.ptr -> i32
      %x = llvm.freeze %v : i32
      %r = llvm.sub %x, %x : i32
      llvm.return %r : i32
    }";
    let twice = once.replace("%r =", "%y = llvm.freeze %v : i32\n      %r =").replace("%x, %x", "%x, %y");
    not_decided(once, &twice, "another number each time");
    assert!(answer(&twice, once).starts_with("equal"));
}

#[test]
fn addresses_of_32_bits_are_refused() {
    let narrow =
        |text: &str| format!("module attributes {{llvm.data_layout = \"e-p:32:32\"}} {{\n{text}\n}}");
    not_decided(&narrow(TOP), &narrow(BOTTOM), "addresses are not computed in 64 bits");
}

/// Two loops, the second reading what the first writes.
const TWO: &str = "llvm.func @f(%a: !llvm.ptr {llvm.noalias}, %b: !llvm.ptr {llvm.noalias}, %c: f64) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %end = llvm.mlir.constant(16 : i32) : i32
  llvm.br ^first(%zero : i32)
^first(%i: i32):
  %i.long = llvm.sext %i : i32 to i64
  %p = llvm.getelementptr inbounds %a[%i.long] : (!llvm.ptr, i64) -> !llvm.ptr, f64
  llvm.store %c, %p {alignment = 8 : i64} : f64, !llvm.ptr
  %i.next = llvm.add %i, %one overflow<nsw> : i32
  %i.more = llvm.icmp \"slt\" %i.next, %end : i32
  llvm.cond_br %i.more, ^first(%i.next : i32), ^second(%zero : i32)
^second(%j: i32):
  %j.long = llvm.sext %j : i32 to i64
  %q = llvm.getelementptr inbounds %a[%j.long] : (!llvm.ptr, i64) -> !llvm.ptr, f64
  %v = llvm.load %q {alignment = 8 : i64} : !llvm.ptr -> f64
  %w = llvm.fmul %v, %v : f64
  %r = llvm.getelementptr inbounds %b[%j.long] : (!llvm.ptr, i64) -> !llvm.ptr, f64
  llvm.store %w, %r {alignment = 8 : i64} : f64, !llvm.ptr
  %j.next = llvm.add %j, %one overflow<nsw> : i32
  %j.more = llvm.icmp \"slt\" %j.next, %end : i32
  llvm.cond_br %j.more, ^second(%j.next : i32), ^done
^done:
  llvm.return
}";

/// The loops of [`TWO`] as one, with a counter of 64 bits.
const ONE: &str = "llvm.func @f(%a: !llvm.ptr {llvm.noalias}, %b: !llvm.ptr {llvm.noalias}, %c: f64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %end = llvm.mlir.constant(16 : i64) : i64
  llvm.br ^first(%zero : i64)
^first(%i: i64):
  %p = llvm.getelementptr inbounds %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f64
  llvm.store %c, %p {alignment = 8 : i64} : f64, !llvm.ptr
  %v = llvm.load %p {alignment = 8 : i64} : !llvm.ptr -> f64
  %w = llvm.fmul %v, %v : f64
  %r = llvm.getelementptr inbounds %b[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f64
  llvm.store %w, %r {alignment = 8 : i64} : f64, !llvm.ptr
  %next = llvm.add %i, %one : i64
  %more = llvm.icmp \"ult\" %next, %end : i64
  llvm.cond_br %more, ^first(%next : i64), ^done
^done:
  llvm.return
}";

#[test]
fn fused_loops() {
    let ahead = "%n1 = llvm.add %i, %one : i64
  %q = llvm.getelementptr inbounds %a[%n1] : (!llvm.ptr, i64) -> !llvm.ptr, f64
  %v = llvm.load %q {alignment = 8";
    let wrong = [
        ("%v = llvm.load %p {alignment = 8", ahead),
        ("constant(16 ", "constant(15 "),
        ("constant(16 ", "constant(17 "),
        ("llvm.store %w, %r", "llvm.store %w, %p"),
        ("llvm.store %w, %r", "llvm.store %v, %r"),
        ("%b[%i]", "%a[%i]"),
        ("%b[%i]", "%b[%one]"),
        ("llvm.fmul %v, %v", "llvm.fadd %v, %v"),
    ];
    equal_but_not_with(TWO, ONE, &wrong);
    // Where the buffers may overlap, the order of the stores counts.
    let shared = |text: &str| text.replace(" {llvm.noalias}", "");
    not_decided(&shared(TWO), &shared(ONE), "");
}

#[test]
fn swapped_stores() {
    let pair = |first: &str, second: &str| {
        format!(
            "llvm.func @f(%a: !llvm.ptr, %b: !llvm.ptr, %x: i32, %y: i32) {{
               llvm.store {first} {{alignment = 4 : i64}} : i32, !llvm.ptr
               llvm.store {second} {{alignment = 4 : i64}} : i32, !llvm.ptr
               llvm.return
             }}"
        )
    };
    not_decided(&pair("%x, %a", "%y, %b"), &pair("%y, %b", "%x, %a"), "");
    not_decided(&pair("%x, %a", "%y, %a"), &pair("%y, %a", "%x, %a"), "");
    assert!(answer(&pair("%x, %a", "%y, %a"), &pair("%y, %a", "%y, %a")).starts_with("equal"));
}

/// A value that a branch chooses, and a store under it.
const CHOSEN: &str = "llvm.func @f(%a: !llvm.ptr, %n: i32, %x: i32, %y: i32) -> i32 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %c = llvm.icmp \"sgt\" %n, %zero : i32
  llvm.cond_br %c, ^yes, ^no(%y : i32)
^yes:
  llvm.store %x, %a {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.br ^no(%x : i32)
^no(%r: i32):
  llvm.return %r : i32
}";

#[test]
fn conditionals() {
    let other = CHOSEN
        .replace("\"sgt\" %n, %zero", "\"sle\" %n, %zero")
        .replace("^yes, ^no(%y : i32)", "^no(%y : i32), ^yes");
    let wrong = [
        ("\"sle\"", "\"slt\""),
        ("\"sle\"", "\"ule\""),
        ("^no(%x : i32)", "^no(%y : i32)"),
        ("^no(%y : i32)", "^no(%x : i32)"),
        ("llvm.store %x, %a", "llvm.store %y, %a"),
    ];
    equal_but_not_with(CHOSEN, &other, &wrong);
}

#[test]
fn branches_on_what_may_be_poison_are_refused() {
    // A loaded value may be poison: a choice is then poison, a branch is undefined.
    let chosen = "llvm.func @f(%a: !llvm.ptr, %x: i32, %y: i32) -> i32 {
      %zero = llvm.mlir.constant(0.0 : f32) : f32
      %v = llvm.load %a {alignment = 4 : i64} : !llvm.ptr -> f32
      %c = llvm.fcmp \"ogt\" %v, %zero : f32
      %r = llvm.select %c, %x, %y : i1, i32
      llvm.return %r : i32
    }";
    let branched = chosen.replace(
        "%r = llvm.select %c, %x, %y : i1, i32",
        "llvm.cond_br %c, ^end(%x : i32), ^end(%y : i32)
      ^end(%r: i32):",
    );
    assert!(answer(&branched, chosen).starts_with("equal"));
    not_decided(chosen, &branched, "may be poison");
}

#[test]
fn flags_are_not_added() {
    let with = |flags: &str| {
        format!(
            "llvm.func @f(%n: i32, %s: i32) -> i32 {{
               %r = llvm.mul %n, %s {flags} : i32
               %t = llvm.add %r, %s {flags} : i32
               llvm.return %t : i32
             }}"
        )
    };
    let (plain, flagged) = (with(""), with("overflow<nsw>"));
    not_decided(&plain, &flagged, "");
    assert!(answer(&flagged, &flagged.replace("@f", "@f ")).starts_with("equal"));
}

#[test]
fn addresses_do_not_leave_their_object_on_the_way() {
    let one = "llvm.func @f(%a: !llvm.ptr, %x: i32) {
      %p = llvm.getelementptr %a[2] : (!llvm.ptr) -> !llvm.ptr, i32
      llvm.store %x, %p {alignment = 4 : i64} : i32, !llvm.ptr
      llvm.return
    }";
    let two = one.replace(
        "%p = llvm.getelementptr %a[2] : (!llvm.ptr) -> !llvm.ptr, i32",
        "%q = llvm.getelementptr %a[9] : (!llvm.ptr) -> !llvm.ptr, i32
         %p = llvm.getelementptr %q[-7] : (!llvm.ptr) -> !llvm.ptr, i32",
    );
    assert!(answer(one, &two).starts_with("equal"));
    let promised = two.replace("llvm.getelementptr", "llvm.getelementptr inbounds");
    not_decided(one, &promised, "a pointer on the way");
    not_decided(one, &one.replace("llvm.getelementptr", "llvm.getelementptr inbounds"), "");
    assert!(
        answer(&one.replace("llvm.getelementptr", "llvm.getelementptr inbounds"), one).starts_with("equal")
    );
}

#[test]
fn graphs_of_other_dialects() {
    let graph = "func.func @f(%a: memref<?xf32>, %n: index) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %x = arith.constant 1.0 : f32
      cf.br ^head(%zero : index)
    ^head(%i: index):
      %more = arith.cmpi slt, %i, %n : index
      cf.cond_br %more, ^body, ^end
    ^body:
      memref.store %x, %a[%i] : memref<?xf32>
      %next = arith.addi %i, %one : index
      cf.br ^head(%next : index)
    ^end:
      return
    }";
    let structured = "func.func @f(%a: memref<?xf32>, %n: index) {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %x = arith.constant 1.0 : f32
      scf.for %i = %zero to %n step %one {
        memref.store %x, %a[%i] : memref<?xf32>
      }
      return
    }";
    equal_but_not_with(graph, structured, &[("%zero to", "%one to"), ("[%i]", "[%n]")]);
    equal_but_not_with(structured, graph, &[("slt", "sle"), ("constant 0 : i", "constant 1 : i")]);
}

#[test]
fn deep_and_wide_graphs_are_refused_soon() {
    let function = |blocks: String| {
        format!(
            "llvm.func @f(%a: !llvm.ptr, %c: i1, %x: i32) {{
               llvm.cond_br %c, ^l0, ^r0
             {blocks}}}"
        )
    };
    // Each block on the left is a conditional within the one before.
    let nested = |depth: usize| {
        let inner = (0..depth).map(|k| format!("^l{k}:\n  llvm.cond_br %c, ^l{}, ^r{}\n", k + 1, k + 1));
        let ends = (1..=depth).rev().map(|k| format!("^r{k}:\n  llvm.br ^r{}\n", k - 1));
        let store = format!("^l{depth}:\n  llvm.store %x, %a : i32, !llvm.ptr\n  llvm.br ^r{depth}\n");
        function(format!(
            "{}{store}{}^r0:\n  llvm.return\n",
            inner.collect::<String>(),
            ends.collect::<String>()
        ))
    };
    let loosened = |text: &str| text.replace("%a : i32", "%a {alignment = 1 : i64} : i32");
    assert!(answer(&nested(20), &loosened(&nested(20))).starts_with("equal"));
    not_decided(&nested(400), &loosened(&nested(400)), "nested too deep, or too large");
    // Two blocks on each level lead to both of the next one, so there are 2^40 ways.
    let pair = |k: usize| {
        let one = |side: &str| {
            format!(
                "^{side}{k}:\n  llvm.store %x, %a : i32, !llvm.ptr\n  llvm.cond_br %c, ^l{}, ^r{}\n",
                k + 1,
                k + 1
            )
        };
        one("l") + &one("r")
    };
    let ladder = (0..40).map(pair).collect::<String>() + "^l40:\n  llvm.br ^r40\n^r40:\n  llvm.return\n";
    let ladder = function(ladder);
    not_decided(&ladder, &loosened(&ladder), "nested too deep, or too large");
}

#[test]
fn values_that_a_loop_carries_may_be_constants() {
    let function = |alignment: &str| {
        format!(
            "llvm.func @f(%a: !llvm.ptr, %n: i64) {{
               %zero = llvm.mlir.constant(0 : i64) : i64
               %one = llvm.mlir.constant(1 : i64) : i64
               llvm.br ^head(%zero, %zero : i64, i64)
             ^head(%i: i64, %k: i64):
               %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
               llvm.store %k, %p{alignment} : i64, !llvm.ptr
               %next = llvm.add %i, %one overflow<nsw> : i64
               %more = llvm.icmp \"slt\" %next, %n : i64
               llvm.cond_br %more, ^head(%next, %one : i64, i64), ^end
             ^end:
               llvm.return
             }}"
        )
    };
    let answer = answer(&function(""), &function(" {alignment = 1 : i64}"));
    assert!(answer.starts_with("equal"), "{answer}");
}

/// `for (i = 0, k = 1; i < n; i++, k *= 3) for (j = 0; j < 8; j++) a[8 * i + j] = k`.
const NEST: &str = "llvm.func @f(%a: !llvm.ptr, %n: i64) -> i64 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %three = llvm.mlir.constant(3 : i64) : i64
  %eight = llvm.mlir.constant(8 : i64) : i64
  llvm.br ^outer(%zero, %one : i64, i64)
^outer(%i: i64, %k: i64):
  llvm.br ^inner(%zero : i64)
^inner(%j: i64):
  %row = llvm.mul %i, %eight overflow<nsw> : i64
  %at = llvm.add %row, %j overflow<nsw> : i64
  %p = llvm.getelementptr inbounds %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %k, %p : i64, !llvm.ptr
  %j1 = llvm.add %j, %one overflow<nsw, nuw> : i64
  %again = llvm.icmp \"ne\" %j1, %eight : i64
  llvm.cond_br %again, ^inner(%j1 : i64), ^latch
^latch:
  %k1 = llvm.mul %k, %three : i64
  %i1 = llvm.add %i, %one overflow<nsw, nuw> : i64
  %more = llvm.icmp \"ne\" %i1, %n : i64
  llvm.cond_br %more, ^outer(%i1, %k1 : i64, i64), ^end
^end:
  llvm.return %k1 : i64
}";

/// The nest with three outer iterations in one, and the rest behind it.
const JAMMED: &str = "llvm.func @f(%a: !llvm.ptr, %n: i64) -> i64 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %two = llvm.mlir.constant(2 : i64) : i64
  %three = llvm.mlir.constant(3 : i64) : i64
  %eight = llvm.mlir.constant(8 : i64) : i64
  %less = llvm.mlir.constant(-1 : i64) : i64
  %known = llvm.freeze %n : i64
  %last = llvm.add %known, %less : i64
  %count = llvm.add %last, %one : i64
  %over = llvm.urem %last, %three : i64
  %over1 = llvm.add %over, %one : i64
  %rest = llvm.urem %over1, %three : i64
  %most = llvm.sub %count, %rest : i64
  %few = llvm.icmp \"ult\" %last, %two : i64
  %some = llvm.icmp \"ne\" %rest, %zero : i64
  llvm.cond_br %few, ^before(%zero, %one : i64, i64), ^outer(%zero, %one, %zero : i64, i64, i64)
^outer(%i: i64, %k: i64, %t: i64):
  %k1 = llvm.mul %k, %three : i64
  %i1 = llvm.add %i, %one overflow<nsw, nuw> : i64
  %k2 = llvm.mul %k1, %three : i64
  %i2 = llvm.add %i1, %one overflow<nsw, nuw> : i64
  %k3 = llvm.mul %k2, %three : i64
  %i3 = llvm.add %i2, %one overflow<nsw, nuw> : i64
  llvm.br ^inner(%zero : i64)
^inner(%j: i64):
  %row = llvm.mul %i, %eight overflow<nsw> : i64
  %at = llvm.add %row, %j overflow<nsw> : i64
  %p = llvm.getelementptr inbounds %a[%at] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %k, %p : i64, !llvm.ptr
  %row1 = llvm.mul %i1, %eight overflow<nsw> : i64
  %at1 = llvm.add %row1, %j overflow<nsw> : i64
  %p1 = llvm.getelementptr inbounds %a[%at1] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %k1, %p1 : i64, !llvm.ptr
  %row2 = llvm.mul %i2, %eight overflow<nsw> : i64
  %at2 = llvm.add %row2, %j overflow<nsw> : i64
  %p2 = llvm.getelementptr inbounds %a[%at2] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %k2, %p2 : i64, !llvm.ptr
  %j1 = llvm.add %j, %one overflow<nsw, nuw> : i64
  %again = llvm.icmp \"ne\" %j1, %eight : i64
  llvm.cond_br %again, ^inner(%j1 : i64), ^latch
^latch:
  %t3 = llvm.add %t, %three : i64
  %more = llvm.icmp \"ne\" %t3, %most : i64
  llvm.cond_br %more, ^outer(%i3, %k3, %t3 : i64, i64, i64), ^after
^after:
  llvm.cond_br %some, ^before(%i3, %k3 : i64, i64), ^end(%k3 : i64)
^before(%l0: i64, %m0: i64):
  llvm.br ^rest(%l0, %m0 : i64, i64)
^rest(%l: i64, %m: i64):
  llvm.br ^deep(%zero : i64)
^deep(%o: i64):
  %line = llvm.mul %l, %eight overflow<nsw> : i64
  %to = llvm.add %line, %o overflow<nsw> : i64
  %q = llvm.getelementptr inbounds %a[%to] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %m, %q : i64, !llvm.ptr
  %o1 = llvm.add %o, %one overflow<nsw, nuw> : i64
  %deeper = llvm.icmp \"ne\" %o1, %eight : i64
  llvm.cond_br %deeper, ^deep(%o1 : i64), ^turn
^turn:
  %m1 = llvm.mul %m, %three : i64
  %l1 = llvm.add %l, %one overflow<nsw, nuw> : i64
  %left = llvm.icmp \"ne\" %l1, %n : i64
  llvm.cond_br %left, ^rest(%l1, %m1 : i64, i64), ^end(%m1 : i64)
^end(%r: i64):
  llvm.return %r : i64
}";

#[test]
fn jammed_nests_with_a_remainder() {
    let wrong = [
        ("%over1 = llvm.add %over, %one", "%over1 = llvm.add %over, %two"),
        ("%rest = llvm.urem %over1, %three", "%rest = llvm.urem %over1, %two"),
        ("%rest = llvm.urem %over1, %three", "%rest = llvm.add %over1, %zero"),
        ("\"ult\" %last, %two", "\"ult\" %last, %one"),
        ("%k3 = llvm.mul %k2, %three", "%k3 = llvm.mul %k1, %three"),
        ("%i3 = llvm.add %i2, %one", "%i3 = llvm.add %i2, %two"),
        ("%i3 = llvm.add %i2, %one", "%i3 = llvm.add %i1, %one"),
        ("%t3 = llvm.add %t, %three", "%t3 = llvm.add %t, %one"),
        ("%some, ^before(%i3, %k3", "%some, ^before(%i3, %k2"),
        ("%some, ^before(%i3, %k3 : i64, i64)", "%few, ^before(%i3, %k3 : i64, i64)"),
        ("llvm.store %k1, %p1", "llvm.store %k2, %p1"),
        ("llvm.store %k2, %p2", "llvm.store %k2, %p1"),
    ];
    equal_but_not_with(NEST, JAMMED, &wrong);
}
