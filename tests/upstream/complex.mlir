func.func @roots(%a: complex<f32>, %b: f64) -> f32 {
  %c = complex.constant [1.0 : f32, -0.5 : f32] : complex<f32>
  %s = complex.add %a, %c fastmath<fast> : complex<f32>
  %q = complex.sqrt %s : complex<f32>
  %n = complex.neq %q, %a : complex<f32>
  %k = complex.create %b, %b : complex<f64>
  %r = complex.re %s : complex<f32>
  %d = arith.constant dense<[(1.0, 2.5), (-0.0, 0x7FC00000)]> : tensor<2xcomplex<f32>>
  %i = arith.constant dense<(1, -1)> : tensor<4xcomplex<i8>>
  return %r : f32
}
