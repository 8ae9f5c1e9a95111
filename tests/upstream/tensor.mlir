func.func @reshape(%t: tensor<4x?xf32>, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<2x?xf32>
  %c = tensor.collapse_shape %t [[0, 1]] : tensor<4x?xf32> into tensor<?xf32>
  %x = tensor.expand_shape %c [[0, 1]] output_shape [%n, 4] : tensor<?xf32> into tensor<?x4xf32>
  %k = tensor.cast %x : tensor<?x4xf32> to tensor<*xf32>
  %r = tensor.rank %k : tensor<*xf32>
  %d = tensor.dim %x, %r : tensor<?x4xf32>
  return %c : tensor<?xf32>
}
// -----
func.func @slices(%t: tensor<8x16xi32>, %s: tensor<4x4xi32>, %o: index) -> tensor<8x16xi32> {
  %a = tensor.extract_slice %t[%o, 2] [4, 4] [1, 2] : tensor<8x16xi32> to tensor<4x4xi32>
  %b = tensor.insert_slice %a into %t[0, %o] [4, 4] [1, 1] : tensor<4x4xi32> into tensor<8x16xi32>
  %v = tensor.extract %b[%o, %o] : tensor<8x16xi32>
  %w = tensor.insert %v into %s[%o, %o] : tensor<4x4xi32>
  return %b : tensor<8x16xi32>
}
// -----
func.func @bodies(%f: f32, %n: index) -> tensor<?x5xf32> {
  %g = tensor.generate %n {
  ^bb0(%i: index, %j: index):
    tensor.yield %f : f32
  } : tensor<?x5xf32>
  %p = tensor.pad %g nofold low[0, 1] high[%n, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %f : f32
  } : tensor<?x5xf32> to tensor<?x8xf32>
  %s = tensor.splat %f : tensor<3x3xf32>
  %e = tensor.from_elements %f, %f : tensor<2xf32>
  %c = tensor.concat dim(0) %e, %e : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %g : tensor<?x5xf32>
}
