irdl.dialect @a {
  irdl.operation @x attributes {loomir.trait = ["Pure"]}
}
// -----
irdl.dialect @a {
  irdl.operation @x attributes {loomir.traits = ["pure"]}
}
// -----
irdl.dialect @a {
  irdl.operation @x attributes {loomir.traits = "Pure"}
}
// -----
irdl.dialect @a {
  irdl.operation @x attributes {loomir.traits = ["ReturnLike"]}
}
// -----
irdl.dialect @a {
  irdl.operation @x attributes {loomir.format = "$y attr-dict"}
}
// -----
irdl.dialect @a {
  irdl.operation @x attributes {loomir.format = "(attr-dict"}
}
// -----
irdl.dialect @a {
  irdl.operation @x attributes {loomir.effects = {reads = ["y"]}}
}
// -----
irdl.dialect @a {
  irdl.operation @x attributes {loomir.effects = {read = ["y"]}}
}
// -----
irdl.dialect @a {
  irdl.operation @x attributes {loomir.effects = {read = ["y"]}, loomir.traits = ["Pure"]} {
    %0 = irdl.any
    irdl.operands(y: %0)
  }
}
// -----
irdl.dialect @a {
  irdl.type @t attributes {loomir.storage = "width"}
}
// -----
irdl.dialect @a {
  irdl.type @t attributes {loomir.storage = vector<4x!a.u>}
  irdl.type @u attributes {loomir.storage = !a.t}
}
// -----
irdl.dialect @a {
  irdl.operation @x attributes {loomir.meaning = @missing}
}
// -----
irdl.dialect @a {
  irdl.operation @x attributes {loomir.meaning = "f"}
}
// -----
irdl.dialect @a {
  irdl.operation @x attributes {loomir.meaning = @f}
}
func.func private @f()
// -----
irdl.dialect @a {
  irdl.operation @x attributes {loomir.meaning = @f}
}
func.func @f() {
  cf.br ^bb1
^bb1:
  return
}
// -----
irdl.dialect @a {
  irdl.operation @x attributes {loomir.meaning = @f}
}
func.func @f() {
  func.call @g() : () -> ()
  return
}
func.func @g() { return }
// -----
// Two operations that mean each other.
irdl.dialect @a {
  irdl.operation @x attributes {loomir.meaning = @f, loomir.format = "attr-dict"}
  irdl.operation @y attributes {loomir.meaning = @g, loomir.format = "attr-dict"}
}
func.func @f() {
  a.y
  return
}
func.func @g() {
  a.x
  return
}
// -----
// A pure operation whose meaning writes.
irdl.dialect @a {
  irdl.operation @x attributes {loomir.meaning = @f, loomir.traits = ["Pure"]} {
    %0 = irdl.is memref<4xi32>
    irdl.operands(to: %0)
  }
}
func.func @f(%to: memref<4xi32>) {
  %c = arith.constant 0 : i32
  affine.store %c, %to[0] : memref<4xi32>
  return
}
// -----
// An effect that is not declared.
irdl.dialect @a {
  irdl.operation @x attributes {loomir.meaning = @f, loomir.effects = {write = ["to"]}} {
    %0 = irdl.is memref<4xi32>
    irdl.operands(to: %0)
  }
}
func.func @f(%to: memref<4xi32>) {
  %c = affine.load %to[1] : memref<4xi32>
  affine.store %c, %to[0] : memref<4xi32>
  return
}
// -----
// A mistake in the body.
irdl.dialect @a {
  irdl.operation @x attributes {loomir.meaning = @f}
}
func.func @f() {
  %0 = arith.addi %1, %1 : i32
  return
}
// -----
// A meaning with regions.
irdl.dialect @a {
  irdl.operation @x attributes {loomir.meaning = @f} {
    %r = irdl.region
    irdl.regions(body: %r)
  }
}
func.func @f() { return }
