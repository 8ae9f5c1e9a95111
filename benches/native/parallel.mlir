func.func @product(%a: memref<768x768xf64>, %b: memref<768x768xf64>, %c: memref<768x768xf64>) {
  affine.for %i = 0 to 768 {
    affine.for %k = 0 to 768 {
      affine.for %j = 0 to 768 {
        %x = affine.load %a[%i, %k] : memref<768x768xf64>
        %y = affine.load %b[%k, %j] : memref<768x768xf64>
        %z = affine.load %c[%i, %j] : memref<768x768xf64>
        %m = arith.mulf %x, %y : f64
        %s = arith.addf %z, %m : f64
        affine.store %s, %c[%i, %j] : memref<768x768xf64>
      }
    }
  }
  return
}
func.func @triad(%a: memref<16777216xf64>, %b: memref<16777216xf64>, %c: memref<16777216xf64>) {
  %q = arith.constant 3.0 : f64
  affine.for %i = 0 to 16777216 {
    %x = affine.load %a[%i] : memref<16777216xf64>
    %y = affine.load %b[%i] : memref<16777216xf64>
    %m = arith.mulf %y, %q : f64
    %s = arith.addf %x, %m : f64
    affine.store %s, %c[%i] : memref<16777216xf64>
  }
  return
}
