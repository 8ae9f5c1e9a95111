// RUN: --convert-complex-to-standard --convert-complex-to-llvm
func.func @f(%a: complex<f32>, %b: complex<f32>) -> f32 {
  %0 = complex.mul %a, %b : complex<f32>
  %1 = complex.abs %0 : complex<f32>
  return %1 : f32
}
