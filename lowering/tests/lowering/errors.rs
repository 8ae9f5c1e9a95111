//! Errors of lowering: everything that cannot be lowered is reported at once, with its location.

use loomir_ir::Diagnostics;
use loomir_lowering::{convert_scf_to_cf, convert_to_llvm, lower_affine, lower_to_llvm, to_ll};

use crate::fixture::{context, read};

/// Returns the errors of a step on a program.
fn errors(source: &str, step: fn(&mut loomir_ir::Body) -> Result<(), Diagnostics>) -> String {
    let ctx = context();
    let mut module = read(&ctx, source).unwrap_or_else(|errors| panic!("{errors}"));
    match step(&mut module) {
        Ok(()) => "no errors".into(),
        Err(errors) => errors.to_text(&ctx),
    }
}

#[test]
fn divisors_that_are_not_positive() {
    let source = "func.func @f(%n: index) -> (index, index, index) {
  %0 = affine.apply affine_map<(d0) -> (d0 floordiv 0)>(%n)
  %1 = affine.apply affine_map<(d0) -> (d0 ceildiv -2)>(%n)
  %2 = affine.min affine_map<(d0) -> (d0, d0 mod 0)>(%n)
  return %0, %1, %2 : index, index, index
}";
    insta::assert_snapshot!(errors(source, lower_affine));
}

#[test]
fn branches_where_there_is_room_for_one_block() {
    let source = "func.func @f(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  affine.for %i = 0 to 4 {
    scf.for %j = %c0 to %n step %c1 {
    }
  }
  return
}";
    insta::assert_snapshot!(errors(source, convert_scf_to_cf));
}

#[test]
fn every_operation_without_a_counterpart() {
    let source = "func.func @f(%n: index, %a: memref<4xf32>) -> index {
  affine.for %i = 0 to 4 {
    %x = affine.load %a[%i] : memref<4xf32>
  }
  scf.if %n_is_zero {
  }
  return %n : index
}
func.func @g(%u: memref<*xf32>, %v: memref<*xf32>) {
  memref.copy %u, %v : memref<*xf32> to memref<*xf32>
  return
}"
    .replace("scf.if %n_is_zero {\n  }", "%t = arith.constant true\n  scf.if %t {\n  }");
    insta::assert_snapshot!(errors(&source, convert_to_llvm));
}

#[test]
fn types_without_a_counterpart() {
    let source = "func.func @f(%t: tensor<4xf32>) {
  return
}
func.func @g(%a: memref<8xf32, affine_map<(d0) -> (d0 mod 4)>>) {
  return
}
func.func @h(%u: memref<*xf32>) -> memref<*xf32> {
  return %u : memref<*xf32>
}";
    insta::assert_snapshot!(errors(source, lower_to_llvm));
}

#[test]
fn names_that_are_taken() {
    let source = "memref.global @malloc : memref<4xf32>
func.func @f() -> memref<4xf32> {
  %0 = memref.alloc() : memref<4xf32>
  return %0 : memref<4xf32>
}";
    insta::assert_snapshot!(errors(source, lower_to_llvm));
}

#[test]
fn text_of_what_is_not_lowered() {
    let ctx = context();
    let source = "func.func @f(%n: index) -> index {
  return %n : index
}";
    let module = read(&ctx, source).unwrap_or_else(|errors| panic!("{errors}"));
    let errors = to_ll(&module).expect_err("it is not lowered");
    insta::assert_snapshot!(errors.to_text(&ctx));
}
