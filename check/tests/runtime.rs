//! Proofs in step that need numbers: loops unrolled at run time, and values that are frozen.

use crate::simulation::{answer, equal_but_not_with};

const LOOP: &str = "llvm.func @g(i32)
llvm.func @f(%x: i32 {llvm.noundef}, %n: i32) -> i32 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %ten = llvm.mlir.constant(10 : i32) : i32
  llvm.br ^head(%zero, %x : i32, i32)
^head(%i: i32, %s: i32):
  %p = llvm.mul %s, %ten : i32
  %q = llvm.xor %p, %i : i32
  llvm.call @g(%q) : (i32) -> ()
  %next = llvm.add %i, %one : i32
  %more = llvm.icmp \"slt\" %next, %n : i32
  llvm.cond_br %more, ^head(%next, %q : i32, i32), ^exit
^exit:
  llvm.return %q : i32
}";

/// The loop with two iterations at once, and one more behind if their number is odd.
const BY_TWO: &str = "llvm.func @g(i32)
llvm.func @f(%x: i32 {llvm.noundef}, %n: i32) -> i32 {
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  %ten = llvm.mlir.constant(10 : i32) : i32
  %known = llvm.freeze %n : i32
  %count = llvm.intr.smax(%known, %one) : (i32, i32) -> i32
  %rest = llvm.and %count, %one : i32
  %even = llvm.sub %count, %rest : i32
  %few = llvm.icmp \"ult\" %count, %two : i32
  %odd = llvm.icmp \"ne\" %rest, %zero : i32
  llvm.cond_br %few, ^last(%zero, %x : i32, i32), ^head(%zero, %x, %zero : i32, i32, i32)
^head(%i: i32, %s: i32, %k: i32):
  %p = llvm.mul %s, %ten : i32
  %q = llvm.xor %p, %i : i32
  llvm.call @g(%q) : (i32) -> ()
  %i1 = llvm.add %i, %one : i32
  %p1 = llvm.mul %q, %ten : i32
  %q1 = llvm.xor %p1, %i1 : i32
  llvm.call @g(%q1) : (i32) -> ()
  %i2 = llvm.add %i1, %one : i32
  %k2 = llvm.add %k, %two : i32
  %more = llvm.icmp \"ne\" %k2, %even : i32
  llvm.cond_br %more, ^head(%i2, %q1, %k2 : i32, i32, i32), ^after
^after:
  llvm.cond_br %odd, ^last(%i2, %q1 : i32, i32), ^exit(%q1 : i32)
^last(%j: i32, %t: i32):
  %u = llvm.mul %t, %ten : i32
  %v = llvm.xor %u, %j : i32
  llvm.call @g(%v) : (i32) -> ()
  llvm.br ^exit(%v : i32)
^exit(%r: i32):
  llvm.return %r : i32
}";

#[test]
fn a_loop_is_unrolled_at_run_time() {
    equal_but_not_with(
        LOOP,
        BY_TWO,
        &[
            // The argument may be poison, and the first program calls `@g` before it branches.
            ("%known = llvm.freeze %n : i32", "%known = llvm.add %n, %zero : i32"),
            ("smax(%known, %one)", "smax(%known, %two)"),
            ("smax(%known, %one)", "umax(%known, %one)"),
            ("llvm.and %count, %one", "llvm.and %count, %two"),
            ("\"ult\" %count, %two", "\"ult\" %count, %ten"),
            ("\"ult\" %count, %two", "\"ult\" %count, %one"),
            ("\"ne\" %rest, %zero", "\"eq\" %rest, %zero"),
            ("\"ne\" %k2, %even", "\"ne\" %k2, %count"),
            ("\"ne\" %k2, %even", "\"ult\" %k2, %count"),
            ("%k2 = llvm.add %k, %two", "%k2 = llvm.add %k, %one"),
            ("^last(%i2, %q1", "^last(%i1, %q1"),
            ("%x, %zero : i32, i32, i32)", "%x, %two : i32, i32, i32)"),
        ],
    );
    let [three, by_three] = [LOOP, BY_TWO].map(|text| text.replace("i32", "i8"));
    assert!(answer(&three, &by_three).starts_with("equal"));
}

