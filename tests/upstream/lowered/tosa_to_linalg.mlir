// RUN: --pass-pipeline=builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg))
// REFUSED: linalg on tensors
func.func @f(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>) -> tensor<2x1xf32> {
  %0 = tosa.add %a, %b : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %1 = tosa.reduce_max %0 {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return %1 : tensor<2x1xf32>
}
