// RUN: --affine-loop-tile=tile-size=3 --lower-affine
func.func @scale(%a: memref<?x?xf32>, %n: index, %f: f32) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 10 {
      affine.store %f, %a[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
