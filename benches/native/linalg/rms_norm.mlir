// Each row is divided by the root of the mean of its squares, and multiplied by a gain.
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @rms_norm(%x: memref<2048x1024xf32>, %gain: memref<1024xf32>, %y: memref<2048x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 1024.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %squares = memref.alloc() : memref<2048xf32>
  linalg.fill ins(%zero : f32) outs(%squares : memref<2048xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<2048x1024xf32>) outs(%squares : memref<2048xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.mulf %in, %in : f32
      %1 = arith.addf %out, %0 : f32
      linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%squares : memref<2048xf32>) {
    ^bb0(%out: f32):
      %0 = arith.divf %out, %n : f32
      %1 = arith.addf %0, %epsilon : f32
      %2 = math.rsqrt %1 : f32
      linalg.yield %2 : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #column, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %squares, %gain : memref<2048x1024xf32>, memref<2048xf32>, memref<1024xf32>) outs(%y : memref<2048x1024xf32>) {
    ^bb0(%in: f32, %s: f32, %g: f32, %out: f32):
      %0 = arith.mulf %in, %s : f32
      %1 = arith.mulf %0, %g : f32
      linalg.yield %1 : f32
  }
  memref.dealloc %squares : memref<2048xf32>
  return
}
