// One head of attention: softmax(q k^T / 8) v.
#q = affine_map<(i, j, k) -> (i, k)>
#k = affine_map<(i, j, k) -> (j, k)>
#out = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @attention(%q: memref<512x64xf32>, %k: memref<512x64xf32>, %v: memref<512x64xf32>, %o: memref<512x64xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %p = memref.alloc() : memref<512x512xf32>
  %m = memref.alloc() : memref<512xf32>
  %s = memref.alloc() : memref<512xf32>
  linalg.fill ins(%zero : f32) outs(%p : memref<512x512xf32>)
  linalg.generic {indexing_maps = [#q, #k, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q, %k : memref<512x64xf32>, memref<512x64xf32>) outs(%p : memref<512x512xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %out, %0 : f32
      linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%p : memref<512x512xf32>) {
    ^bb0(%out: f32):
      %0 = arith.mulf %out, %scale : f32
      linalg.yield %0 : f32
  }
  linalg.fill ins(%low : f32) outs(%m : memref<512xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%p : memref<512x512xf32>) outs(%m : memref<512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.maximumf %out, %in : f32
      linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]} ins(%m : memref<512xf32>) outs(%p : memref<512x512xf32>) {
    ^bb0(%max: f32, %out: f32):
      %0 = arith.subf %out, %max : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
  }
  linalg.fill ins(%zero : f32) outs(%s : memref<512xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%p : memref<512x512xf32>) outs(%s : memref<512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %out, %in : f32
      linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]} ins(%s : memref<512xf32>) outs(%p : memref<512x512xf32>) {
    ^bb0(%sum: f32, %out: f32):
      %0 = arith.divf %out, %sum : f32
      linalg.yield %0 : f32
  }
  linalg.fill ins(%zero : f32) outs(%o : memref<512x64xf32>)
  linalg.matmul ins(%p, %v : memref<512x512xf32>, memref<512x64xf32>) outs(%o : memref<512x64xf32>)
  memref.dealloc %p : memref<512x512xf32>
  memref.dealloc %m : memref<512xf32>
  memref.dealloc %s : memref<512xf32>
  return
}
