// RUN: --normalize-quant-types --lower-quant-ops
!q = !quant.uniform<i8:f32, 0.5:-1>
func.func @f(%a: tensor<4xf32>) -> tensor<4x!q> {
  %q = quant.qcast %a : tensor<4xf32> to tensor<4x!q>
  return %q : tensor<4x!q>
}
