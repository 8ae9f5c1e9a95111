// Layer normalisation with buffers for the mean and the variance of each row.
func.func @layer_norm(%x: memref<256x512xf32>, %g: memref<512xf32>, %b: memref<512xf32>, %y: memref<256x512xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 512.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %mean = memref.alloc() : memref<256xf32>
  %var = memref.alloc() : memref<256xf32>
  affine.for %i = 0 to 256 {
    affine.store %zero, %mean[%i] : memref<256xf32>
  }
  affine.for %i = 0 to 256 {
    affine.for %j = 0 to 512 {
      %0 = affine.load %mean[%i] : memref<256xf32>
      %1 = affine.load %x[%i, %j] : memref<256x512xf32>
      %2 = arith.addf %0, %1 : f32
      affine.store %2, %mean[%i] : memref<256xf32>
    }
  }
  affine.for %i = 0 to 256 {
    %0 = affine.load %mean[%i] : memref<256xf32>
    %1 = arith.divf %0, %n : f32
    affine.store %1, %mean[%i] : memref<256xf32>
  }
  affine.for %i = 0 to 256 {
    affine.store %zero, %var[%i] : memref<256xf32>
  }
  affine.for %i = 0 to 256 {
    affine.for %j = 0 to 512 {
      %0 = affine.load %var[%i] : memref<256xf32>
      %1 = affine.load %x[%i, %j] : memref<256x512xf32>
      %2 = affine.load %mean[%i] : memref<256xf32>
      %3 = arith.subf %1, %2 : f32
      %4 = arith.mulf %3, %3 : f32
      %5 = arith.addf %0, %4 : f32
      affine.store %5, %var[%i] : memref<256xf32>
    }
  }
  affine.for %i = 0 to 256 {
    %0 = affine.load %var[%i] : memref<256xf32>
    %1 = arith.divf %0, %n : f32
    %2 = arith.addf %1, %eps : f32
    %3 = math.rsqrt %2 : f32
    affine.store %3, %var[%i] : memref<256xf32>
  }
  affine.for %i = 0 to 256 {
    affine.for %j = 0 to 512 {
      %0 = affine.load %x[%i, %j] : memref<256x512xf32>
      %1 = affine.load %mean[%i] : memref<256xf32>
      %2 = affine.load %var[%i] : memref<256xf32>
      %3 = affine.load %g[%j] : memref<512xf32>
      %4 = affine.load %b[%j] : memref<512xf32>
      %5 = arith.subf %0, %1 : f32
      %6 = arith.mulf %5, %2 : f32
      %7 = arith.mulf %6, %3 : f32
      %8 = arith.addf %7, %4 : f32
      affine.store %8, %y[%i, %j] : memref<256x512xf32>
    }
  }
  memref.dealloc %mean : memref<256xf32>
  memref.dealloc %var : memref<256xf32>
  return
}