#[test]
fn a_frozen_condition() {
    // The first program branches on it in any case, so it is no poison there.
    let program = |calls: &str, condition: &str| {
        format!(
            "llvm.func @g(i32)
llvm.func @f(%c: i1, %d: i1 {{llvm.noundef}}) -> i32 {{
  %one = llvm.mlir.constant(1 : i32) : i32
  %two = llvm.mlir.constant(2 : i32) : i32
  {calls}
  {condition}
^a:
  llvm.call @g(%one) : (i32) -> ()
  llvm.return %one : i32
^b:
  llvm.return %two : i32
}}"
        )
    };
    let branch = "llvm.cond_br %c, ^a, ^b";
    let frozen = "%f = llvm.freeze %c : i1\n  llvm.cond_br %f, ^a, ^b";
    let twice = "%e = llvm.freeze %c : i1\n  %f = llvm.freeze %c : i1
  llvm.cond_br %e, ^x, ^y
^x:
  llvm.cond_br %f, ^a, ^never
^y:
  llvm.cond_br %f, ^never, ^b
^never:
  llvm.call @g(%two) : (i32) -> ()
  llvm.return %one : i32";
    let call = "llvm.call @g(%two) : (i32) -> ()";
    for calls in ["", call] {
        let plain = program(calls, branch);
        assert!(answer(&plain, &program(calls, frozen)).starts_with("equal"), "{calls}");
        assert!(answer(&plain, &program(calls, twice)).starts_with("equal"), "{calls}");
    }
    // The call may exit, so it has to come first.
    let late = format!("{frozen}\n").replace("%c : i1\n", &format!("%c : i1\n  {call}\n"));
    assert!(answer(&program(call, branch), &program("", &late)).starts_with("equal"));
    assert!(answer(&program("", branch), &program(call, frozen)).starts_with("undecided"));
    // The first program may return before it branches on the condition.
    let guarded = |inner: &str| format!("llvm.cond_br %d, ^m, ^b\n^m:\n  {inner}");
    let early = frozen.replace("llvm.cond_br", "llvm.cond_br %d, ^m, ^b\n^m:\n  llvm.cond_br");
    assert!(answer(&program("", &guarded(branch)), &program("", &early)).starts_with("equal"));
    let wrong = "%f = llvm.freeze %c : i1\n  llvm.cond_br %f, ^m, ^b\n^m:\n  llvm.cond_br %d, ^a, ^b";
    assert!(answer(&program("", &guarded(branch)), &program("", wrong)).starts_with("equal"));
    let wrong =
        wrong.replace("^m:\n  llvm.cond_br %d, ^a, ^b", "^m:\n  llvm.cond_br %d, ^a, ^n\n^n:\n  llvm.br ^a");
    assert!(answer(&program("", &guarded(branch)), &program("", &wrong)).starts_with("undecided"));
}

/// Of a choice, the value that is not chosen may be poison though the frozen one is none.
#[test]
fn a_frozen_choice() {
    let program = |frozen: &str, result: &str| {
        format!(
            "llvm.func @f(%c: i1 {{llvm.noundef}}, %x: i32) -> i32 {{
  %one = llvm.mlir.constant(1 : i32) : i32
  %s = llvm.select %c, %x, %one : i1, i32
  {frozen}
  %d = llvm.icmp \"eq\" %x, %one : i32
  llvm.cond_br %c, ^a, ^b
^a:
  llvm.cond_br %d, ^b, ^e
^b:
  llvm.return %one : i32
^e:
  llvm.return {result} : i32
}}"
        )
    };
    let plain = program("", "%x");
    let said = answer(&plain, &program("%f = llvm.freeze %s : i32", "%x"));
    assert!(said.starts_with("equal"), "{said}");
    // Here the argument is taken to be no poison on both ways.
    let wrong = program("%f = llvm.freeze %s : i32", "%x").replace(
        "^a, ^b\n^a",
        "^a, ^z\n^z:
  llvm.cond_br %d, ^b, ^b\n^a",
    );
    let said = answer(&plain, &wrong);
    assert!(said.starts_with("undecided"), "{said}\n{wrong}");
}

