func.func @avx(%a: vector<16xf32>, %k: i16, %b: vector<8xf32>, %m: memref<1xbf16>) -> vector<16xf32> {
  %c = arith.constant 15 : i32
  %0 = x86vector.avx512.mask.rndscale %a, %c, %a, %k, %c : vector<16xf32>
  %1 = x86vector.avx.rsqrt %b : vector<8xf32>
  %2 = x86vector.avx.bcst_to_f32.packed %m : memref<1xbf16> -> vector<8xf32>
  return %0 : vector<16xf32>
}
// -----
func.func @tiles(%m: memref<?x?xbf16>, %o: memref<?x?xf32>, %i: index) {
  %a = amx.tile_load %m[%i, %i] : memref<?x?xbf16> into !amx.tile<16x32xbf16>
  %z = amx.tile_zero : !amx.tile<16x16xf32>
  %r = amx.tile_mulf %a, %a, %z : !amx.tile<16x32xbf16>, !amx.tile<16x32xbf16>, !amx.tile<16x16xf32>
  amx.tile_store %o[%i, %i], %r : memref<?x?xf32>, !amx.tile<16x16xf32>
  return
}
