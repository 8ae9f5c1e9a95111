//! Reductions of programs: a text goes in, and a text that still passes a test comes out.

use loomir_check::reduce::{Options, reduce};
use loomir_ir::text::{PrintOptions, print};
use loomir_ir::{Body, verifier};

/// Shrinks a text while `holds` is true of it.
fn reduced(text: &str, tests: usize, holds: fn(&str) -> bool) -> String {
    let ctx = loomir_dialects::context();
    let parsed = loomir_ir::text::parse(&ctx, text, "input");
    let module = parsed.unwrap_or_else(|errors| panic!("{}", errors.to_text(&ctx)));
    assert!(verifier::verify(&module).is_empty());
    let printed = |module: &Body| print(module, &PrintOptions::default());
    assert!(holds(&printed(&module)), "the test holds at first");
    let reduced = reduce(&module, &Options { tests }, &mut |candidate| {
        let text = printed(candidate);
        // Candidates are programs that can be read again.
        let again = loomir_ir::text::parse(candidate.ctx(), &text, "candidate");
        let again = again.unwrap_or_else(|errors| panic!("{}\n{text}", errors.to_text(candidate.ctx())));
        assert!(verifier::verify(&again).is_empty(), "{text}");
        holds(&text)
    });
    assert!(reduced.tests <= tests);
    let left = printed(&reduced.module);
    assert!(holds(&left), "{left}");
    left
}

const NESTS: &str = "
func.func private @g(%x: f32) -> f32
func.func @f(%a: memref<8xf32>, %n: index, %c: i1) -> f32 {
  %z = arith.constant 1.0 : f32
  %r = affine.for %i = 0 to 64 iter_args(%s = %z) -> (f32) {
    %0 = affine.load %a[%i mod 8] : memref<8xf32>
    %1 = arith.addf %s, %0 : f32
    affine.yield %1 : f32
  }
  %q = scf.if %c -> (f32) {
    %0 = func.call @g(%r) : (f32) -> f32
    scf.yield %0 : f32
  } else {
    %0 = arith.mulf %r, %z : f32
    scf.yield %0 : f32
  }
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to 32 {
      %0 = arith.divf %q, %z : f32
      affine.store %0, %a[%i mod 8] : memref<8xf32>
    }
  }
  return %q : f32
}
func.func @h(%n: index) { return }
";

#[test]
fn everything_goes_if_nothing_is_asked() {
    assert_eq!(reduced(NESTS, 2000, |_| true), "module {\n}\n");
}

#[test]
fn what_the_test_needs_stays() {
    insta::assert_snapshot!(reduced(NESTS, 2000, |text| text.contains("divf")));
    insta::assert_snapshot!(reduced(NESTS, 2000, |text| text.contains("call @g")));
    insta::assert_snapshot!(reduced(NESTS, 2000, |text| text.matches("affine.for").count() == 3));
}

#[test]
fn tests_are_bounded() {
    assert_eq!(reduced(NESTS, 1, |_| true).matches("func.func").count(), 0);
    let none = reduced(NESTS, 0, |_| true);
    assert_eq!(none.matches("func.func").count(), 3);
}

#[test]
fn branches_go_and_what_only_they_reach() {
    let text = "
llvm.func @f(%p: !llvm.ptr, %n: i64, %c: i1) -> i64 {
  %0 = llvm.mlir.constant(7 : i64) : i64
  llvm.cond_br %c, ^head(%0 : i64), ^other
^head(%i: i64):
  %1 = llvm.sdiv %n, %i : i64
  %2 = llvm.icmp \"slt\" %1, %n : i64
  llvm.cond_br %2, ^head(%1 : i64), ^exit(%1 : i64)
^other:
  %3 = llvm.load %p : !llvm.ptr -> i64
  llvm.br ^exit(%3 : i64)
^exit(%r: i64):
  llvm.return %r : i64
}
";
    insta::assert_snapshot!(reduced(text, 2000, |text| text.contains("sdiv")));
    insta::assert_snapshot!(reduced(text, 2000, |text| text.contains("llvm.load")));
}
