//! Proofs by execution in step: what is proved, and that nothing wrong is.

#[path = "simulation/pairs.rs"]
mod attacks;

use crate::support;
use crate::support::{parse, told};
use attacks::PAIRS;
use loomir_check::simulation::prove;
use loomir_ir::symbols::lookup;

/// Says what comes of a proof about `@f` of two programs.
pub(crate) fn answer(before: &str, after: &str) -> String {
    let ctx = loomir_dialects::context();
    let [before, after] = [before, after].map(|text| parse(&ctx, text));
    let [f, g] = [&before, &after].map(|module| lookup(module, "f").expect("the function"));
    told(&ctx, &prove(&before, f, &after, g))
}

/// Proves a pair, and shows that no wrong edit of the second program is proved.
pub(crate) fn equal_but_not_with(before: &str, after: &str, wrong: &[(&str, &str)]) {
    support::equal_but_not_with(answer, before, after, wrong);
}

/// A loop over values that nothing is known of.
const LOOP: &str = "llvm.func @g(i32) -> i32
llvm.func @f(%n: i32, %p: !llvm.ptr) -> i32 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^loop(%zero, %n : i32, i32)
^loop(%i: i32, %s: i32):
  %v = llvm.load %p : !llvm.ptr -> i32
  %x = llvm.xor %s, %v : i32
  %y = llvm.call @g(%x) : (i32) -> i32
  llvm.store %y, %p : i32, !llvm.ptr
  %next = llvm.add %i, %one : i32
  %more = llvm.icmp \"slt\" %next, %n : i32
  llvm.cond_br %more, ^loop(%next, %y : i32, i32), ^end
^end:
  llvm.return %y : i32
}";

#[test]
fn an_iteration_is_peeled() {
    let peeled = "llvm.func @g(i32) -> i32
llvm.func @f(%n: i32, %p: !llvm.ptr) -> i32 {
  %one = llvm.mlir.constant(1 : i32) : i32
  %v = llvm.load %p : !llvm.ptr -> i32
  %x = llvm.xor %n, %v : i32
  %y = llvm.call @g(%x) : (i32) -> i32
  llvm.store %y, %p : i32, !llvm.ptr
  %more = llvm.icmp \"slt\" %one, %n : i32
  llvm.cond_br %more, ^loop(%one, %y : i32, i32), ^end(%y : i32)
^loop(%i: i32, %s: i32):
  %w = llvm.load %p : !llvm.ptr -> i32
  %z = llvm.xor %s, %w : i32
  %u = llvm.call @g(%z) : (i32) -> i32
  llvm.store %u, %p : i32, !llvm.ptr
  %next = llvm.add %i, %one : i32
  %again = llvm.icmp \"slt\" %next, %n : i32
  llvm.cond_br %again, ^loop(%next, %u : i32, i32), ^end(%u : i32)
^end(%out: i32):
  llvm.return %out : i32
}";
    equal_but_not_with(
        LOOP,
        peeled,
        &[
            ("^loop(%one, %y", "^loop(%n, %y"),
            ("llvm.xor %s, %w", "llvm.xor %w, %one"),
            ("llvm.store %u", "llvm.store %z"),
            ("^end(%u :", "^end(%z :"),
            ("\"slt\" %next", "\"sle\" %next"),
            ("llvm.add %i, %one : i32", "llvm.add %i, %one overflow<nsw> : i32"),
            ("llvm.call @g(%z)", "llvm.call @g(%s)"),
        ],
    );
}

#[test]
fn a_loop_is_unrolled_by_two() {
    let unrolled = "llvm.func @g(i32) -> i32
llvm.func @f(%n: i32, %p: !llvm.ptr) -> i32 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  llvm.br ^loop(%zero, %n : i32, i32)
^loop(%i: i32, %s: i32):
  %v = llvm.load %p : !llvm.ptr -> i32
  %x = llvm.xor %s, %v : i32
  %y = llvm.call @g(%x) : (i32) -> i32
  llvm.store %y, %p : i32, !llvm.ptr
  %next = llvm.add %i, %one : i32
  %more = llvm.icmp \"slt\" %next, %n : i32
  llvm.cond_br %more, ^second, ^end(%y : i32)
^second:
  %w = llvm.load %p : !llvm.ptr -> i32
  %z = llvm.xor %y, %w : i32
  %u = llvm.call @g(%z) : (i32) -> i32
  llvm.store %u, %p : i32, !llvm.ptr
  %last = llvm.add %i, %two : i32
  %again = llvm.icmp \"slt\" %last, %n : i32
  llvm.cond_br %again, ^loop(%last, %u : i32, i32), ^end(%u : i32)
^end(%out: i32):
  llvm.return %out : i32
}";
    equal_but_not_with(
        LOOP,
        unrolled,
        &[
            ("constant(2", "constant(3"),
            ("llvm.xor %y, %w", "llvm.xor %w, %x"),
            ("llvm.store %u, %p", "llvm.store volatile %u, %p"),
            ("^loop(%last, %u", "^loop(%next, %u"),
        ],
    );
}

