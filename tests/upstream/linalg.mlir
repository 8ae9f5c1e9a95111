// REFUSED: linalg on tensors
#rows = affine_map<(i, j) -> (i)>
#both = affine_map<(i, j) -> (i, j)>
func.func @sum_of_rows(%m: tensor<4x8xf64>, %o: tensor<4xf64>) -> tensor<4xf64> {
  %r = linalg.generic {indexing_maps = [#both, #rows], iterator_types = ["parallel", "reduction"], doc = "rows"}
      ins(%m : tensor<4x8xf64>) outs(%o : tensor<4xf64>) attrs = {tile = [2, 4]} {
  ^bb0(%a: f64, %b: f64):
    %s = arith.addf %a, %b fastmath<reassoc> : f64
    %i = linalg.index 1 : index
    linalg.yield %s : f64
  } -> tensor<4xf64>
  return %r : tensor<4xf64>
}
// -----
func.func @named(%a: memref<4x8xf32>, %b: memref<8x4xf32>, %c: memref<4x4xf32>, %f: f32) {
  linalg.fill ins(%f : f32) outs(%c : memref<4x4xf32>)
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x4xf32>) outs(%c : memref<4x4xf32>)
  linalg.transpose ins(%a : memref<4x8xf32>) outs(%b : memref<8x4xf32>) permutation = [1, 0]
  linalg.map { arith.mulf } ins(%c, %c : memref<4x4xf32>, memref<4x4xf32>) outs(%c : memref<4x4xf32>)
  linalg.copy ins(%c : memref<4x4xf32>) outs(%c : memref<4x4xf32>)
  return
}
// -----
func.func @convolution(%i: tensor<1x8x8x3xi8>, %k: tensor<3x3x3x4xi8>, %o: tensor<1x6x6x4xi32>) -> tensor<1x6x6x4xi32> {
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%i, %k : tensor<1x8x8x3xi8>, tensor<3x3x3x4xi8>) outs(%o : tensor<1x6x6x4xi32>) -> tensor<1x6x6x4xi32>
  %d = tensor.empty() : tensor<1x6x4x6xi32>
  %t = linalg.transpose ins(%r : tensor<1x6x6x4xi32>) outs(%d : tensor<1x6x4x6xi32>) permutation = [0, 1, 3, 2]
  %z = tensor.empty() : tensor<1x6x6xi32>
  %red = linalg.reduce { arith.addi } ins(%r : tensor<1x6x6x4xi32>) outs(%z : tensor<1x6x6xi32>) dimensions = [3]
  return %r : tensor<1x6x6x4xi32>
}
// -----
func.func @pack(%t: tensor<16x32xf32>, %d: tensor<2x4x8x8xf32>) -> tensor<16x32xf32> {
  %p = linalg.pack %t inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %d : tensor<16x32xf32> -> tensor<2x4x8x8xf32>
  %u = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %t : tensor<2x4x8x8xf32> -> tensor<16x32xf32>
  return %u : tensor<16x32xf32>
}
