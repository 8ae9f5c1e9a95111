// Pixels from 0 to 255.
irdl.dialect @px {
  irdl.type @pixel attributes {loomir.storage = i32}
  irdl.operation @constant attributes {loomir.traits = ["ConstantLike", "Pure"],
      loomir.format = "$value attr-dict `:` type($y)"} {
    %a = irdl.base "#builtin.integer"  %t = irdl.base @px::@pixel
    irdl.attributes {"value" = %a}  irdl.results(y: %t)
  }
  irdl.operation @of_int attributes {loomir.traits = ["Pure"], loomir.meaning = @of_int,
      loomir.format = "$x attr-dict `:` type($r)"} {
    %t0 = irdl.is i32  %t1 = irdl.base @px::@pixel  irdl.operands(x: %t0)  irdl.results(r: %t1)
  }
  irdl.operation @to_int attributes {loomir.traits = ["Pure"], loomir.meaning = @to_int,
      loomir.format = "$x attr-dict `:` type($x)"} {
    %t0 = irdl.base @px::@pixel  %t1 = irdl.is i32  irdl.operands(x: %t0)  irdl.results(r: %t1)
  }
  irdl.operation @add attributes {loomir.traits = ["Pure", "Commutative"], loomir.meaning = @add,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @px::@pixel  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @sub attributes {loomir.traits = ["Pure"], loomir.meaning = @sub,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @px::@pixel  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @min attributes {loomir.traits = ["Pure", "Commutative"], loomir.meaning = @min,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @px::@pixel  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @max attributes {loomir.traits = ["Pure", "Commutative"], loomir.meaning = @max,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @px::@pixel  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @invert attributes {loomir.traits = ["Pure"], loomir.meaning = @invert,
      loomir.format = "$x attr-dict `:` type($x)"} {
    %t0 = irdl.base @px::@pixel  irdl.operands(x: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @average attributes {loomir.traits = ["Pure", "Commutative"], loomir.meaning = @average,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @px::@pixel  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @brighten attributes {loomir.traits = ["Pure"], loomir.meaning = @brighten,
      loomir.format = "$x `by` $by attr-dict `:` type($x)"} {
    %t0 = irdl.base @px::@pixel  %a = irdl.base "#builtin.integer"
    irdl.operands(x: %t0)  irdl.results(r: %t0)  irdl.attributes {"by" = %a}
  }
}
func.func @of_int(%x: i32) -> i32 {
  %l = arith.constant 0 : i32
  %h = arith.constant 255 : i32
  %0 = arith.maxsi %x, %l : i32
  %1 = arith.minsi %0, %h : i32
  return %1 : i32
}
func.func @to_int(%x: i32) -> i32 { return %x : i32 }
func.func @add(%x: i32, %y: i32) -> i32 {
  %l = arith.constant 0 : i32
  %h = arith.constant 255 : i32
  %0 = arith.addi %x, %y : i32
  %1 = arith.maxsi %0, %l : i32
  %2 = arith.minsi %1, %h : i32
  return %2 : i32
}
func.func @sub(%x: i32, %y: i32) -> i32 {
  %l = arith.constant 0 : i32
  %h = arith.constant 255 : i32
  %0 = arith.subi %x, %y : i32
  %1 = arith.maxsi %0, %l : i32
  %2 = arith.minsi %1, %h : i32
  return %2 : i32
}
func.func @min(%x: i32, %y: i32) -> i32 { %0 = arith.minsi %x, %y : i32  return %0 : i32 }
func.func @max(%x: i32, %y: i32) -> i32 { %0 = arith.maxsi %x, %y : i32  return %0 : i32 }
func.func @invert(%x: i32) -> i32 {
  %c = arith.constant 255 : i32
  %0 = arith.subi %c, %x : i32
  return %0 : i32
}
func.func @average(%x: i32, %y: i32) -> i32 {
  %c = arith.constant 1 : i32
  %0 = arith.addi %x, %y : i32
  %1 = arith.shrsi %0, %c : i32
  return %1 : i32
}
func.func @brighten(%x: i32, %by: i32) -> i32 {
  %h = arith.constant 255 : i32
  %0 = arith.addi %x, %by : i32
  %1 = arith.minsi %0, %h : i32
  return %1 : i32
}
// -----
func.func @work(%a: memref<4xi32>, %b: memref<4xi32>, %c: memref<4xi32>) {
  affine.for %i = 0 to 4 {
    %0 = affine.load %a[%i] : memref<4xi32>
    %1 = px.of_int %0 : !px.pixel
    %2 = px.invert %1 : !px.pixel
    %3 = px.brighten %2 by 2 : i32 : !px.pixel
    %r = px.to_int %3 : !px.pixel
    affine.store %r, %b[%i] : memref<4xi32>
  }
  affine.for %i = 0 to 4 {
    %0 = affine.load %b[%i] : memref<4xi32>
    %1 = px.of_int %0 : !px.pixel
    %2 = px.average %1, %1 : !px.pixel
    %3 = px.sub %2, %1 : !px.pixel
    %r = px.to_int %3 : !px.pixel
    affine.store %r, %c[%i] : memref<4xi32>
  }
  return
}
// -----
func.func @folds() -> i32 {
  %0 = px.constant 200 : i32 : !px.pixel
  %1 = px.add %0, %0 : !px.pixel
  %2 = px.brighten %0 by 7 : i32 : !px.pixel
  %3 = px.average %1, %2 : !px.pixel
  %4 = px.to_int %3 : !px.pixel
  return %4 : i32
}
// -----
func.func @wrong(%x: !px.pixel) -> !px.pixel {
  %0 = "px.brighten"(%x) {by = "much"} : (!px.pixel) -> !px.pixel
  return %0 : !px.pixel
}
