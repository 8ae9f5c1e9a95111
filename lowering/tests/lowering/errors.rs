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

#[test]
fn vectors_without_a_counterpart() {
    let programs = [
        "func.func @f(%v: vector<[4]xf32>) -> f32 {
  %0 = vector.reduction <add>, %v : vector<[4]xf32> into f32
  return %0 : f32
}",
        "func.func @f() -> index {
  %0 = vector.vscale
  return %0 : index
}",
        "func.func @f(%v: vector<2x4xf32>, %i: index) -> vector<4xf32> {
  %0 = vector.extract %v[%i] : vector<4xf32> from vector<2x4xf32>
  return %0 : vector<4xf32>
}",
        "func.func @f(%v: vector<2x4xf32>, %w: vector<4xf32>, %i: index) -> vector<2x4xf32> {
  %0 = vector.insert %w, %v[%i] : vector<4xf32> into vector<2x4xf32>
  return %0 : vector<2x4xf32>
}",
        "func.func @f(%a: memref<8xi1>, %i: index) -> vector<4xi1> {
  %0 = vector.load %a[%i] : memref<8xi1>, vector<4xi1>
  return %0 : vector<4xi1>
}",
        "func.func @f(%a: memref<8x8xf32>, %i: index, %x: f32, %k: vector<4x2xi1>) -> vector<2x4xf32> {
  %0 = vector.transfer_read %a[%i, %i], %x, %k {permutation_map = affine_map<(i, j) -> (j, i)>} : memref<8x8xf32>, vector<2x4xf32>
  return %0 : vector<2x4xf32>
}",
        "func.func @f(%a: memref<?xvector<4xf32>>, %i: index) -> vector<4xf32> {
  %0 = vector.load %a[%i] : memref<?xvector<4xf32>>, vector<4xf32>
  return %0 : vector<4xf32>
}",
        "func.func @f(%a: memref<8xf32>, %i: index, %x: f32, %k: vector<4xi1>) -> vector<4xf32> {
  %0 = vector.mask %k { vector.transfer_read %a[%i], %x : memref<8xf32>, vector<4xf32> } : vector<4xi1> -> vector<4xf32>
  return %0 : vector<4xf32>
}",
        "func.func @f(%v: vector<4xf32>) {
  vector.print %v : vector<4xf32>
  return
}",
        "func.func @f(%v: vector<200x200xi32>) -> vector<40000xi32> {
  %0 = vector.shape_cast %v : vector<200x200xi32> to vector<40000xi32>
  return %0 : vector<40000xi32>
}",
    ];
    let all: Vec<String> = programs.iter().map(|source| errors(source, convert_to_llvm)).collect();
    insta::assert_snapshot!(all.join("\n"));
}
