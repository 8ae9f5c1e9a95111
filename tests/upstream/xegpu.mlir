#layout = #xegpu.layout<lane_layout = [1, 16], lane_data = [1, 1]>
func.func @tiles(%m: memref<64x64xf16>, %acc: vector<8x16xf32>) {
  %d = xegpu.create_nd_tdesc %m : memref<64x64xf16> -> !xegpu.tensor_desc<8x16xf16, #xegpu.block_tdesc_attr<boundary_check = false>, #layout>
  %v = xegpu.load_nd %d[0, 16] {l1_hint = #xegpu.cache_hint<cached>} : !xegpu.tensor_desc<8x16xf16, #xegpu.block_tdesc_attr<boundary_check = false>, #layout> -> vector<8x16xf16>
  %e = xegpu.create_nd_tdesc %m : memref<64x64xf16> -> !xegpu.tensor_desc<16x16xf16>
  %w = xegpu.load_nd %e[0, 0] : !xegpu.tensor_desc<16x16xf16> -> vector<16x16xf16>
  %r = xegpu.dpas %v, %w, %acc : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
  xegpu.fence memory_kind = global, fence_scope = workgroup
  return
}