/// Where no number is left for a counter that may not wrap, the first program is undefined.
#[test]
fn a_counter_that_has_to_wrap() {
    let program = |first: &str| {
        format!(
            "llvm.func @g(i32)
llvm.func @f(%m: i32) -> i32 {{
  %five = llvm.mlir.constant(5 : i32) : i32
  %down = llvm.mlir.constant(-2 : i32) : i32
  {first}
^head(%i: i32):
  %more = llvm.icmp \"ne\" %i, %five : i32
  llvm.cond_br %more, ^body, ^exit
^body:
  llvm.call @g(%i) : (i32) -> ()
  %next = llvm.add %i, %down overflow<nsw, nuw> : i32
  llvm.br ^head(%next : i32)
^exit:
  llvm.return %five : i32
}}"
        )
    };
    let peeled = "%c = llvm.icmp \"ne\" %m, %five : i32
  llvm.cond_br %c, ^first, ^exit
^first:
  llvm.call @g(%m) : (i32) -> ()
  %n = llvm.add %m, %down overflow<nsw, nuw> : i32
  llvm.br ^head(%n : i32)";
    let start = "llvm.br ^head(%m : i32)";
    let [before, after] = [program(start), program(peeled)];
    equal_but_not_with(
        &before,
        &after,
        &[("call @g(%m)", "call @g(%five)"), ("\"ne\" %m", "\"eq\" %m"), ("^head(%n", "^head(%m")],
    );
}

/// The loop is unrolled by four, and runs ten times. Only every other copy tests the counter.
#[test]
fn copies_without_tests() {
    let body = |copy: usize, more: &str| {
        format!(
            "%c{copy} = llvm.icmp \"eq\" %i{copy}, %three : i32
  llvm.cond_br %c{copy}, ^a{copy}, ^b{copy}
^a{copy}:
  %p{copy} = llvm.add %s{copy}, %ten : i32
  llvm.br ^m{copy}(%p{copy} : i32)
^b{copy}:
  %q{copy} = llvm.xor %s{copy}, %i{copy} : i32
  llvm.br ^m{copy}(%q{copy} : i32)
^m{copy}(%t{copy}: i32):
  llvm.call @g(%t{copy}) : (i32) -> ()
  %n{copy} = llvm.add %i{copy}, %one : i32
  {more}\n"
        )
    };
    let function = |body: &str| {
        format!(
            "llvm.func @g(i32)
llvm.func @f(%x: i32) -> i32 {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %three = llvm.mlir.constant(3 : i32) : i32
  %ten = llvm.mlir.constant(10 : i32) : i32
  llvm.br ^head(%zero, %x : i32, i32)
^head(%i0: i32, %s0: i32):
  {body}^exit(%r: i32):
  llvm.return %r : i32
}}"
        )
    };
    let test = |copy: usize, next: &str| {
        format!(
            "%k{copy} = llvm.icmp \"slt\" %n{copy}, %ten : i32
  llvm.cond_br %k{copy}, {next}, ^exit(%t{copy} : i32)"
        )
    };
    let goes = |copy: usize| {
        let next = copy + 1;
        format!("llvm.br ^x{next}(%n{copy}, %t{copy} : i32, i32)\n^x{next}(%i{next}: i32, %s{next}: i32):")
    };
    let before = function(&body(0, &test(0, "^head(%n0, %t0 : i32, i32)")));
    let middle = test(1, "^x2(%n1, %t1 : i32, i32)") + "\n^x2(%i2: i32, %s2: i32):";
    let last = "llvm.br ^head(%n3, %t3 : i32, i32)";
    let after = [body(0, &goes(0)), body(1, &middle), body(2, &goes(2)), body(3, last)].concat();
    equal_but_not_with(
        &before,
        &function(&after),
        &[
            ("%n2 = llvm.add %i2, %one", "%n2 = llvm.add %i2, %three"),
            ("\"slt\" %n1, %ten", "\"sle\" %n1, %ten"),
            ("\"slt\" %n1, %ten", "\"slt\" %i1, %ten"),
            ("%q3 = llvm.xor %s3, %i3", "%q3 = llvm.xor %s3, %i2"),
        ],
    );
    // With nine iterations a copy without a test would be one too many.
    let nine = |text: &str| text.replace("constant(10 ", "constant(9 ");
    assert!(answer(&nine(&before), &nine(&function(&after))).starts_with("undecided"));
}

