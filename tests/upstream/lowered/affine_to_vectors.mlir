// RUN: --affine-super-vectorize=virtual-vector-size=4
func.func @scale(%a: memref<128xf32>, %f: f32) {
  affine.for %i = 0 to 128 {
    %0 = affine.load %a[%i] : memref<128xf32>
    %1 = arith.mulf %0, %f : f32
    affine.store %1, %a[%i] : memref<128xf32>
  }
  return
}
