"""Programs that several tests use."""

SQUARE = "func.func @square(%x: i32) -> i32 { %0 = arith.muli %x, %x : i32  return %0 : i32 }"

CHAIN = """
func.func @chain(%x: memref<8xf32>, %y: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf32>
    %1 = arith.mulf %0, %0 : f32
    affine.store %1, %y[%i] : memref<8xf32>
  }
  affine.for %i = 0 to 8 {
    %0 = affine.load %y[%i] : memref<8xf32>
    %1 = arith.addf %0, %0 : f32
    affine.store %1, %y[%i] : memref<8xf32>
  }
  return
}"""

# Fused, the second loop would read what is not written yet, in either direction.
REVERSED = """
func.func @reversed(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf32>
    affine.store %0, %y[%i] : memref<8xf32>
  }
  affine.for %i = 0 to 8 {
    %0 = affine.load %y[7 - %i] : memref<8xf32>
    %1 = affine.load %y[%i] : memref<8xf32>
    %2 = arith.addf %0, %1 : f32
    affine.store %2, %z[%i] : memref<8xf32>
  }
  return
}"""

BRANCHES = """
func.func @larger(%a: i32, %b: i32) -> i32 {
  %0 = arith.cmpi sgt, %a, %b : i32
  cf.cond_br %0, ^one, ^other
^one:
  cf.br ^end(%a : i32)
^other:
  cf.br ^end(%b : i32)
^end(%r: i32):
  return %r : i32
}"""