/// A loop of three iterations with a condition that is known in each.
const THREE: &str = "llvm.func @f(%p: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %two = llvm.mlir.constant(2 : i64) : i64
  %three = llvm.mlir.constant(3 : i64) : i64
  llvm.br ^loop(%zero : i64)
^loop(%i: i64):
  %q = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %small = llvm.icmp \"ult\" %i, %two : i64
  llvm.cond_br %small, ^yes, ^no
^yes:
  llvm.store %i, %q : i64, !llvm.ptr
  llvm.br ^latch
^no:
  llvm.store %three, %q : i64, !llvm.ptr
  llvm.br ^latch
^latch:
  %next = llvm.add %i, %one overflow<nsw, nuw> : i64
  %more = llvm.icmp \"ult\" %next, %three : i64
  llvm.cond_br %more, ^loop(%next : i64), ^end
^end:
  llvm.return
}";

#[test]
fn a_loop_disappears() {
    let straight = "llvm.func @f(%p: !llvm.ptr) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %three = llvm.mlir.constant(3 : i64) : i64
  llvm.store %zero, %p : i64, !llvm.ptr
  %q = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %one, %q : i64, !llvm.ptr
  %r = llvm.getelementptr %p[2] : (!llvm.ptr) -> !llvm.ptr, i64
  llvm.store %three, %r : i64, !llvm.ptr
  llvm.return
}";
    equal_but_not_with(
        THREE,
        straight,
        &[
            ("%p[2]", "%p[3]"),
            ("llvm.store %one", "llvm.store %zero"),
            ("  llvm.store %three, %r : i64, !llvm.ptr\n", ""),
            ("llvm.return", "%l = llvm.load %r : !llvm.ptr -> i64\n  llvm.return"),
        ],
    );
}

#[test]
fn a_condition_of_the_rest_is_known() {
    let before = "llvm.func @g(i32)
llvm.func @f(%n: i32) {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  llvm.br ^loop(%zero : i32)
^loop(%i: i32):
  %first = llvm.icmp \"eq\" %i, %zero : i32
  %x = llvm.select %first, %n, %one : i1, i32
  llvm.call @g(%x) : (i32) -> ()
  %next = llvm.add %i, %one overflow<nuw> : i32
  %more = llvm.icmp \"ult\" %next, %n : i32
  llvm.cond_br %more, ^loop(%next : i32), ^end
^end:
  llvm.return
}";
    let after = "llvm.func @g(i32)
llvm.func @f(%n: i32) {
  %one = llvm.mlir.constant(1 : i32) : i32
  llvm.call @g(%n) : (i32) -> ()
  %more = llvm.icmp \"ult\" %one, %n : i32
  llvm.cond_br %more, ^loop(%one : i32), ^end
^loop(%i: i32):
  llvm.call @g(%one) : (i32) -> ()
  %next = llvm.add %i, %one overflow<nuw> : i32
  %again = llvm.icmp \"ult\" %next, %n : i32
  llvm.cond_br %again, ^loop(%next : i32), ^end
^end:
  llvm.return
}";
    equal_but_not_with(before, after, &[("call @g(%one)", "call @g(%i)")]);
    // A counter that goes by one meets the bound before it is zero again.
    let [before, after] = [before, after].map(|text| text.replace(" overflow<nuw>", "").replace("ult", "ne"));
    equal_but_not_with(&before, &after, &[("call @g(%one)", "call @g(%i)"), ("ne\" %one", "ne\" %n")]);
    // One that goes by two may miss it, wrap, and be zero again.
    let two = "%one = llvm.mlir.constant(1 : i32) : i32\n  %two = llvm.mlir.constant(2 : i32) : i32";
    let [before, after] = [before, after].map(|text| {
        let text = text.replace("%one = llvm.mlir.constant(1 : i32) : i32", two);
        text.replace("%i, %one", "%i, %two")
            .replace("ne\" %one", "ne\" %two")
            .replace("^loop(%one", "^loop(%two")
    });
    assert!(answer(&before, &after).starts_with("undecided"));
}

