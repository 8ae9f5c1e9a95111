// RUN: --one-shot-bufferize=bufferize-function-boundaries
func.func @update(%t: tensor<?x8xf32>, %f: f32, %i: index) -> tensor<?x8xf32> {
  %0 = tensor.insert %f into %t[%i, %i] : tensor<?x8xf32>
  %1 = tensor.extract_slice %0[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
  %2 = tensor.insert_slice %1 into %0[0, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}