/// A counter that goes down and must not wrap never passes the bound above it.
#[test]
fn a_loop_that_does_not_end() {
    let function = |more: &str| {
        format!(
            "llvm.func @g(i16)
llvm.func @f(%n: i16) {{
  %less = llvm.mlir.constant(-1 : i16) : i16
  %two = llvm.mlir.constant(-2 : i16) : i16
  %low = llvm.icmp \"slt\" %n, %less : i16
  llvm.cond_br %low, ^exit, ^start
^start:
  llvm.br ^head(%two : i16)
^head(%i: i16):
  llvm.call @g(%i) : (i16) -> ()
  %next = llvm.add %i, %two overflow<nsw> : i16
  {more}
^exit:
  llvm.return
}}"
        )
    };
    let test = "%more = llvm.icmp \"slt\" %next, %n : i16
  llvm.cond_br %more, ^head(%next : i16), ^exit";
    let (before, after) = (function(test), function("llvm.br ^head(%next : i16)"));
    assert!(answer(&before, &after).starts_with("equal"), "{}", answer(&before, &after));
    for (from, to) in [("\"slt\" %n, %less", "\"slt\" %n, %two"), (" overflow<nsw>", "")] {
        let [before, after] = [&before, &after].map(|text| text.replace(from, to));
        let is_equal = answer(&before, &after).starts_with("equal");
        // Where the bound is the least number that is met, the test fails in no iteration either.
        assert_eq!(is_equal, from.starts_with('"'), "{from}");
    }
    let lower = |text: &str| text.replace("\"slt\" %n, %less", "\"eq\" %n, %less");
    assert!(answer(&lower(&before), &lower(&after)).starts_with("undecided"));
}

/// A loop that compares its counter before it counts.
const COMPARES_FIRST: &str = "llvm.func @g(i8)
llvm.func @f(%x: i8 {llvm.noundef}, %n: i8 {llvm.noundef}) -> i8 {
  %zero = llvm.mlir.constant(0 : i8) : i8
  %one = llvm.mlir.constant(1 : i8) : i8
  %ten = llvm.mlir.constant(10 : i8) : i8
  llvm.br ^head(%zero, %x : i8, i8)
^head(%i: i8, %s: i8):
  %p = llvm.mul %s, %ten : i8
  %q = llvm.xor %p, %i : i8
  llvm.call @g(%q) : (i8) -> ()
  %next = llvm.add %i, %one : i8
  %more = llvm.icmp \"ne\" %i, %n : i8
  llvm.cond_br %more, ^head(%next, %q : i8, i8), ^exit
^exit:
  llvm.return %q : i8
}";

