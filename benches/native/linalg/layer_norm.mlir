// Layer normalisation: each row gets the mean 0 and the variance 1, a gain and a shift.
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @layer_norm(%x: memref<2048x1024xf32>, %gain: memref<1024xf32>, %shift: memref<1024xf32>, %y: memref<2048x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 1024.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %mean = memref.alloc() : memref<2048xf32>
  %variance = memref.alloc() : memref<2048xf32>
  linalg.fill ins(%zero : f32) outs(%mean : memref<2048xf32>)
  linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<2048x1024xf32>) outs(%mean : memref<2048xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %out, %in : f32
      linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%mean : memref<2048xf32>) {
    ^bb0(%out: f32):
      %0 = arith.divf %out, %n : f32
      linalg.yield %0 : f32
  }
  linalg.fill ins(%zero : f32) outs(%variance : memref<2048xf32>)
  linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %mean : memref<2048x1024xf32>, memref<2048xf32>) outs(%variance : memref<2048xf32>) {
    ^bb0(%in: f32, %m: f32, %out: f32):
      %0 = arith.subf %in, %m : f32
      %1 = arith.mulf %0, %0 : f32
      %2 = arith.addf %out, %1 : f32
      linalg.yield %2 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%variance : memref<2048xf32>) {
    ^bb0(%out: f32):
      %0 = arith.divf %out, %n : f32
      %1 = arith.addf %0, %epsilon : f32
      %2 = math.rsqrt %1 : f32
      linalg.yield %2 : f32
  }
  linalg.generic {indexing_maps = [#all, #row, #row, #column, #column, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %mean, %variance, %gain, %shift : memref<2048x1024xf32>, memref<2048xf32>, memref<2048xf32>, memref<1024xf32>, memref<1024xf32>) outs(%y : memref<2048x1024xf32>) {
    ^bb0(%in: f32, %m: f32, %v: f32, %g: f32, %b: f32, %out: f32):
      %0 = arith.subf %in, %m : f32
      %1 = arith.mulf %0, %v : f32
      %2 = arith.mulf %1, %g : f32
      %3 = arith.addf %2, %b : f32
      linalg.yield %3 : f32
  }
  memref.dealloc %mean : memref<2048xf32>
  memref.dealloc %variance : memref<2048xf32>
  return
}
