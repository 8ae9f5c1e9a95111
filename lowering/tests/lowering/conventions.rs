//! Functions that C calls, and C functions that a program calls: compiled together and executed.

use std::path::Path;
use std::process::Command;

use loomir_lowering::to_llvm::Options;
use loomir_lowering::{lower_to_llvm_with, to_ll};

use crate::fixture::{context, read, tool};
use crate::llvm;

/// Descriptors as C sees them.
const HEADER: &str = "
#include <stdint.h>
#include <stdlib.h>
typedef struct { float *allocated, *aligned; int64_t offset, sizes[1], strides[1]; } Vector;
typedef struct { float *allocated, *aligned; int64_t offset, sizes[2], strides[2]; } Matrix;
typedef struct { int64_t rank; void *descriptor; } Any;
#define CHECK(condition) if (!(condition)) return __LINE__;
";

/// Compiles a program, lowered with these conventions, and a C file. Runs `main`, which must
/// return 0; other numbers are lines of the C file.
fn run(name: &str, options: Options, program: &str, c: &str) {
    let ctx = context();
    let mut module = read(&ctx, program).unwrap_or_else(|errors| panic!("{errors}"));
    lower_to_llvm_with(&mut module, options).unwrap_or_else(|errors| panic!("{}", errors.to_text(&ctx)));
    let text = to_ll(&module).unwrap_or_else(|errors| panic!("{}", errors.to_text(&ctx)));
    let Some(llvm) = llvm() else { return };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = |extension: &str| folder.join(format!("conventions-{name}.{extension}"));
    std::fs::write(path("ll"), text).expect("a file");
    std::fs::write(path("c"), format!("{HEADER}{c}")).expect("a file");
    let [ll, c, exe] = ["ll", "c", "exe"].map(|own| path(own).to_string_lossy().into_owned());
    tool(&llvm, "clang", &["-O1", "-w", &ll, &c, "-o", &exe], "");
    let status = Command::new(&exe).status().expect("it runs");
    assert_eq!(status.code(), Some(0), "the check in this line of conventions-{name}.c failed");
}

#[test]
fn c_calls_wrappers_and_is_called_by_them() {
    let program = "
func.func @scale(%x: memref<?xf32>, %f: f32) -> (memref<?xf32>, index) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %y = memref.alloc(%n) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.mulf %0, %f : f32
    memref.store %1, %y[%i] : memref<?xf32>
  }
  return %y, %n : memref<?xf32>, index
}
func.func @corner(%x: memref<?x?xf32, strided<[?, ?], offset: ?>>) -> f32 attributes {llvm.emit_c_interface} {
  %c1 = arith.constant 1 : index
  %0 = memref.load %x[%c1, %c1] : memref<?x?xf32, strided<[?, ?], offset: ?>>
  return %0 : f32
}
func.func @rank(%x: memref<*xf32>) -> index attributes {llvm.emit_c_interface} {
  %0 = memref.rank %x : memref<*xf32>
  return %0 : index
}
func.func private @fill(memref<4xf32>, f32) -> memref<4xf32> attributes {llvm.emit_c_interface}
func.func private @count(i32) -> (i32, memref<2xf32>) attributes {llvm.emit_c_interface}
func.func private @ranks(memref<*xf32>) -> i64 attributes {llvm.emit_c_interface}
func.func @through(%x: memref<4xf32>, %f: f32) -> f32 attributes {llvm.emit_c_interface} {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c20 = arith.constant 20 : i32
  %y = call @fill(%x, %f) : (memref<4xf32>, f32) -> memref<4xf32>
  %0 = memref.load %y[%c3] : memref<4xf32>
  %1:2 = call @count(%c20) : (i32) -> (i32, memref<2xf32>)
  %2 = arith.sitofp %1#0 : i32 to f32
  %3 = memref.load %1#1[%c1] : memref<2xf32>
  %any = memref.cast %x : memref<4xf32> to memref<*xf32>
  %4 = call @ranks(%any) : (memref<*xf32>) -> i64
  %5 = arith.sitofp %4 : i64 to f32
  %6 = arith.addf %0, %2 : f32
  %7 = arith.addf %6, %3 : f32
  %8 = arith.addf %7, %5 : f32
  return %8 : f32
}";
    let c = "
