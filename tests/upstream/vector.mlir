func.func @lanes(%v: vector<4x8xf32>, %s: vector<[4]xi32>, %x: f32, %i: index) -> f32 {
  %e = vector.extract %v[1, 2] : f32 from vector<4x8xf32>
  %r = vector.extract %v[%i] : vector<8xf32> from vector<4x8xf32>
  %n = vector.insert %x, %r [3] : f32 into vector<8xf32>
  %b = vector.broadcast %x : f32 to vector<2x[4]xf32>
  %h = vector.shuffle %r, %n [0, 15, 3, 3] : vector<8xf32>, vector<8xf32>
  %m = vector.create_mask %i : vector<[4]xi1>
  %k = vector.constant_mask [2, 3] : vector<4x8xi1>
  %z = vector.reduction <maximumf>, %r, %x fastmath<nnan> : vector<8xf32> into f32
  %t = vector.transpose %v, [1, 0] : vector<4x8xf32> to vector<8x4xf32>
  %c = vector.bitcast %r : vector<8xf32> to vector<8xi32>
  %vs = vector.vscale
  return %z : f32
}
// -----
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
func.func @contraction(%a: vector<2x3xf32>, %b: vector<3x4xf32>, %c: vector<2x4xf32>, %p: memref<?x?xf32>, %i: index, %f: f32) -> vector<2x4xf32> {
  %0 = vector.contract {indexing_maps = [#map, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %a, %b, %c : vector<2x3xf32>, vector<3x4xf32> into vector<2x4xf32>
  %1 = vector.transfer_read %p[%i, %i], %f {in_bounds = [true, false], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<?x?xf32>, vector<2x4xf32>
  vector.transfer_write %0, %p[%i, %i] : vector<2x4xf32>, memref<?x?xf32>
  %m = vector.create_mask %i, %i : vector<2x4xi1>
  %2 = vector.mask %m { vector.transfer_read %p[%i, %i], %f : memref<?x?xf32>, vector<2x4xf32> } : vector<2x4xi1> -> vector<2x4xf32>
  vector.print %1 : vector<2x4xf32>
  vector.print punctuation <newline>
  return %2 : vector<2x4xf32>
}
// -----
func.func @memory(%p: memref<100xf32>, %i: index, %m: vector<16xi1>, %v: vector<16xf32>, %ix: vector<16xi32>) {
  %a = vector.load %p[%i] : memref<100xf32>, vector<16xf32>
  %b = vector.maskedload %p[%i], %m, %v : memref<100xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  %c = vector.gather %p[%i] [%ix], %m, %v : memref<100xf32>, vector<16xi32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  vector.scatter %p[%i] [%ix], %m, %a : memref<100xf32>, vector<16xi32>, vector<16xi1>, vector<16xf32>
  vector.compressstore %p[%i], %m, %b : memref<100xf32>, vector<16xi1>, vector<16xf32>
  %s:2 = vector.deinterleave %v : vector<16xf32> -> vector<8xf32>
  %j = vector.interleave %s#0, %s#1 : vector<8xf32> -> vector<16xf32>
  %st = vector.step : vector<[4]xindex>
  return
}
