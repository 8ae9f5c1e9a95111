// RUN: --gpu-kernel-outlining
func.func @launch(%n: index, %m: memref<?xf32>, %f: f32) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    memref.store %f, %m[%tx] : memref<?xf32>
    gpu.terminator
  }
  return
}