/// The loop with three iterations at once, and the rest of them before.
const REST_FIRST: &str = "llvm.func @g(i8)
llvm.func @f(%x: i8 {llvm.noundef}, %n: i8 {llvm.noundef}) -> i8 {
  %zero = llvm.mlir.constant(0 : i8) : i8
  %one = llvm.mlir.constant(1 : i8) : i8
  %two = llvm.mlir.constant(2 : i8) : i8
  %three = llvm.mlir.constant(3 : i8) : i8
  %ten = llvm.mlir.constant(10 : i8) : i8
  %over = llvm.urem %n, %three : i8
  %over1 = llvm.add %over, %one : i8
  %rest = llvm.urem %over1, %three : i8
  %few = llvm.icmp \"ult\" %n, %two : i8
  %some = llvm.icmp \"ne\" %rest, %zero : i8
  llvm.cond_br %some, ^first(%zero, %x, %zero : i8, i8, i8), ^main(%zero, %x, %x : i8, i8, i8)
^first(%a: i8, %b: i8, %k: i8):
  %c = llvm.mul %b, %ten : i8
  %d = llvm.xor %c, %a : i8
  llvm.call @g(%d) : (i8) -> ()
  %e = llvm.add %a, %one : i8
  %k1 = llvm.add %k, %one : i8
  %again = llvm.icmp \"ne\" %k1, %rest : i8
  llvm.cond_br %again, ^first(%e, %d, %k1 : i8, i8, i8), ^main(%e, %d, %d : i8, i8, i8)
^main(%i0: i8, %s0: i8, %r0: i8):
  llvm.cond_br %few, ^exit(%r0 : i8), ^head(%i0, %s0 : i8, i8)
^head(%i: i8, %s: i8):
  %p = llvm.mul %s, %ten : i8
  %q = llvm.xor %p, %i : i8
  llvm.call @g(%q) : (i8) -> ()
  %i1 = llvm.add %i, %one : i8
  %p1 = llvm.mul %q, %ten : i8
  %q1 = llvm.xor %p1, %i1 : i8
  llvm.call @g(%q1) : (i8) -> ()
  %i2 = llvm.add %i1, %one : i8
  %p2 = llvm.mul %q1, %ten : i8
  %q2 = llvm.xor %p2, %i2 : i8
  llvm.call @g(%q2) : (i8) -> ()
  %i3 = llvm.add %i2, %one : i8
  %more = llvm.icmp \"ne\" %i2, %n : i8
  llvm.cond_br %more, ^head(%i3, %q2 : i8, i8), ^exit(%q2 : i8)
^exit(%r: i8):
  llvm.return %r : i8
}";

#[test]
fn a_loop_is_unrolled_behind_the_rest() {
    equal_but_not_with(
        COMPARES_FIRST,
        REST_FIRST,
        &[
            ("%over1 = llvm.add %over, %one", "%over1 = llvm.add %over, %two"),
            ("%rest = llvm.urem %over1, %three", "%rest = llvm.urem %over1, %two"),
            ("%rest = llvm.urem %over1, %three", "%rest = llvm.add %over1, %zero"),
            ("\"ult\" %n, %two", "\"ult\" %n, %one"),
            ("\"ult\" %n, %two", "\"ult\" %n, %three"),
            ("\"ne\" %k1, %rest", "\"ne\" %k, %rest"),
            ("^main(%e, %d, %d", "^main(%a, %d, %d"),
            ("\"ne\" %i2, %n", "\"ne\" %i3, %n"),
            ("\"ne\" %i2, %n", "\"ult\" %i2, %zero"),
            ("%i3 = llvm.add %i2, %one", "%i3 = llvm.add %i2, %two"),
        ],
    );
    let [before, after] = [COMPARES_FIRST, REST_FIRST].map(|text| text.replace("i8", "i32"));
    assert!(answer(&before, &after).starts_with("equal"));
}

