// The tropical semiring: the sum is the minimum, the product is the sum.
irdl.dialect @trop {
  irdl.type @number attributes {loomir.storage = f64}
  irdl.operation @of_float attributes {loomir.traits = ["Pure"], loomir.meaning = @of_float,
      loomir.format = "$x attr-dict `:` type($r)"} {
    %t0 = irdl.is f64  %t1 = irdl.base @trop::@number  irdl.operands(x: %t0)  irdl.results(r: %t1)
  }
  irdl.operation @to_float attributes {loomir.traits = ["Pure"], loomir.meaning = @to_float,
      loomir.format = "$x attr-dict `:` type($x)"} {
    %t0 = irdl.base @trop::@number  %t1 = irdl.is f64  irdl.operands(x: %t0)  irdl.results(r: %t1)
  }
  irdl.operation @add attributes {loomir.traits = ["Pure", "Commutative"], loomir.meaning = @add,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @trop::@number  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @mul attributes {loomir.traits = ["Pure", "Commutative"], loomir.meaning = @mul,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @trop::@number  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @div attributes {loomir.traits = ["Pure"], loomir.meaning = @div,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @trop::@number  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @square attributes {loomir.traits = ["Pure"], loomir.meaning = @square,
      loomir.format = "$x attr-dict `:` type($x)"} {
    %t0 = irdl.base @trop::@number  irdl.operands(x: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @fma attributes {loomir.traits = ["Pure"], loomir.meaning = @fma,
      loomir.format = "$x `,` $y `,` $z attr-dict `:` type($x)"} {
    %t0 = irdl.base @trop::@number  irdl.operands(x: %t0, y: %t0, z: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @inverse attributes {loomir.traits = ["Pure"], loomir.meaning = @inverse,
      loomir.format = "$x attr-dict `:` type($x)"} {
    %t0 = irdl.base @trop::@number  irdl.operands(x: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @dual attributes {loomir.traits = ["Pure", "Commutative"], loomir.meaning = @dual,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @trop::@number  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @is_less attributes {loomir.traits = ["Pure"], loomir.meaning = @is_less,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @trop::@number  %t1 = irdl.is i1
    irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t1)
  }
}
func.func @of_float(%x: f64) -> f64 { return %x : f64 }
func.func @to_float(%x: f64) -> f64 { return %x : f64 }
func.func @add(%x: f64, %y: f64) -> f64 { %0 = arith.minimumf %x, %y : f64  return %0 : f64 }
func.func @mul(%x: f64, %y: f64) -> f64 { %0 = arith.addf %x, %y : f64  return %0 : f64 }
func.func @div(%x: f64, %y: f64) -> f64 { %0 = arith.subf %x, %y : f64  return %0 : f64 }
func.func @square(%x: !trop.number) -> !trop.number {
  %0 = trop.mul %x, %x : !trop.number
  return %0 : !trop.number
}
func.func @fma(%x: !trop.number, %y: !trop.number, %z: !trop.number) -> !trop.number {
  %0 = trop.mul %x, %y : !trop.number
  %1 = trop.add %0, %z : !trop.number
  return %1 : !trop.number
}
func.func @inverse(%x: f64) -> f64 { %0 = arith.negf %x : f64  return %0 : f64 }
func.func @dual(%x: f64, %y: f64) -> f64 { %0 = arith.maximumf %x, %y : f64  return %0 : f64 }
func.func @is_less(%x: f64, %y: f64) -> i1 { %0 = arith.cmpf olt, %x, %y : f64  return %0 : i1 }
// -----
func.func @work(%a: memref<4xf64>, %b: memref<4xf64>, %c: memref<4xf64>) {
  affine.for %i = 0 to 4 {
    %0 = affine.load %a[%i] : memref<4xf64>
    %1 = trop.of_float %0 : !trop.number
    %2 = trop.square %1 : !trop.number
    %3 = trop.inverse %2 : !trop.number
    %r = trop.to_float %3 : !trop.number
    affine.store %r, %b[%i] : memref<4xf64>
  }
  affine.for %i = 0 to 4 {
    %0 = affine.load %b[%i] : memref<4xf64>
    %1 = trop.of_float %0 : !trop.number
    %2 = trop.fma %1, %1, %1 : !trop.number
    %3 = trop.dual %2, %1 : !trop.number
    %r = trop.to_float %3 : !trop.number
    affine.store %r, %c[%i] : memref<4xf64>
  }
  return
}
// -----
func.func @folds() -> f64 {
  %c = arith.constant 3.0 : f64
  %0 = trop.of_float %c : !trop.number
  %1 = trop.to_float %0 : !trop.number
  %2 = arith.addf %1, %1 : f64
  return %2 : f64
}
// -----
func.func @wrong(%x: !trop.number) -> !trop.number {
  %0 = "trop.fma"(%x, %x) : (!trop.number, !trop.number) -> !trop.number
  return %0 : !trop.number
}
