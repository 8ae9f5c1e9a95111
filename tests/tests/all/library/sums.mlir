func.func @sums(%a: memref<8xi32>, %b: memref<8xi32>) {
  %zero = arith.constant 0 : i32
  affine.for %i = 0 to 8 {
    %x = affine.load %a[%i] : memref<8xi32>
    %y = arith.addi %x, %zero : i32
    affine.store %y, %b[%i] : memref<8xi32>
  }
  return
}