/// The copies behind the rest come by other places before the loop begins again. What is guessed
/// where it begins has to reach them.
#[test]
fn a_loop_with_a_choice_is_unrolled_behind_the_rest() {
    let before = WITH_A_CHOICE.replace("FIRST", &format!("llvm.br ^head(%zero, %x : i8, i8)\n{ONE_LOOP}"));
    let mut after = WITH_A_CHOICE.replace("FIRST", REST_WITH_A_CHOICE);
    for (copy, counter) in [(0, "%i"), (1, "%i1"), (2, "%i2")] {
        let choice = "llvm.cond_br %cN, ^aN, ^bN
^aN:
  %pN = llvm.mul %sN, %ten : i8
  llvm.br ^mN(%pN : i8)
^bN:
  %qN = llvm.xor %sN, COUNTER : i8
  llvm.br ^mN(%qN : i8)
^mN(%rN: i8):
  llvm.call @g(%rN) : (i8) -> ()";
        let choice = format!("%cN = llvm.icmp \"slt\" COUNTER, %zero : i8\n  {choice}");
        let choice = choice.replace("COUNTER", counter).replace('N', &copy.to_string());
        after = after.replace(&format!("CHOICE{copy}"), &choice);
    }
    let after = after.replace("%s1", "%r0").replace("%s2", "%r1");
    equal_but_not_with(
        &before,
        &after,
        &[
            ("%over1 = llvm.add %over, %one", "%over1 = llvm.add %over, %two"),
            ("%rest = llvm.urem %over1, %three", "%rest = llvm.add %over1, %zero"),
            ("\"ult\" %n, %two", "\"ult\" %n, %one"),
            ("\"ult\" %n, %two", "\"ult\" %n, %three"),
            ("\"ne\" %k1, %rest", "\"ne\" %k, %rest"),
            ("\"slt\" %i1, %zero", "\"slt\" %i, %zero"),
            ("%q2 = llvm.xor %r1, %i2", "%q2 = llvm.xor %r1, %i1"),
            ("\"ne\" %i2, %n", "\"ult\" %i2, %zero"),
            ("^head(%i3, %r2", "^head(%i3, %r1"),
        ],
    );
}

/// A function with a loop, and what the loop needs.
const WITH_A_CHOICE: &str = "llvm.func @g(i8)
llvm.func @f(%x: i8 {llvm.noundef}, %n: i8 {llvm.noundef}) -> i8 {
  %zero = llvm.mlir.constant(0 : i8) : i8
  %one = llvm.mlir.constant(1 : i8) : i8
  %two = llvm.mlir.constant(2 : i8) : i8
  %three = llvm.mlir.constant(3 : i8) : i8
  %ten = llvm.mlir.constant(10 : i8) : i8
  FIRST
^exit(%out: i8):
  llvm.return %out : i8
}";

const ONE_LOOP: &str = "^head(%i: i8, %s: i8):
  %c = llvm.icmp \"slt\" %i, %zero : i8
  llvm.cond_br %c, ^a, ^b
^a:
  %p = llvm.mul %s, %ten : i8
  llvm.br ^m(%p : i8)
^b:
  %q = llvm.xor %s, %i : i8
  llvm.br ^m(%q : i8)
^m(%r: i8):
  llvm.call @g(%r) : (i8) -> ()
  %next = llvm.add %i, %one : i8
  %more = llvm.icmp \"ne\" %i, %n : i8
  llvm.cond_br %more, ^head(%next, %r : i8, i8), ^exit(%r : i8)";

const REST_WITH_A_CHOICE: &str = "%over = llvm.urem %n, %three : i8
  %over1 = llvm.add %over, %one : i8
  %rest = llvm.urem %over1, %three : i8
  %few = llvm.icmp \"ult\" %n, %two : i8
  %some = llvm.icmp \"ne\" %rest, %zero : i8
  llvm.cond_br %some, ^first(%zero, %x, %zero : i8, i8, i8), ^main(%zero, %x, %x : i8, i8, i8)
^first(%a: i8, %b: i8, %k: i8):
  %c = llvm.icmp \"slt\" %a, %zero : i8
  llvm.cond_br %c, ^a, ^b
^a:
  %p = llvm.mul %b, %ten : i8
  llvm.br ^m(%p : i8)
^b:
  %q = llvm.xor %b, %a : i8
  llvm.br ^m(%q : i8)
^m(%r: i8):
  llvm.call @g(%r) : (i8) -> ()
  %e = llvm.add %a, %one : i8
  %k1 = llvm.add %k, %one : i8
  %again = llvm.icmp \"ne\" %k1, %rest : i8
  llvm.cond_br %again, ^first(%e, %r, %k1 : i8, i8, i8), ^main(%e, %r, %r : i8, i8, i8)
