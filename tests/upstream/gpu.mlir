module attributes {gpu.container_module} {
  gpu.module @kernels [#nvvm.target<chip = "sm_90">, #rocdl.target<O = 3>] {
    gpu.func @k(%a: memref<?xf32>) workgroup(%w: memref<32xf32, #gpu.address_space<workgroup>>) private(%p: memref<1xf32, 5>) kernel
        attributes {gpu.known_block_size = array<i32: 128, 1, 1>} {
      %x = gpu.thread_id x
      %y = gpu.block_id y upper_bound 4
      %l = gpu.lane_id
      gpu.barrier
      gpu.return
    }
  }
  func.func @host(%a: memref<?xf32>, %n: index) {
    %t0 = gpu.wait async
    %m, %t1 = gpu.alloc async [%t0] (%n) : memref<?xf32>
    %t2 = gpu.launch_func async [%t1] @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%m : memref<?xf32>)
    %t3 = gpu.memcpy async [%t2] %a, %m : memref<?xf32>, memref<?xf32>
    gpu.wait [%t3]
    return
  }
}
// -----
func.func @launch(%n: index, %f: f32, %m: memref<?xf32, #gpu.address_space<global>>) {
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    %r = gpu.all_reduce add %f uniform {
    } : (f32) -> (f32)
    %q, %v = gpu.shuffle xor %f, %c1, %c32 : f32
    gpu.printf "%f\0A", %f : f32
    gpu.terminator
  }
  return
}
