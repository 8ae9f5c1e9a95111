func.func @total(%a: memref<4xi8>, %b: memref<4xi8>, %total: memref<1xi8>) {
  %c0 = arith.constant 0 : index
  affine.for %i = 0 to 4 {
    %0 = affine.load %a[%i] : memref<4xi8>
    sat.accumulate %0, %total[%c0] : memref<1xi8>
  }
  affine.for %i = 0 to 4 {
    %0 = affine.load %total[0] : memref<1xi8>
    affine.store %0, %b[%i] : memref<4xi8>
  }
  return
}
