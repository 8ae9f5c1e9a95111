// One constraint for operands, results, attributes and arguments of regions is one type.
irdl.dialect @var {
  irdl.operation @same {
    %0 = irdl.any
    irdl.operands(a: %0, b: %0)
    irdl.results(c: %0)
  }
  irdl.operation @typed {
    %0 = irdl.any
    %r = irdl.region(%0)
    irdl.attributes {"type" = %0}
    irdl.operands(a: %0)
    irdl.regions(body: %r)
  }
  irdl.operation @exactly {
    %0 = irdl.is vector<4xf32>
    %1 = irdl.is memref<?xi8>
    irdl.operands(a: %0, b: %1)
  }
}
// -----
func.func @right(%x: f32, %v: vector<4xf32>, %m: memref<?xi8>) {
  %0 = "var.same"(%x, %x) : (f32, f32) -> f32
  "var.exactly"(%v, %m) : (vector<4xf32>, memref<?xi8>) -> ()
  "var.typed"(%x) ({
  ^bb0(%a: f32):
    "func.return"() : () -> ()
  }) {type = f32} : (f32) -> ()
  return
}
// -----
func.func @result(%x: f32) {
  %0 = "var.same"(%x, %x) : (f32, f32) -> f64
  return
}
// -----
func.func @operand(%x: f32, %y: f64) {
  %0 = "var.same"(%x, %y) : (f32, f64) -> f64
  return
}
// -----
func.func @attribute(%x: f32) {
  "var.typed"(%x) ({
  ^bb0(%a: f32):
    "cf.br"()[^bb1] : () -> ()
  ^bb1:
    "cf.br"()[^bb1] : () -> ()
  }) {type = f64} : (f32) -> ()
  return
}
// -----
func.func @argument(%x: f32) {
  "var.typed"(%x) ({
  ^bb0(%a: f64):
    "cf.br"()[^bb1] : () -> ()
  ^bb1:
    "cf.br"()[^bb1] : () -> ()
  }) {type = f32} : (f32) -> ()
  return
}
// -----
func.func @shape(%x: vector<5xf32>, %m: memref<?xi8>) {
  "var.exactly"(%x, %m) : (vector<5xf32>, memref<?xi8>) -> ()
  return
}
