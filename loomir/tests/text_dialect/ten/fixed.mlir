// Numbers with 8 bits behind the point.
irdl.dialect @fx {
  irdl.type @fixed attributes {loomir.storage = i32}
  irdl.operation @constant attributes {loomir.traits = ["ConstantLike", "Pure"],
      loomir.format = "$value attr-dict `:` type($y)"} {
    %a = irdl.base "#builtin.integer"  %t = irdl.base @fx::@fixed
    irdl.attributes {"value" = %a}  irdl.results(y: %t)
  }
  irdl.operation @of_int attributes {loomir.traits = ["Pure"], loomir.meaning = @of_int,
      loomir.format = "$x attr-dict `:` type($r)"} {
    %t0 = irdl.is i32  %t1 = irdl.base @fx::@fixed  irdl.operands(x: %t0)  irdl.results(r: %t1)
  }
  irdl.operation @to_int attributes {loomir.traits = ["Pure"], loomir.meaning = @to_int,
      loomir.format = "$x attr-dict `:` type($x)"} {
    %t0 = irdl.base @fx::@fixed  %t1 = irdl.is i32  irdl.operands(x: %t0)  irdl.results(r: %t1)
  }
  irdl.operation @add attributes {loomir.traits = ["Pure", "Commutative"], loomir.meaning = @add,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @fx::@fixed  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @sub attributes {loomir.traits = ["Pure"], loomir.meaning = @sub,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @fx::@fixed  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @mul attributes {loomir.traits = ["Pure", "Commutative"], loomir.meaning = @mul,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @fx::@fixed  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @neg attributes {loomir.traits = ["Pure"], loomir.meaning = @neg,
      loomir.format = "$x attr-dict `:` type($x)"} {
    %t0 = irdl.base @fx::@fixed  irdl.operands(x: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @square attributes {loomir.traits = ["Pure"], loomir.meaning = @square,
      loomir.format = "$x attr-dict `:` type($x)"} {
    %t0 = irdl.base @fx::@fixed  irdl.operands(x: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @half attributes {loomir.traits = ["Pure"], loomir.meaning = @half,
      loomir.format = "$x attr-dict `:` type($x)"} {
    %t0 = irdl.base @fx::@fixed  irdl.operands(x: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @max attributes {loomir.traits = ["Pure", "Commutative"], loomir.meaning = @max,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @fx::@fixed  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @min attributes {loomir.traits = ["Pure", "Commutative"], loomir.meaning = @min,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @fx::@fixed  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @fma attributes {loomir.traits = ["Pure"], loomir.meaning = @fma,
      loomir.format = "$x `,` $y `,` $z attr-dict `:` type($x)"} {
    %t0 = irdl.base @fx::@fixed  irdl.operands(x: %t0, y: %t0, z: %t0)  irdl.results(r: %t0)
  }
}
func.func @of_int(%x: i32) -> i32 {
  %c = arith.constant 8 : i32
  %0 = arith.shli %x, %c : i32
  return %0 : i32
}
func.func @to_int(%x: i32) -> i32 {
  %c = arith.constant 8 : i32
  %0 = arith.shrsi %x, %c : i32
  return %0 : i32
}
func.func @add(%x: i32, %y: i32) -> i32 { %0 = arith.addi %x, %y : i32  return %0 : i32 }
func.func @sub(%x: i32, %y: i32) -> i32 { %0 = arith.subi %x, %y : i32  return %0 : i32 }
func.func @mul(%x: i32, %y: i32) -> i32 {
  %c = arith.constant 8 : i32
  %0 = arith.muli %x, %y : i32
  %1 = arith.shrsi %0, %c : i32
  return %1 : i32
}
func.func @neg(%x: i32) -> i32 {
  %c = arith.constant 0 : i32
  %0 = arith.subi %c, %x : i32
  return %0 : i32
}
func.func @square(%x: !fx.fixed) -> !fx.fixed {
  %0 = fx.mul %x, %x : !fx.fixed
  return %0 : !fx.fixed
}
func.func @half(%x: i32) -> i32 {
  %c = arith.constant 1 : i32
  %0 = arith.shrsi %x, %c : i32
  return %0 : i32
}
func.func @max(%x: i32, %y: i32) -> i32 { %0 = arith.maxsi %x, %y : i32  return %0 : i32 }
func.func @min(%x: i32, %y: i32) -> i32 { %0 = arith.minsi %x, %y : i32  return %0 : i32 }
func.func @fma(%x: !fx.fixed, %y: !fx.fixed, %z: !fx.fixed) -> !fx.fixed {
  %0 = fx.mul %x, %y : !fx.fixed
  %1 = fx.add %0, %z : !fx.fixed
  return %1 : !fx.fixed
}
// -----
func.func @work(%a: memref<4xi32>, %b: memref<4xi32>, %c: memref<4xi32>) {
  affine.for %i = 0 to 4 {
    %0 = affine.load %a[%i] : memref<4xi32>
    %1 = fx.of_int %0 : !fx.fixed
    %2 = fx.square %1 : !fx.fixed
    %3 = fx.half %2 : !fx.fixed
    %r = fx.to_int %3 : !fx.fixed
    affine.store %r, %b[%i] : memref<4xi32>
  }
  affine.for %i = 0 to 4 {
    %0 = affine.load %b[%i] : memref<4xi32>
    %1 = fx.of_int %0 : !fx.fixed
    %2 = fx.neg %1 : !fx.fixed
    %3 = fx.fma %2, %1, %2 : !fx.fixed
    %r = fx.to_int %3 : !fx.fixed
    affine.store %r, %c[%i] : memref<4xi32>
  }
  return
}
// -----
func.func @folds() -> i32 {
  %0 = fx.constant 512 : i32 : !fx.fixed
  %1 = fx.square %0 : !fx.fixed
  %2 = fx.sub %1, %0 : !fx.fixed
  %3 = fx.max %0, %2 : !fx.fixed
  %4 = fx.to_int %3 : !fx.fixed
  return %4 : i32
}
// -----
func.func @wrong(%x: i32) -> i32 {
  %0 = "fx.neg"(%x) : (i32) -> i32
  return %0 : i32
}