typedef struct { Vector vector; int64_t size; } Scaled;
void _mlir_ciface_scale(Scaled *result, Vector *x, float f);
float _mlir_ciface_corner(Matrix *x);
int64_t _mlir_ciface_rank(Any *x);
float _mlir_ciface_through(Vector *x, float f);
void _mlir_ciface_fill(Vector *result, Vector *x, float f) {
  for (int64_t i = 0; i < x->sizes[0]; i++) x->aligned[x->offset + i * x->strides[0]] = f;
  *result = *x;
}
static float two[2] = {300, 4000};
typedef struct { int32_t number; Vector vector; } Counted;
void _mlir_ciface_count(Counted *result, int32_t n) {
  *result = (Counted){n, {two, two, 0, {2}, {1}}};
}
int64_t _mlir_ciface_ranks(Any *x) {
  Vector *vector = x->descriptor;
  return 10000 * x->rank * vector->sizes[0];
}
int main(void) {
  float data[4] = {1, 2, 3, 4};
  Vector x = {data, data, 0, {4}, {1}};
  Scaled scaled;
  _mlir_ciface_scale(&scaled, &x, 10);
  CHECK(scaled.size == 4 && scaled.vector.sizes[0] == 4)
  CHECK(scaled.vector.aligned != data && scaled.vector.aligned[3] == 40)
  free(scaled.vector.allocated);
  Matrix m = {data, data, 1, {2, 2}, {1, 1}};
  CHECK(_mlir_ciface_corner(&m) == 4)
  Any any = {2, &m};
  CHECK(_mlir_ciface_rank(&any) == 2)
  CHECK(_mlir_ciface_through(&x, 7) == 7 + 20 + 4000 + 40000)
  CHECK(data[0] == 7 && data[3] == 7)
  return 0;
}";
    run("wrappers", Options::default(), program, c);
}

#[test]
fn c_passes_and_gets_bare_pointers() {
    let program = "
func.func private @ext(memref<4xf32>, index) -> memref<4xf32>
func.func @sum(%x: memref<4xf32>, %y: memref<2x3xf32>, %f: f32) -> f32 {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  memref.store %f, %x[%c1] : memref<4xf32>
  %0 = memref.load %y[%c1, %c2] : memref<2x3xf32>
  %z = call @ext(%x, %c1) : (memref<4xf32>, index) -> memref<4xf32>
  %1 = memref.load %z[%c2] : memref<4xf32>
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}
func.func @view(%x: memref<64xi8>) -> (memref<4xf32>, index) {
  %c16 = arith.constant 16 : index
  %0 = memref.view %x[%c16][] : memref<64xi8> to memref<4xf32>
  return %0, %c16 : memref<4xf32>, index
}
func.func @new(%f: f32) -> memref<5xf32> {
  %c4 = arith.constant 4 : index
  %0 = memref.alloc() {alignment = 256 : i64} : memref<5xf32>
  memref.store %f, %0[%c4] : memref<5xf32>
  return %0 : memref<5xf32>
}
func.func @last_of_new(%f: f32) -> f32 {
  %c4 = arith.constant 4 : index
  %0 = call @new(%f) : (f32) -> memref<5xf32>
  %1 = memref.load %0[%c4] : memref<5xf32>
  memref.dealloc %0 : memref<5xf32>
  return %1 : f32
}";
    let c = "
float sum(float *x, float *y, float f);
typedef struct { float *pointer; int64_t size; } Pair;
Pair view(char *x);
float *new(float f);
float last_of_new(float f);
static float others[4] = {10, 20, 30, 40};
float *ext(float *x, int64_t i) { return x[i] == 9 ? others : x; }
int main(void) {
  float x[4] = {0}, y[6] = {0, 0, 0, 0, 0, 500};
  CHECK(sum(x, y, 9) == 530 && x[1] == 9)
  _Alignas(16) char bytes[64];
  Pair pair = view(bytes);
  CHECK((char *)pair.pointer == bytes + 16 && pair.size == 16)
  float *fresh = new(3);
  CHECK((uintptr_t)fresh % 256 == 0 && fresh[4] == 3)
  free(fresh);
  CHECK(last_of_new(8) == 8)
  return 0;
}";
    run("bare", Options { bare_pointers: true }, program, c);
}
