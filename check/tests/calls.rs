//! Proofs about functions of LLVM that call each other: bodies are read in place.

use crate::support;
use crate::support::{parse, told};
use loomir_check::proof::{ProofOptions, prove};
use loomir_ir::symbols::lookup;

/// Says what comes of a proof about `@f` of two programs by data flow alone.
fn answer(before: &str, after: &str) -> String {
    let ctx = loomir_dialects::context();
    let [before, after] = [before, after].map(|text| parse(&ctx, text));
    let [f, g] = [&before, &after].map(|module| lookup(module, "f").expect("the function"));
    told(&ctx, &prove(&before, f, &after, g, &ProofOptions::default()))
}

/// Proves a pair, and shows that no wrong edit of the second program is proved.
fn equal_but_not_with(before: &str, after: &str, wrong: &[(&str, &str)]) {
    support::equal_but_not_with(answer, before, after, wrong);
}

/// A function with loops, called for an array on the stack and for one of the caller.
const CALLS: &str = "llvm.func @fill(%a: !llvm.ptr, %n: i64, %by: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp \"slt\" %i, %n : i64
  llvm.cond_br %more, ^body, ^end
^body:
  %p = llvm.getelementptr inbounds %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %v = llvm.mul %i, %by : i64
  llvm.store %v, %p : i64, !llvm.ptr
  %next = llvm.add %i, %one overflow<nsw> : i64
  llvm.br ^head(%next : i64)
^end:
  llvm.return
}
llvm.func @last(%a: !llvm.ptr, %n: i64) -> i64 {
  %one = llvm.mlir.constant(1 : i64) : i64
  %i = llvm.sub %n, %one : i64
  %p = llvm.getelementptr inbounds %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %v = llvm.load %p : !llvm.ptr -> i64
  llvm.return %v : i64
}
llvm.func @f(%b: !llvm.ptr, %n: i64) -> i64 {
  %one = llvm.mlir.constant(1 : i64) : i64
  %three = llvm.mlir.constant(3 : i64) : i64
  %ten = llvm.mlir.constant(10 : i64) : i64
  %a = llvm.alloca %ten x i64 : (i64) -> !llvm.ptr
  llvm.call @fill(%b, %n, %three) : (!llvm.ptr, i64, i64) -> ()
  llvm.call @fill(%a, %ten, %one) : (!llvm.ptr, i64, i64) -> ()
  %r = llvm.call @last(%a, %ten) : (!llvm.ptr, i64) -> i64
  llvm.return %r : i64
}";

/// The same without the calls. Only the loop over the array of the caller is left.
const NONE: &str = "llvm.func @f(%b: !llvm.ptr, %n: i64) -> i64 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %three = llvm.mlir.constant(3 : i64) : i64
  %nine = llvm.mlir.constant(9 : i64) : i64
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp \"slt\" %i, %n : i64
  llvm.cond_br %more, ^body, ^end
^body:
  %p = llvm.getelementptr inbounds %b[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %v = llvm.mul %i, %three : i64
  llvm.store %v, %p : i64, !llvm.ptr
  %next = llvm.add %i, %one overflow<nsw> : i64
  llvm.br ^head(%next : i64)
^end:
  llvm.return %nine : i64
}";

#[test]
fn calls_are_read_in_place() {
    let of_calls = [
        ("@fill(%b, %n, %three)", "@fill(%b, %n, %one)"),
        ("@fill(%b, %n, %three)", "@fill(%b, %ten, %three)"),
        ("@fill(%a, %ten, %one)", "@fill(%a, %n, %one)"),
        ("@fill(%a, %ten, %one)", "@fill(%b, %ten, %one)"),
        ("llvm.mul %i, %by", "llvm.add %i, %by"),
        ("\"slt\" %i", "\"sle\" %i"),
        ("llvm.sub %n", "llvm.add %n"),
        ("llvm.call @last", "llvm.call tail @last"),
        ("llvm.call @last", "llvm.call fastcc @last"),
        ("@last(%a: !llvm.ptr, %n: i64)", "@last(%a: !llvm.ptr, %n: i64 {llvm.noundef})"),
        ("llvm.func @last", "llvm.func weak @last"),
        (
            "-> i64 {\n  %one = llvm.mlir.constant(1 : i64) : i64\n  %i",
            "-> i64 attributes {memory_effects = #llvm.memory_effects<other = none, argMem = none, \
             inaccessibleMem = none>} {\n  %one = llvm.mlir.constant(1 : i64) : i64\n  %i",
        ),
    ];
    equal_but_not_with(NONE, CALLS, &of_calls);
    let of_none = [("constant(9", "constant(8"), ("constant(3", "constant(4"), ("\"slt\" %i", "\"sle\" %i")];
    equal_but_not_with(CALLS, NONE, &of_none);
}

#[test]
fn functions_that_call_themselves_are_not_read() {
    let endless = "llvm.func @g(%n: i64) {
  llvm.call @g(%n) : (i64) -> ()
  llvm.return
}
llvm.func @f(%n: i64) {
  llvm.call @g(%n) : (i64) -> ()
  llvm.return
}";
    let none = "llvm.func @f(%n: i64) {
  llvm.return
}";
    let said = answer(none, endless);
    assert!(said.contains("calls are nested too deep"), "{said}");
    let said = answer(endless, none);
    assert!(said.contains("calls are nested too deep"), "{said}");
}

#[test]
fn what_a_call_leaves_is_not_forgotten() {
    // A function that may not end is no function that does nothing.
    let waits = "llvm.func @g(%n: i64) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  llvm.br ^head
^head:
  %c = llvm.icmp \"slt\" %n, %zero : i64
  llvm.cond_br %c, ^head, ^end
^end:
  llvm.return
}
llvm.func @f(%n: i64) {
  llvm.call @g(%n) : (i64) -> ()
  llvm.return
}";
    let none = "llvm.func @f(%n: i64) {
  llvm.return
}";
    for [before, after] in [[none, waits], [waits, none]] {
        let said = answer(before, after);
        assert!(said.starts_with("undecided"), "{said}");
    }
    // Memory of the function called is gone behind it.
    let pointer = "llvm.func @g() -> !llvm.ptr {
  %one = llvm.mlir.constant(1 : i64) : i64
  %a = llvm.alloca %one x i64 : (i64) -> !llvm.ptr
  llvm.store %one, %a : i64, !llvm.ptr
  llvm.return %a : !llvm.ptr
}
llvm.func @f() -> i64 {
  %a = llvm.call @g() : () -> !llvm.ptr
  %v = llvm.load %a : !llvm.ptr -> i64
  llvm.return %v : i64
}";
    let number = "llvm.func @f() -> i64 {
  %one = llvm.mlir.constant(1 : i64) : i64
  llvm.return %one : i64
}";
    let said = answer(number, pointer);
    assert!(said.contains("pointer to its own memory"), "{said}");
}
