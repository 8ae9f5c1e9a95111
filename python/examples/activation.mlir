func.func @energy(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %square = memref.alloc(%n) : memref<?xf32>
  affine.for %i = 0 to %n {
    %0 = affine.load %x[%i] : memref<?xf32>
    %1 = act.square %0 : f32
    affine.store %1, %square[%i] : memref<?xf32>
  }
  affine.for %i = 0 to %n {
    %0 = affine.load %square[%i] : memref<?xf32>
    %1 = act.abs %0 : f32
    %2 = act.half %1 : f32
    affine.store %2, %y[%i] : memref<?xf32>
  }
  memref.dealloc %square : memref<?xf32>
  return
}
