// Regions: the types of their arguments, and the number of their blocks.
irdl.dialect @reg {
  irdl.operation @free {
    %r = irdl.region
    irdl.regions(body: %r)
  }
  irdl.operation @closed {
    %0 = irdl.any
    %1 = irdl.is i32
    %r = irdl.region()
    %s = irdl.region(%0, %1)
    %t = irdl.region with size 2
    irdl.operands(x: %0)
    irdl.regions(none: %r, some: %s, two: %t)
  }
}
// -----
func.func @right(%x: f32) {
  "reg.free"() ({}) : () -> ()
  "reg.free"() ({
  ^bb0(%a: i8, %b: i8):
    "cf.br"()[^bb1] : () -> ()
  ^bb1:
    "func.return"() : () -> ()
  }) : () -> ()
  return
}
// -----
func.func @no_region() {
  "reg.free"() : () -> ()
  return
}
// -----
func.func @two_regions() {
  "reg.free"() ({}, {}) : () -> ()
  return
}
// -----
func.func @arguments(%x: f32) {
  "reg.closed"(%x) ({
    "cf.br"()[^bb1] : () -> ()
  ^bb1:
    "cf.br"()[^bb1] : () -> ()
  }, {
  ^bb0(%a: f32, %b: i32):
    "cf.br"()[^bb1] : () -> ()
  ^bb1:
    "cf.br"()[^bb1] : () -> ()
  }, {
    "cf.br"()[^bb1] : () -> ()
  ^bb1:
    "cf.br"()[^bb1] : () -> ()
  }) : (f32) -> ()
  return
}
// -----
func.func @first_has_one(%x: f32) {
  "reg.closed"(%x) ({
  ^bb0(%a: f32):
    "cf.br"()[^bb1] : () -> ()
  ^bb1:
    "cf.br"()[^bb1] : () -> ()
  }, {
  ^bb0(%a: f32, %b: i32):
    "cf.br"()[^bb1] : () -> ()
  ^bb1:
    "cf.br"()[^bb1] : () -> ()
  }, {}) : (f32) -> ()
  return
}
// -----
func.func @other_type(%x: f32) {
  "reg.closed"(%x) ({}, {
  ^bb0(%a: f64, %b: i32):
    "cf.br"()[^bb1] : () -> ()
  ^bb1:
    "cf.br"()[^bb1] : () -> ()
  }, {}) : (f32) -> ()
  return
}
// -----
func.func @blocks(%x: f32) {
  "reg.closed"(%x) ({}, {
  ^bb0(%a: f32, %b: i32):
    "cf.br"()[^bb1] : () -> ()
  ^bb1:
    "cf.br"()[^bb1] : () -> ()
  }, {}) : (f32) -> ()
  return
}
