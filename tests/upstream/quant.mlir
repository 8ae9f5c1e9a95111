!q = !quant.uniform<i8:f32, 0.5:-1>
func.func @types(%a: tensor<4x!q>, %b: tensor<2x3x!quant.uniform<u8<1:250>:f32:1, {2.0:120, 1.5, 1.0e-2:3}>>, %c: !quant.any<i8<-8:7>:f32>, %d: !quant.calibrated<f32<-0.998:1.2321>>) -> tensor<4xf32> {
  %s = quant.scast %a : tensor<4x!q> to tensor<4xi8>
  %f = quant.dcast %a : tensor<4x!q> to tensor<4xf32>
  %q = quant.qcast %f : tensor<4xf32> to tensor<4x!q>
  return %f : tensor<4xf32>
}
