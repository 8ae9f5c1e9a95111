// A product of matrices.
func.func @matmul(%a: memref<768x768xf32>, %b: memref<768x768xf32>, %c: memref<768x768xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<768x768xf32>)
  linalg.matmul ins(%a, %b : memref<768x768xf32>, memref<768x768xf32>) outs(%c : memref<768x768xf32>)
  return
}
