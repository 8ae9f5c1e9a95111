// A type with a parameter, and operations that relate its parameter to other types.
irdl.dialect @cmath {
  irdl.type @complex {
    %0 = irdl.is f32
    %1 = irdl.is f64
    %2 = irdl.any_of(%0, %1)
    irdl.parameters(elem: %2)
  }
  irdl.operation @norm {
    %0 = irdl.any
    %1 = irdl.parametric @cmath::@complex<%0>
    irdl.operands(in: %1)
    irdl.results(out: %0)
  }
  irdl.operation @mul {
    %0 = irdl.is f32
    %1 = irdl.is f64
    %2 = irdl.any_of(%0, %1)
    %3 = irdl.parametric @cmath::@complex<%2>
    irdl.operands(lhs: %3, rhs: %3)
    irdl.results(res: %3)
  }
}
// -----
func.func @right(%p: !cmath.complex<f32>, %q: !cmath.complex<f32>) -> f32 {
  %0 = "cmath.mul"(%p, %q) : (!cmath.complex<f32>, !cmath.complex<f32>) -> !cmath.complex<f32>
  %1 = "cmath.norm"(%0) : (!cmath.complex<f32>) -> f32
  return %1 : f32
}
// -----
func.func @verbose(%p: !cmath<complex<f64>>) { return }
// -----
func.func private @parameter(!cmath.complex<i32>)
// -----
func.func private @no_parameter(!cmath.complex)
// -----
func.func private @empty_list(!cmath.complex<>)
// -----
func.func private @two_parameters(!cmath.complex<f32, f32>)
// -----
func.func private @no_type(!cmath.quaternion<f32>)
// -----
func.func @element(%p: !cmath.complex<f32>) {
  %0 = "cmath.norm"(%p) : (!cmath.complex<f32>) -> f64
  return
}
// -----
func.func @two_types(%p: !cmath.complex<f32>, %q: !cmath.complex<f64>) {
  %0 = "cmath.mul"(%p, %q) : (!cmath.complex<f32>, !cmath.complex<f64>) -> !cmath.complex<f32>
  return
}
// -----
func.func @operands(%p: !cmath.complex<f32>) {
  %0 = "cmath.mul"(%p) : (!cmath.complex<f32>) -> !cmath.complex<f32>
  return
}
// -----
func.func @results(%p: !cmath.complex<f32>) {
  "cmath.norm"(%p) : (!cmath.complex<f32>) -> ()
  return
}
// -----
func.func @unknown(%p: !cmath.complex<f32>) {
  "cmath.nrom"(%p) : (!cmath.complex<f32>) -> ()
  return
}
// -----
func.func @no_format(%p: !cmath.complex<f32>) {
  %0 = cmath.norm %p : f32
  return
}
// -----
func.func @region(%p: !cmath.complex<f32>) {
  %0 = "cmath.norm"(%p) ({}) : (!cmath.complex<f32>) -> f32
  return
}
