// A product of matrices, 512 by 512, each element a sum in order.
func.func @product(%a: memref<512x512xf32> {llvm.noalias}, %b: memref<512x512xf32> {llvm.noalias},
                   %c: memref<512x512xf32> {llvm.noalias}) {
  affine.for %i = 0 to 512 {
    affine.for %j = 0 to 512 {
      %z = affine.load %c[%i, %j] : memref<512x512xf32>
      %s = affine.for %k = 0 to 512 iter_args(%t = %z) -> f32 {
        %x = affine.load %a[%i, %k] : memref<512x512xf32>
        %y = affine.load %b[%k, %j] : memref<512x512xf32>
        %p = arith.mulf %x, %y : f32
        %u = arith.addf %t, %p : f32
        affine.yield %u : f32
      }
      affine.store %s, %c[%i, %j] : memref<512x512xf32>
    }
  }
  return
}
