// Two layers: relu(x w1 + b1) w2 + b2.
#all = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func @mlp(%x: memref<256x512xf32>, %w1: memref<512x1024xf32>, %b1: memref<1024xf32>, %w2: memref<1024x512xf32>, %b2: memref<512xf32>, %y: memref<256x512xf32>) {
  %zero = arith.constant 0.0 : f32
  %h = memref.alloc() : memref<256x1024xf32>
  linalg.fill ins(%zero : f32) outs(%h : memref<256x1024xf32>)
  linalg.matmul ins(%x, %w1 : memref<256x512xf32>, memref<512x1024xf32>) outs(%h : memref<256x1024xf32>)
  linalg.generic {indexing_maps = [#column, #all], iterator_types = ["parallel", "parallel"]} ins(%b1 : memref<1024xf32>) outs(%h : memref<256x1024xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%h : memref<256x1024xf32>) {
    ^bb0(%out: f32):
      %0 = arith.maximumf %out, %zero : f32
      linalg.yield %0 : f32
  }
  linalg.fill ins(%zero : f32) outs(%y : memref<256x512xf32>)
  linalg.matmul ins(%h, %w2 : memref<256x1024xf32>, memref<1024x512xf32>) outs(%y : memref<256x512xf32>)
  linalg.generic {indexing_maps = [#column, #all], iterator_types = ["parallel", "parallel"]} ins(%b2 : memref<512xf32>) outs(%y : memref<256x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
  }
  memref.dealloc %h : memref<256x1024xf32>
  return
}