^main(%j: i8, %t: i8, %u: i8):
  llvm.cond_br %few, ^exit(%u : i8), ^head(%j, %t : i8, i8)
^head(%i: i8, %s0: i8):
  CHOICE0
  %i1 = llvm.add %i, %one : i8
  CHOICE1
  %i2 = llvm.add %i1, %one : i8
  CHOICE2
  %i3 = llvm.add %i2, %one : i8
  %more = llvm.icmp \"ne\" %i2, %n : i8
  llvm.cond_br %more, ^head(%i3, %r2 : i8, i8), ^exit(%r2 : i8)";

/// A loop that is unrolled inside another one. What is known of the inner counter is found anew
/// when the outer values change.
#[test]
fn a_loop_is_unrolled_inside_another_one() {
    let outer = "llvm.br ^outer(%x : i8)\n^outer(%t: i8):\n  llvm.";
    let inside = |text: &str, start: &str, result: &str| {
        let end = format!(
            "%outer = llvm.call @h() : () -> i1
  llvm.cond_br %outer, ^outer({result} : i8), ^end
^end:
  llvm.return {result}"
        );
        text.replace("@g(i8)\n", "@g(i8)\nllvm.func @h() -> i1\n")
            .replace("\"ne\" %i", "\"ult\" %i")
            .replace("(%zero, %x, %x", "(%zero, %t, %t")
            .replace("(%zero, %x", "(%zero, %t")
            .replacen(&format!("llvm.{start}"), &format!("{outer}{start}"), 1)
            .replace(&format!("llvm.return {result}"), &end)
    };
    equal_but_not_with(
        &inside(COMPARES_FIRST, "br ^head", "%q"),
        &inside(REST_FIRST, "cond_br %some", "%r"),
        &[
            ("%over1 = llvm.add %over, %one", "%over1 = llvm.add %over, %two"),
            ("\"ult\" %n, %two", "\"ult\" %n, %three"),
            ("\"ult\" %i2, %n", "\"ult\" %i1, %n"),
            ("^outer(%r", "^outer(%t"),
        ],
    );
}

/// A value that the first program has branched on is no poison. So it is zero if it is combined
/// with itself.
#[test]
fn a_value_is_no_poison_behind_a_branch() {
    let function = |tested: &str, result: &str| {
        format!(
            "llvm.func @f(%x: i8, %y: i8) -> i8 {{
  %zero = llvm.mlir.constant(0 : i8) : i8
  %c = llvm.icmp \"slt\" {tested}, %zero : i8
  llvm.cond_br %c, ^a, ^b
^a:
  %v = llvm.xor %x, %x : i8
  llvm.return {result} : i8
^b:
  llvm.return %y : i8
}}"
        )
    };
    for (tested, is_equal) in [("%x", true), ("%y", false)] {
        let answer = answer(&function(tested, "%zero"), &function(tested, "%v"));
        assert_eq!(answer.starts_with("equal"), is_equal, "{answer}");
    }
}

/// The least and the greatest number leave the other operand as it is, even poison.
#[test]
fn an_end_of_a_range_is_neutral() {
    let function = |code: &str, end: &str| {
        format!(
            "llvm.func @f(%x: i8) -> i8 {{
  %end = llvm.mlir.constant({end} : i8) : i8
  %y = llvm.intr.{code}(%x, %end) : (i8, i8) -> i8
  llvm.return %y : i8
}}"
        )
    };
    let same = "llvm.func @f(%x: i8) -> i8 {\n  llvm.return %x : i8\n}";
    for (code, end, other) in
        [("umin", "-1", "0"), ("umax", "0", "-1"), ("smin", "127", "-128"), ("smax", "-128", "127")]
    {
        assert!(answer(same, &function(code, end)).starts_with("equal"), "{code}");
        assert!(answer(same, &function(code, other)).starts_with("undecided"), "{code}");
    }
}
