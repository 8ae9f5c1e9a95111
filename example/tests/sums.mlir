func.func @sums(%a: memref<4xi8>, %b: memref<4xi8>, %total: memref<1xi8>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i8
  affine.for %i = 0 to 4 {
    %0 = affine.load %a[%i] : memref<4xi8>
    %1 = sat.add %0, %0 : i8
    %2 = sat.add %1, %zero : i8
    affine.store %2, %b[%i] : memref<4xi8>
  }
  affine.for %i = 0 to 4 {
    %0 = affine.load %b[%i] : memref<4xi8>
    sat.accumulate %0, %total[%c0] : memref<1xi8>
  }
  return
}
