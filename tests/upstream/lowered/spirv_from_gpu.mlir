// RUN: --convert-gpu-to-spirv
module attributes {gpu.container_module, spirv.target_env = #spirv.target_env<#spirv.vce<v1.0, [Shader], [SPV_KHR_storage_buffer_storage_class]>, #spirv.resource_limits<>>} {
  gpu.module @kernels {
    gpu.func @k(%m: memref<4xf32, #spirv.storage_class<StorageBuffer>>, %f: f32) kernel attributes {spirv.entry_point_abi = #spirv.entry_point_abi<workgroup_size = [32, 1, 1]>} {
      %i = gpu.thread_id x
      memref.store %f, %m[%i] : memref<4xf32, #spirv.storage_class<StorageBuffer>>
      gpu.return
    }
  }
}
