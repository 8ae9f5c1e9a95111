//! Random loops that combine numbers, unrolled with an accumulator for each copy.

use std::fmt::Write;

use loomir::dialects::interp::Limits;
use loomir::ir::Diagnostics;
use loomir_tests::behaviour::{Input, same_behaviour};
use loomir_tests::check::Checker;
use loomir_tests::random::Random;

/// Operations on integers, with flags that need not hold in another order.
const WORDS: [&str; 8] = ["add", "add nsw", "add nuw nsw", "sub", "mul", "and", "or", "xor"];
/// Intrinsics on integers.
const CHOICES: [&str; 4] = ["smax", "smin", "umax", "umin"];
/// Operations on floats. What they combine are small whole numbers, so no order rounds.
const FLOATS: [&str; 4] = ["fadd reassoc", "fsub reassoc nsz", "fadd fast", "fadd"];

/// Returns a function that combines the elements of an array, in two ways, and calls.
fn function(random: &mut Random) -> (String, Vec<Input>) {
    let width = *random.pick(&[8, 16, 32, 64]);
    let count = if random.chance(40) { random.range(1, 16).to_string() } else { "%n".to_owned() };
    let begin = random.range(-3, 9);
    let mut text = format!(
        "define i64 @kernel(i64 %n, ptr %p) {{\nentry:\n  br label %loop\nloop:\n  \
         %i = phi i64 [ 0, %entry ], [ %j, %loop ]\n  \
         %s0 = phi i{width} [ {begin}, %entry ], [ %t0, %loop ]\n  \
         %s1 = phi float [ 1.0, %entry ], [ %t1, %loop ]\n  \
         %q = getelementptr i8, ptr %p, i64 %i\n  %b = load i8, ptr %q\n  \
         %x = sext i8 %b to i{width}\n  %f = sitofp i8 %b to float\n"
    );
    if width == 8 {
        text = text.replace("sext i8 %b to i8", "add i8 %b, 0");
    }
    let mut operands = ["%s0", "%x"];
    if random.chance(50) {
        let name = random.pick(&CHOICES);
        let [a, b] = operands;
        let _ = writeln!(text, "  %t0 = call i{width} @llvm.{name}.i{width}(i{width} {a}, i{width} {b})");
    } else {
        let op = *random.pick(&WORDS);
        if random.chance(40) && op != "sub" {
            operands.reverse();
        }
        let [a, b] = operands;
        let _ = writeln!(text, "  %t0 = {op} i{width} {a}, {b}");
    }
    let _ = writeln!(text, "  %t1 = {} float %s1, %f", random.pick(&FLOATS));
    let seen = if random.chance(15) { "  store i8 0, ptr %q\n" } else { "" };
    let _ = write!(
        text,
        "{seen}  %j = add nuw nsw i64 %i, 1\n  %c = icmp ult i64 %j, {count}\n  \
         br i1 %c, label %loop, label %exit\nexit:\n  %r0 = sext i{width} %t0 to i64\n  \
         %r1 = fptosi float %t1 to i64\n  %m = mul i64 %r0, 1000\n  %r = add i64 %m, %r1\n  ret i64 %r\n}}\n"
    );
    if width == 64 {
        text = text.replace("sext i64 %t0 to i64", "add i64 %t0, 0");
    }
    for name in CHOICES {
        let _ = writeln!(text, "declare i{width} @llvm.{name}.i{width}(i{width}, i{width})");
    }
    let contents = *random.pick(&["iota", "3", "-1", "zeros"]);
    let calls = (1..14).map(|n| vec![n.to_string(), format!("{contents}:memref<16xi8>")]);
    (text, calls.collect())
}

#[test]
fn copies_with_accumulators_of_their_own_compute_the_same() {
    let checker = Checker::default();
    let said = |errors: Diagnostics| checker.lines(&errors);
    let (mut made, mut compared) = (0, 0);
    for index in 0..300 {
        let mut random = Random::of_case(31, index);
        let (text, calls) = function(&mut random);
        let count = random.range(2, 5);
        let place = *random.pick(&["", " unroll-runtime-epilog=false", " unroll-remainder=true"]);
        let options = format!("unroll-count={count} unroll-add-parallel-reductions=true{place}");
        let pipeline = format!("builtin.module(llvm.func(loop-unroll{{{options}}}))");
        let context = |error: String| format!("case {index}: {pipeline}: {error}\n{text}");
        let before = loomir::lowering::from_ll(&checker.ctx, &text, "f.ll").map_err(said);
        let before = before.unwrap_or_else(|error| panic!("{}", context(error)));
        let mut after = before.duplicate();
        let remarks = checker.run(&pipeline, &mut after).map_err(said);
        let remarks = checker.lines(&remarks.unwrap_or_else(|error| panic!("{}", context(error))));
        let agreement = same_behaviour(&before, &after, "kernel", &calls, &Limits::default());
        let agreement =
            agreement.unwrap_or_else(|error| panic!("{}\n{}", context(error), loomir::print(&after)));
        made += u32::from(remarks.contains("accumulators of its own"));
        compared += agreement.compared;
    }
    assert!(made >= 150 && compared >= 2_000, "{made} loops with accumulators, {compared} calls");
}
