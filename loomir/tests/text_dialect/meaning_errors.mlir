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
// -----
// A pure operation that divides by any number, zero included.
irdl.dialect @a {
  irdl.operation @x attributes {loomir.meaning = @f, loomir.traits = ["Pure"]} {
    %0 = irdl.is i32
    irdl.operands(x: %0, y: %0)
    irdl.results(quotient: %0)
  }
}
func.func @f(%x: i32, %y: i32) -> i32 {
  %0 = arith.divsi %x, %y : i32
  return %0 : i32
}
// -----
irdl.dialect @a {
  irdl.operation @x attributes {loomir.effects = {may_be_undefined}, loomir.traits = ["Pure"]}
}
// -----
// Each storage holds the next one twice.
irdl.dialect @a {
  irdl.type @t0 attributes {loomir.storage = tuple<!a.t1, !a.t1>}
  irdl.type @t1 attributes {loomir.storage = tuple<!a.t2, !a.t2>}
  irdl.type @t2 attributes {loomir.storage = tuple<!a.t3, !a.t3>}
  irdl.type @t3 attributes {loomir.storage = tuple<!a.t4, !a.t4>}
  irdl.type @t4 attributes {loomir.storage = tuple<!a.t5, !a.t5>}
  irdl.type @t5 attributes {loomir.storage = tuple<!a.t6, !a.t6>}
  irdl.type @t6 attributes {loomir.storage = tuple<!a.t7, !a.t7>}
  irdl.type @t7 attributes {loomir.storage = tuple<!a.t8, !a.t8>}
  irdl.type @t8 attributes {loomir.storage = tuple<!a.t9, !a.t9>}
  irdl.type @t9 attributes {loomir.storage = tuple<i8, i16, i32, i64>}
}
// -----
// A constant without a value.
irdl.dialect @a {
  irdl.operation @x attributes {loomir.traits = ["ConstantLike", "Pure"]} {
    %0 = irdl.is i32
    irdl.results(y: %0)
  }
}
// -----
// A constant of an operand.
irdl.dialect @a {
  irdl.operation @x attributes {loomir.traits = ["ConstantLike", "Pure"]} {
    %0 = irdl.is i32
    %1 = irdl.any
    irdl.operands(x: %0)
    irdl.results(y: %0)
    irdl.attributes {"value" = %1}
  }
}
// -----
irdl.dialect @a {
  irdl.operation @x attributes {loomir.traits = ["ConstantLike"]} {
    %0 = irdl.is i32
    %1 = irdl.any
    irdl.results(y: %0)
    irdl.attributes {"value" = %1}
  }
}
// -----
// A constant that means something else than its value.
irdl.dialect @a {
  irdl.operation @x attributes {loomir.traits = ["ConstantLike", "Pure"], loomir.meaning = @f} {
    %0 = irdl.is i32
    %1 = irdl.any
    irdl.results(y: %0)
    irdl.attributes {"value" = %1}
  }
}
func.func @f(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  return %0 : i32
}
// -----
// A constant in a meaning whose value is not stored as its type says.
irdl.dialect @a {
  irdl.type @t attributes {loomir.storage = i32}
  irdl.operation @c attributes {loomir.traits = ["ConstantLike", "Pure"]} {
    %0 = irdl.base @a::@t
    %1 = irdl.any
    irdl.results(y: %0)
    irdl.attributes {"value" = %1}
  }
  irdl.operation @x attributes {loomir.meaning = @f} {
    %0 = irdl.base @a::@t
    irdl.results(y: %0)
  }
}
func.func @f() -> !a.t {
  %0 = "a.c"() {value = 3 : i64} : () -> !a.t
  return %0 : !a.t
}
// -----
// A symbol without a name.
irdl.dialect @a {
  irdl.operation @x attributes {loomir.traits = ["Symbol"]}
}
// -----
irdl.dialect @a {
  irdl.operation @x attributes {loomir.traits = ["Symbol"]} {
    %0 = irdl.is i32
    %1 = irdl.base "#builtin.string"
    irdl.results(y: %0)
    irdl.attributes {"sym_name" = %1}
  }
}
