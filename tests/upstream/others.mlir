func.func @xevm(%p: !llvm.ptr<1>, %i: i32, %v: vector<8xi16>) {
  %l = xevm.blockload2d %p, %i, %i, %i, %i, %i <{elem_size_in_bits = 16 : i32, tile_width = 16 : i32, tile_height = 8 : i32, v_blocks = 1 : i32, transpose = false, pack_register = false}> : (!llvm.ptr<1>, i32, i32, i32, i32, i32) -> vector<8xi16>
  return
}
// -----
func.func @math(%x: f32, %v: vector<4xf64>, %i: i32) -> f32 {
  %0 = math.fma %x, %x, %x fastmath<contract,afn> : f32
  %1 = math.powf %v, %v : vector<4xf64>
  %2 = math.ctlz %i : i32
  %p = ub.poison : vector<4xi32>
  return %0 : f32
}
// -----
func.func @scf(%n: index, %c: i1, %m: memref<?xf32>, %t: tensor<8xf32>) -> f32 {
  %z = arith.constant 0.0 : f32
  %r = scf.for %i = %n to %n step %n iter_args(%a = %z) -> (f32) {
    scf.yield %a : f32
  } {tag}
  %w:2 = scf.while (%a = %z, %b = %n) : (f32, index) -> (f32, index) {
    scf.condition(%c) %a, %b : f32, index
  } do {
  ^bb0(%a: f32, %b: index):
    scf.yield %a, %b : f32, index
  }
  scf.parallel (%i, %j) = (%n, %n) to (%n, %n) step (%n, %n) {
    scf.reduce
  }
  %f = scf.forall (%i) in (8) shared_outs(%o = %t) -> (tensor<8xf32>) {
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i] [8] [1] : tensor<8xf32> into tensor<8xf32>
    }
  } {mapping = [#gpu.thread<x>]}
  %s = scf.index_switch %n -> f32
  case 2 { scf.yield %z : f32 }
  default { scf.yield %r : f32 }
  %e = scf.execute_region -> f32 no_inline { scf.yield %s : f32 }
  return %e : f32
}
// -----
func.func @affine(%n: index, %m: memref<?x?xf32>) {
  affine.for %i = max affine_map<(d0) -> (0, d0 - 4)>(%n) to min affine_map<()[s0] -> (s0, 128)>()[%n] step 2 {
    affine.if affine_set<(d0)[s0] : (d0 - 2 >= 0, s0 - d0 == 0)>(%i)[%n] {
      %v = affine.load %m[%i + 1, symbol(%n) floordiv 2] : memref<?x?xf32>
      affine.store %v, %m[0, %i] : memref<?x?xf32>
    }
  }
  %d:2 = affine.delinearize_index %n into (4, 8) : index, index
  affine.parallel (%i, %j) = (0, 0) to (8, %n) step (1, 2) reduce ("addf") -> f32 {
    %c = arith.constant 1.0 : f32
    affine.yield %c : f32
  }
  return
}
// -----
memref.global "private" constant @w : memref<2x2xf32> = dense<[[1.0, 2.0], [3.0, 4.0]]> {alignment = 64}
func.func @memref(%m: memref<8x16xf32, strided<[?, 1], offset: ?>>, %i: index) -> f32 {
  %s = memref.subview %m[%i, 2] [4, %i] [1, 2] : memref<8x16xf32, strided<[?, 1], offset: ?>> to memref<4x?xf32, strided<[?, 2], offset: ?>>
  %b, %o, %z:2, %t:2 = memref.extract_strided_metadata %m : memref<8x16xf32, strided<[?, 1], offset: ?>> -> memref<f32>, index, index, index, index, index
  %g = memref.get_global @w : memref<2x2xf32>
  %r = memref.reinterpret_cast %b to offset: [%o], sizes: [4, %i], strides: [%t#0, 1] : memref<f32> to memref<4x?xf32, strided<[?, 1], offset: ?>>
  %v = memref.load %g[%i, %i] : memref<2x2xf32>
  %x = memref.atomic_rmw addf %v, %m[%i, %i] : (f32, memref<8x16xf32, strided<[?, 1], offset: ?>>) -> f32
  return %x : f32
}