/// The first program stays at its loop while the second one goes through a block that jumps. It may
/// not stay while the second one goes round.
#[test]
fn a_program_waits_but_not_for_ever() {
    let before = "llvm.func @more(i32) -> i1
llvm.func @f(%n: i32) {
  %ten = llvm.mlir.constant(10 : i32) : i32
  llvm.br ^h(%n : i32)
^h(%x: i32):
  %y = llvm.mul %x, %ten : i32
  %c = llvm.call @more(%y) : (i32) -> i1
  llvm.cond_br %c, ^h(%y : i32), ^h(%y : i32)
}";
    let after = "llvm.func @more(i32) -> i1
llvm.func @f(%n: i32) {
  %ten = llvm.mlir.constant(10 : i32) : i32
  llvm.br ^h(%n : i32)
^h(%x: i32):
  %y = llvm.mul %x, %ten : i32
  %c = llvm.call @more(%y) : (i32) -> i1
  llvm.cond_br %c, ^second, ^second
^second:
  %z = llvm.mul %y, %ten : i32
  %d = llvm.call @more(%z) : (i32) -> i1
  llvm.cond_br %d, ^latch, ^latch
^latch:
  llvm.br ^h(%z : i32)
}";
    equal_but_not_with(
        before,
        after,
        &[
            ("llvm.br ^h(%z", "llvm.br ^h(%y"),
            ("llvm.mul %y, %ten", "llvm.mul %x, %ten"),
            ("llvm.call @more(%z)", "llvm.call @more(%y)"),
            ("llvm.br ^h(%z : i32)", "llvm.br ^latch"),
            ("llvm.br ^h(%z : i32)", "llvm.cond_br %d, ^latch, ^latch"),
            ("llvm.br ^h(%z : i32)", "llvm.cond_br %d, ^a, ^a\n^a:\n  llvm.cond_br %d, ^latch, ^latch"),
            (
                "llvm.br ^h(%z : i32)",
                "llvm.cond_br %d, ^a, ^a\n^a:\n  llvm.cond_br %d, ^b, ^b\n^b:\n  llvm.br ^latch",
            ),
            // Round and round through two blocks, without a branch that could be undefined.
            (
                "^latch, ^latch\n^latch:\n  llvm.br ^h(%z : i32)",
                "^latch, ^a\n^latch:\n  llvm.br ^a\n^a:\n  llvm.br ^latch",
            ),
        ],
    );
}

#[test]
fn poison_is_not_made() {
    let before = "llvm.func @f(%x: i32 {llvm.noundef}, %c: i1) -> i32 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  llvm.cond_br %c, ^a, ^b
^a:
  llvm.return %zero : i32
^b:
  llvm.return %x : i32
}";
    let after = |computed: &str| {
        format!(
            "llvm.func @f(%x: i32 {{llvm.noundef}}, %c: i1) -> i32 {{
  %one = llvm.mlir.constant(1 : i32) : i32
  {computed}
  llvm.cond_br %c, ^a, ^b
^a:
  %z = llvm.sub %v, %v : i32
  llvm.return %z : i32
^b:
  llvm.return %x : i32
}}"
        )
    };
    let plain = after("%v = llvm.add %x, %one : i32");
    assert!(answer(before, &plain).starts_with("equal"), "{}", answer(before, &plain));
    for wrong in [
        "%v = llvm.add %x, %one overflow<nsw> : i32",
        "%v = llvm.udiv %one, %x : i32",
        "%v = llvm.shl %one, %x : i32",
    ] {
        assert!(answer(before, &after(wrong)).starts_with("undecided"), "{wrong}");
    }
    // Without a promise an argument may be poison.
    let [before, after] = [before, &plain].map(|text| text.replace(" {llvm.noundef}", ""));
    assert!(answer(&before, &after).starts_with("undecided"));
}

#[test]
fn poison_disappears_and_does_not_come() {
    let program = |value: &str| {
        format!(
            "llvm.func @f(%x: i32, %y: i32) -> i32 {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  {value}
  %s = llvm.add %y, %v : i32
  llvm.return %s : i32
}}"
        )
    };
    let known = program("%v = llvm.xor %zero, %zero : i32");
    for value in ["%v = llvm.xor %x, %x : i32", "%v = llvm.sub %x, %x : i32", "%v = llvm.and %x, %zero : i32"]
    {
        let open = program(value);
        assert!(answer(&open, &known).starts_with("equal"), "{value}: {}", answer(&open, &known));
        assert!(answer(&known, &open).starts_with("undecided"), "{value}");
    }
}

#[test]
fn runs_that_differ_are_not_proved() {
    for pair in PAIRS {
        let program = |body: &str| {
            format!(
                "llvm.func @h()\nllvm.func @exit(i32)\nllvm.func @g(i32)
llvm.func @two(!llvm.ptr, !llvm.ptr)
llvm.func @f{} {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  %ten = llvm.mlir.constant(10 : i32) : i32
  {body}
}}",
                pair.head
            )
        };
        let mut edited = pair.body.to_owned();
        for (from, to) in pair.edits {
            assert!(edited.contains(from), "{}: no place for the edit {from}\n{edited}", pair.title);
            edited = edited.replacen(from, to, 1);
        }
        let [before, after] = [pair.body, &edited].map(program);
        let said = answer(&before, &after);
        assert!(said.starts_with("undecided"), "{}: {said}\n{after}", pair.title);
        // The first program is equal to itself, so the edit is refused. Poison hinders two
        // proofs.
        let said = answer(&before, &before);
        let hindered = ["freeze", "%v, %v : i32\n  %s"];
        let is_hindered = hindered.iter().any(|text| before.contains(text));
        assert_eq!(said.starts_with("equal"), !is_hindered, "{}: {said}", pair.title);
    }
}

