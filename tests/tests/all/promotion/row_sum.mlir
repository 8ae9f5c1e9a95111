// The sum of each row, for any number of rows and columns.
func.func @row_sum(%a: memref<?x?xf32>, %acc: memref<?xf32>, %n: index, %m: index) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.load %acc[%i] : memref<?xf32>
      %1 = affine.load %a[%i, %j] : memref<?x?xf32>
      %2 = arith.addf %0, %1 : f32
      affine.store %2, %acc[%i] : memref<?xf32>
    }
  }
  return
}
