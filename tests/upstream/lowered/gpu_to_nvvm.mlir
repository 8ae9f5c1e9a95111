// RUN: --convert-gpu-to-nvvm
gpu.module @kernels [#nvvm.target] {
  gpu.func @k(%m: memref<?xf32>, %f: f32) workgroup(%w: memref<32xf32, 3>) kernel {
    %i = gpu.thread_id x
    %g = gpu.block_dim y
    gpu.barrier
    memref.store %f, %m[%i] : memref<?xf32>
    gpu.return
  }
}
