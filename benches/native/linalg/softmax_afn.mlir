// The softmax of each row, with functions that may be approximate.
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @softmax_afn(%x: memref<1024x1024xf32>, %y: memref<1024x1024xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %m = memref.alloc() : memref<1024xf32>
  %s = memref.alloc() : memref<1024xf32>
  linalg.fill ins(%low : f32) outs(%m : memref<1024xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<1024x1024xf32>) outs(%m : memref<1024xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.maximumf %out, %in : f32
      linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %m : memref<1024x1024xf32>, memref<1024xf32>) outs(%y : memref<1024x1024xf32>) {
    ^bb0(%in: f32, %max: f32, %out: f32):
      %0 = arith.subf %in, %max : f32
      %1 = math.exp %0 fastmath<afn> : f32
      linalg.yield %1 : f32
  }
  linalg.fill ins(%zero : f32) outs(%s : memref<1024xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%y : memref<1024x1024xf32>) outs(%s : memref<1024xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %out, %in : f32
      linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]} ins(%s : memref<1024xf32>) outs(%y : memref<1024x1024xf32>) {
    ^bb0(%sum: f32, %out: f32):
      %0 = arith.divf %out, %sum : f32
      linalg.yield %0 : f32
  }
  memref.dealloc %m : memref<1024xf32>
  memref.dealloc %s : memref<1024xf32>
  return
}
