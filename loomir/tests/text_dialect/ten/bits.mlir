// Words of 16 bits.
irdl.dialect @bits {
  irdl.operation @constant attributes {loomir.traits = ["ConstantLike", "Pure"],
      loomir.format = "$value attr-dict `:` type($y)"} {
    %a = irdl.base "#builtin.integer"  %t = irdl.is i16
    irdl.attributes {"value" = %a}  irdl.results(y: %t)
  }
  irdl.operation @and attributes {loomir.traits = ["Pure", "Commutative"], loomir.meaning = @and,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.is i16  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @or attributes {loomir.traits = ["Pure", "Commutative"], loomir.meaning = @or,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.is i16  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @xor attributes {loomir.traits = ["Pure", "Commutative"], loomir.meaning = @xor,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.is i16  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @not attributes {loomir.traits = ["Pure"], loomir.meaning = @not,
      loomir.format = "$x attr-dict `:` type($x)"} {
    %t0 = irdl.is i16  irdl.operands(x: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @shl attributes {loomir.traits = ["Pure"], loomir.meaning = @shl,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.is i16  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @shr attributes {loomir.traits = ["Pure"], loomir.meaning = @shr,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.is i16  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @rotl attributes {loomir.traits = ["Pure"], loomir.meaning = @rotl,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.is i16  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @andn attributes {loomir.traits = ["Pure"], loomir.meaning = @andn,
      loomir.format = "$x `,` $y attr-dict `:` type($x)"} {
    %t0 = irdl.is i16  irdl.operands(x: %t0, y: %t0)  irdl.results(r: %t0)
  }
  irdl.operation @select attributes {loomir.traits = ["Pure"], loomir.meaning = @select,
      loomir.format = "$x `,` $y `,` $z attr-dict `:` type($x)"} {
    %t0 = irdl.is i16  irdl.operands(x: %t0, y: %t0, z: %t0)  irdl.results(r: %t0)
  }
}
func.func @and(%x: i16, %y: i16) -> i16 { %0 = arith.andi %x, %y : i16  return %0 : i16 }
func.func @or(%x: i16, %y: i16) -> i16 { %0 = arith.ori %x, %y : i16  return %0 : i16 }
func.func @xor(%x: i16, %y: i16) -> i16 { %0 = arith.xori %x, %y : i16  return %0 : i16 }
func.func @not(%x: i16) -> i16 {
  %c = arith.constant -1 : i16
  %0 = arith.xori %x, %c : i16
  return %0 : i16
}
func.func @shl(%x: i16, %y: i16) -> i16 {
  %m = arith.constant 15 : i16
  %0 = arith.andi %y, %m : i16
  %1 = arith.shli %x, %0 : i16
  return %1 : i16
}
func.func @shr(%x: i16, %y: i16) -> i16 {
  %m = arith.constant 15 : i16
  %0 = arith.andi %y, %m : i16
  %1 = arith.shrui %x, %0 : i16
  return %1 : i16
}
func.func @rotl(%x: i16, %y: i16) -> i16 {
  %c = arith.constant 0 : i16
  %0 = arith.subi %c, %y : i16
  %1 = bits.shl %x, %y : i16
  %2 = bits.shr %x, %0 : i16
  %3 = bits.or %1, %2 : i16
  return %3 : i16
}
func.func @andn(%x: i16, %y: i16) -> i16 {
  %0 = bits.not %y : i16
  %1 = bits.and %x, %0 : i16
  return %1 : i16
}
func.func @select(%x: i16, %y: i16, %z: i16) -> i16 {
  %0 = bits.and %x, %y : i16
  %1 = bits.andn %z, %x : i16
  %2 = bits.or %0, %1 : i16
  return %2 : i16
}
// -----
func.func @work(%a: memref<4xi16>, %b: memref<4xi16>, %c: memref<4xi16>) {
  affine.for %i = 0 to 4 {
    %0 = affine.load %a[%i] : memref<4xi16>
    %1 = bits.not %0 : i16
    %2 = bits.rotl %1, %0 : i16
    %r = bits.xor %2, %0 : i16
    affine.store %r, %b[%i] : memref<4xi16>
  }
  affine.for %i = 0 to 4 {
    %0 = affine.load %b[%i] : memref<4xi16>
    %1 = bits.select %0, %0, %0 : i16
    %r = bits.shl %1, %0 : i16
    affine.store %r, %c[%i] : memref<4xi16>
  }
  return
}
// -----
func.func @folds() -> i16 {
  %0 = bits.constant 12 : i16 : i16
  %1 = bits.constant 10 : i16 : i16
  %2 = bits.and %0, %1 : i16
  %3 = bits.rotl %2, %0 : i16
  return %3 : i16
}
// -----
func.func @wrong(%x: i16) -> i16 {
  %0 = "bits.constant"() {value = 3 : i32} : () -> i16
  return %0 : i16
}
