func.func @lone(%a: memref<8xi32>, %b: memref<8xi32>) {
  affine.for %i = 0 to 8 {
    %x = affine.load %a[%i] : memref<8xi32>
    affine.store %x, %a[%i] : memref<8xi32>
  }
  affine.for %i = 0 to 8 {
    %x = affine.load %a[7 - %i] : memref<8xi32>
    affine.store %x, %b[%i] : memref<8xi32>
  }
  return
}
