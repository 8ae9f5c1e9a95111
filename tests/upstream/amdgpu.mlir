func.func @buffers(%m: memref<64xf32>, %i: i32, %v: f32, %a: vector<4xf16>, %c: vector<16xf32>, %s: memref<64xf32, #gpu.address_space<workgroup>>) {
  %l = amdgpu.raw_buffer_load {boundsCheck = true, indexOffset = 1 : i32} %m[%i] sgprOffset %i : memref<64xf32>, i32 -> f32
  amdgpu.raw_buffer_atomic_fadd %v -> %m[%i] : f32 -> memref<64xf32>, i32
  amdgpu.lds_barrier
  %r = amdgpu.mfma 32x32x8 %a * %a + %c blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
  %f = amdgpu.fat_raw_buffer_cast %m resetOffset : memref<64xf32> to memref<64xf32, #amdgpu.address_space<fat_raw_buffer>>
  amdgpu.sched_barrier allow = <valu|salu>
  %d = amdgpu.dpp %v %v quad_perm([0, 1, 2, 3]) {row_mask = 10 : i32, bound_ctrl = true} : f32
  return
}
