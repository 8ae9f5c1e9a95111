// Kinds of MLIR's own types and attributes.
irdl.dialect @kind {
  irdl.operation @types {
    %0 = irdl.base "!builtin.vector"
    %1 = irdl.base "!builtin.memref"
    %2 = irdl.base "!builtin.function"
    %3 = irdl.base "!builtin.f32"
    irdl.operands(v: %0, m: %1, f: %2, x: %3)
  }
  irdl.operation @tensors {
    %0 = irdl.base "!builtin.tensor"
    %1 = irdl.base "!builtin.unranked_tensor"
    %2 = irdl.base "!builtin.unranked_memref"
    irdl.operands(t: %0, u: %1, m: %2)
  }
  irdl.operation @attrs {
    %0 = irdl.base "#builtin.integer"
    %1 = irdl.base "#builtin.string"
    %2 = irdl.base "#builtin.array"
    %3 = irdl.base "#builtin.float"
    %4 = irdl.base "#builtin.type"
    %5 = irdl.base "#builtin.unit"
    %6 = irdl.base "#builtin.symbol_ref"
    irdl.attributes {"i" = %0, "s" = %1, "a" = %2, "f" = %3, "t" = %4, "u" = %5, "r" = %6}
  }
}
// -----
func.func @right(%v: vector<4xf32>, %m: memref<4xi8>, %f: (i8) -> i8, %x: f32) {
  "kind.types"(%v, %m, %f, %x) : (vector<4xf32>, memref<4xi8>, (i8) -> i8, f32) -> ()
  "kind.attrs"() {i = 3 : i8, s = "x", a = [1], f = 1.0, t = i32, u, r = @x} : () -> ()
  return
}
// -----
func.func @tensors(%t: tensor<4xf32>, %u: tensor<*xf32>, %m: memref<*xf32>) {
  "kind.tensors"(%t, %u, %m) : (tensor<4xf32>, tensor<*xf32>, memref<*xf32>) -> ()
  return
}
// -----
func.func @ranked(%t: tensor<4xf32>, %u: tensor<*xf32>, %m: memref<*xf32>) {
  "kind.tensors"(%t, %t, %m) : (tensor<4xf32>, tensor<4xf32>, memref<*xf32>) -> ()
  return
}
// -----
func.func @scalar(%v: vector<4xf32>, %m: memref<4xi8>, %f: (i8) -> i8, %x: f32) {
  "kind.types"(%x, %m, %f, %x) : (f32, memref<4xi8>, (i8) -> i8, f32) -> ()
  return
}
// -----
func.func @float() {
  "kind.attrs"() {i = 3.0, s = "x", a = [1], f = 1.0, t = i32, u, r = @x} : () -> ()
  return
}
// -----
func.func @bool() {
  "kind.attrs"() {i = true, s = "x", a = [], f = 1.0 : f16, t = i32, u, r = @x::@y} : () -> ()
  return
}
