// A convolution of 16 channels to 32 by 3 x 3, a bias, relu, and the greatest of 2 x 2.
func.func @convolution(%x: memref<1x16x66x66xf32>, %w: memref<32x16x3x3xf32>, %b: memref<32xf32>, %y: memref<1x32x32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %c = memref.alloc() : memref<1x32x64x64xf32>
  %window = memref.alloc() : memref<2x2xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<1x32x64x64xf32>)
  linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : memref<1x16x66x66xf32>, memref<32x16x3x3xf32>) outs(%c : memref<1x32x64x64xf32>)
  linalg.generic {indexing_maps = [affine_map<(n, f, i, j) -> (f)>, affine_map<(n, f, i, j) -> (n, f, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%b : memref<32xf32>) outs(%c : memref<1x32x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      %1 = arith.maximumf %0, %zero : f32
      linalg.yield %1 : f32
  }
  linalg.fill ins(%low : f32) outs(%y : memref<1x32x32x32xf32>)
  linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%c, %window : memref<1x32x64x64xf32>, memref<2x2xf32>) outs(%y : memref<1x32x32x32xf32>)
  memref.dealloc %c : memref<1x32x64x64xf32>
  memref.dealloc %window : memref<2x2xf32>
  return
}