/// A loop that is unrolled, and an operation behind it that is in both arms of a branch, or in one
/// place behind them. `@bar` has the attributes `said`.
fn in_one_place_or_two(operation: &str, said: &str) -> [String; 2] {
    let start = format!(
        "llvm.func @more() -> i1
llvm.func @bar() {said}
llvm.func @f(%c: i1 {{llvm.noundef}}, %p: !llvm.ptr, %a: f32, %b: f32) -> i32 {{
  %1 = llvm.mlir.constant(1 : i32) : i32
  %2 = llvm.mlir.constant(2 : i32) : i32
  llvm.br ^h
^h:
  %r = llvm.call @more() : () -> i1
"
    );
    let one = format!(
        "{start}  llvm.cond_br %r, ^h, ^e
^e:
  llvm.cond_br %c, ^a, ^b
^a:
  llvm.br ^m(%1 : i32)
^b:
  llvm.br ^m(%2 : i32)
^m(%x: i32):
  {operation}
  llvm.return %x : i32
}}"
    );
    let two = format!(
        "{start}  llvm.cond_br %r, ^again, ^e
^again:
  %s = llvm.call @more() : () -> i1
  llvm.cond_br %s, ^h, ^e
^e:
  llvm.cond_br %c, ^a, ^b
^a:
  {operation}
  llvm.return %1 : i32
^b:
  {operation}
  llvm.return %2 : i32
}}"
    );
    [one, two]
}

#[test]
fn calls_stay_where_they_are() {
    let call = "llvm.call @bar() : () -> ()";
    let [one, two] = in_one_place_or_two(call, "");
    let said = answer(&one, &two);
    assert!(said.starts_with("equal"), "{said}");
    let sum = "llvm.intr.fmuladd(%a, %b, %a) : (f32, f32, f32) -> f32";
    for (operation, attributes) in [
        ("llvm.call @bar() {convergent} : () -> ()", ""),
        ("llvm.call @bar() {passthrough = [\"convergent\"]} : () -> ()", ""),
        ("llvm.call @bar() {noduplicate} : () -> ()", ""),
        (call, "attributes {passthrough = [\"convergent\"]}"),
        (call, "attributes {passthrough = [\"noduplicate\"]}"),
        (call, "attributes {passthrough = [\"returns_twice\"]}"),
        ("llvm.call_intrinsic \"llvm.nvvm.barrier0\"() : () -> ()", ""),
        ("llvm.inline_asm has_side_effects \"bar.sync 0\", \"\" : () -> ()", ""),
        (sum, ""),
    ] {
        let [one, two] = in_one_place_or_two(operation, attributes);
        let said = answer(&one, &two);
        assert!(said.starts_with("undecided"), "{operation} {attributes}: {said}");
    }
}

/// Another thread may write between two loads.
#[test]
fn two_atomic_loads_are_two_values() {
    let load = |name: &str, how: &str| {
        format!("{name} = llvm.load %p {how} {{alignment = 4 : i64}} : !llvm.ptr -> i32")
    };
    let start = "llvm.func @f(%p: !llvm.ptr) -> i32 {
  %0 = llvm.mlir.constant(0 : i32) : i32
  %1 = llvm.mlir.constant(1 : i32) : i32
";
    let programs = |how: &str| {
        let once = format!(
            "{start}  {}
  %c = llvm.icmp \"eq\" %x, %0 : i32
  llvm.cond_br %c, ^a, ^b
^a:
  llvm.return %0 : i32
^b:
  llvm.return %1 : i32
}}",
            load("%x", how)
        );
        let twice = format!(
            "{start}  {}
  %c = llvm.icmp \"eq\" %x, %0 : i32
  llvm.cond_br %c, ^a, ^b
^a:
  {}
  %d = llvm.icmp \"eq\" %y, %0 : i32
  llvm.cond_br %d, ^z, ^never
^z:
  llvm.return %0 : i32
^never:
  llvm.unreachable
^b:
  llvm.return %1 : i32
}}",
            load("%x", how),
            load("%y", how)
        );
        answer(&once, &twice)
    };
    let plain = programs("");
    assert!(plain.starts_with("equal"), "{plain}");
    let atomic = programs("atomic unordered");
    assert!(atomic.starts_with("undecided"), "{atomic}");
}
