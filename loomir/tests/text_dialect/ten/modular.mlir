// Numbers modulo 97. Values are below 97.
irdl.dialect @mod {
  irdl.type @residue attributes {loomir.storage = i64}
  irdl.operation @constant attributes {loomir.traits = ["ConstantLike", "Pure"],
      loomir.format = "$value attr-dict `:` type($y)"} {
    %a = irdl.base "#builtin.integer"  %t = irdl.base @mod::@residue
    irdl.attributes {"value" = %a}  irdl.results(y: %t)
  }
  irdl.operation @of_int attributes {loomir.traits = ["Pure"], loomir.meaning = @of_int,
      loomir.format = "$x attr-dict `:` type($r)"} {
    %t0 = irdl.is i64  %t1 = irdl.base @mod::@residue  irdl.operands(x: %t0)  irdl.results(r: %t1)
  }
  irdl.operation @to_int attributes {loomir.traits = ["Pure"], loomir.meaning = @to_int,
      loomir.format = "$x attr-dict `:` type($x)"} {
    %t0 = irdl.base @mod::@residue  %t1 = irdl.is i64  irdl.operands(x: %t0)  irdl.results(r: %t1)
  }
  irdl.operation @add attributes {loomir.traits = ["Pure", "Commutative"], loomir.meaning = @add,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @mod::@residue  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @mul attributes {loomir.traits = ["Pure", "Commutative"], loomir.meaning = @mul,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @mod::@residue  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @neg attributes {loomir.traits = ["Pure"], loomir.meaning = @neg,
      loomir.format = "$x attr-dict `:` type($x)"} {
    %t0 = irdl.base @mod::@residue  irdl.operands(x: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @sub attributes {loomir.traits = ["Pure"], loomir.meaning = @sub,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @mod::@residue  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @square attributes {loomir.traits = ["Pure"], loomir.meaning = @square,
      loomir.format = "$x attr-dict `:` type($x)"} {
    %t0 = irdl.base @mod::@residue  irdl.operands(x: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @cube attributes {loomir.traits = ["Pure"], loomir.meaning = @cube,
      loomir.format = "$x attr-dict `:` type($x)"} {
    %t0 = irdl.base @mod::@residue  irdl.operands(x: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @is_less attributes {loomir.traits = ["Pure"], loomir.meaning = @is_less,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.base @mod::@residue  %t1 = irdl.is i1
    irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t1)
  }
}
func.func @of_int(%x: i64) -> i64 {
  %p = arith.constant 97 : i64
  %0 = arith.remui %x, %p : i64
  return %0 : i64
}
func.func @to_int(%x: i64) -> i64 { return %x : i64 }
func.func @add(%x: i64, %y: i64) -> i64 {
  %p = arith.constant 97 : i64
  %0 = arith.addi %x, %y : i64
  %1 = arith.remui %0, %p : i64
  return %1 : i64
}
func.func @mul(%x: i64, %y: i64) -> i64 {
  %p = arith.constant 97 : i64
  %0 = arith.muli %x, %y : i64
  %1 = arith.remui %0, %p : i64
  return %1 : i64
}
func.func @neg(%x: i64) -> i64 {
  %p = arith.constant 97 : i64
  %0 = arith.subi %p, %x : i64
  %1 = arith.remui %0, %p : i64
  return %1 : i64
}
func.func @sub(%x: i64, %y: i64) -> i64 {
  %p = arith.constant 97 : i64
  %0 = arith.subi %p, %y : i64
  %1 = arith.addi %x, %0 : i64
  %2 = arith.remui %1, %p : i64
  return %2 : i64
}
func.func @square(%x: !mod.residue) -> !mod.residue {
  %0 = mod.mul %x, %x : !mod.residue
  return %0 : !mod.residue
}
func.func @cube(%x: !mod.residue) -> !mod.residue {
  %0 = mod.square %x : !mod.residue
  %1 = mod.mul %0, %x : !mod.residue
  return %1 : !mod.residue
}
func.func @is_less(%x: i64, %y: i64) -> i1 { %0 = arith.cmpi ult, %x, %y : i64  return %0 : i1 }
// -----
func.func @work(%a: memref<4xi64>, %b: memref<4xi64>, %c: memref<4xi64>) {
  affine.for %i = 0 to 4 {
    %0 = affine.load %a[%i] : memref<4xi64>
    %1 = mod.of_int %0 : !mod.residue
    %2 = mod.cube %1 : !mod.residue
    %3 = mod.neg %2 : !mod.residue
    %r = mod.to_int %3 : !mod.residue
    affine.store %r, %b[%i] : memref<4xi64>
  }
  affine.for %i = 0 to 4 {
    %0 = affine.load %b[%i] : memref<4xi64>
    %1 = mod.of_int %0 : !mod.residue
    %2 = mod.add %1, %1 : !mod.residue
    %3 = mod.sub %2, %1 : !mod.residue
    %r = mod.to_int %3 : !mod.residue
    affine.store %r, %c[%i] : memref<4xi64>
  }
  return
}
// -----
func.func @folds() -> i64 {
  %0 = mod.constant 50 : i64 : !mod.residue
  %1 = mod.square %0 : !mod.residue
  %2 = mod.add %1, %0 : !mod.residue
  %3 = mod.to_int %2 : !mod.residue
  return %3 : i64
}
// -----
func.func @wrong(%x: !mod.residue) -> i64 {
  %0 = "mod.is_less"(%x, %x) : (!mod.residue, !mod.residue) -> i64
  return %0 : i64
}
