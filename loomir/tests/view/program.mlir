// A fusion with a shift, a refusal, and loops that are fused behind a test.
func.func @late(%a: memref<20xi32> {llvm.noalias}, %b: memref<20xi32> {llvm.noalias}, %v: i32) {
  affine.for %i = 0 to 16 {
    affine.store %v, %a[%i] : memref<20xi32>
  }
  affine.for %i = 0 to 16 {
    %0 = affine.load %a[%i + 2] : memref<20xi32>
    affine.store %0, %b[%i] : memref<20xi32>
  }
  return
}

func.func @turned(%a: memref<16xi32> {llvm.noalias}, %b: memref<16xi32> {llvm.noalias}, %c: memref<16xi32>) {
  affine.for %i = 0 to 16 {
    %0 = affine.load %c[%i] : memref<16xi32>
    affine.store %0, %a[%i] : memref<16xi32>
  }
  affine.for %i = 0 to 16 {
    %0 = affine.load %a[15 - %i] : memref<16xi32>
    %1 = affine.load %a[%i] : memref<16xi32>
    %2 = arith.addi %0, %1 : i32
    affine.store %2, %b[%i] : memref<16xi32>
  }
  return
}

func.func @apart(%x: memref<?xi32>, %y: memref<?xi32>, %z: memref<?xi32>, %n: index) {
  affine.for %i = 0 to %n {
    %0 = affine.load %x[%i] : memref<?xi32>
    affine.store %0, %y[%i] : memref<?xi32>
  }
  affine.for %i = 0 to %n {
    %0 = affine.load %y[%i] : memref<?xi32>
    affine.store %0, %z[%i] : memref<?xi32>
  }
  return
}
