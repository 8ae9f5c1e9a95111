// RUN: --convert-scf-to-openmp --convert-openmp-to-llvm
func.func @p(%n: index, %m: memref<?xi32>, %v: i32) {
  scf.parallel (%i) = (%n) to (%n) step (%n) {
    memref.store %v, %m[%i] : memref<?xi32>
  }
  return
}
