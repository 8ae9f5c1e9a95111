// RUN: --allow-unregistered-dialect
// Operations of no dialect, also of the name of one.
"visit"() ({
  %0 = "index"() : () -> index
  "arith"(%0) : (index) -> ()
}) : () -> ()

// -----

// What nobody registered may hold graphs: uses before definitions, through other operations too.
"graph.of"() ({
  %0 = "graph.node"(%1) : (i32) -> i32
  %1 = "graph.node"(%0) : (i32) -> i32
  "graph.nested"() ({
    %3 = arith.addi %1, %2 : i32
  }) : () -> ()
  %2 = "graph.node"(%1) : (i32) -> i32
}) : () -> ()

// -----

// Layouts with numbers that only the program knows, and the identity written as strides.
func.func @layouts(%n: index, %s: index, %flat: memref<12xf32, strided<[1]>>, %point: memref<f32, strided<[], offset: ?>>) {
  %0 = memref.alloc(%n)[%s] : memref<?xf32, strided<[?]>>
  %1 = memref.alloc(%n)[%s, %s] : memref<?xf32, strided<[?], offset: ?>>
  %2 = memref.alloca()[%s, %s, %s] : memref<3x4xf32, strided<[?, ?], offset: ?>>
  %3 = memref.alloc(%n)[%s] : memref<?x4xf32, affine_map<(d0, d1)[s0] -> (d0 * s0 + d1)>>
  %4 = memref.expand_shape %flat [[0, 1]] output_shape [3, 4] : memref<12xf32, strided<[1]>> into memref<3x4xf32>
  %5 = memref.expand_shape %point [] output_shape [1, 1] : memref<f32, strided<[], offset: ?>> into memref<1x1xf32, strided<[1, 1], offset: ?>>
  %6 = memref.collapse_shape %flat [[0]] : memref<12xf32, strided<[1]>> into memref<12xf32>
  return
}

// -----

// Products of symbols keep their order, but for two symbols alone.
"maps"() {
  a = affine_map<()[s0, s1] -> (s0 * s1, s1 * s0, (s0 + 1) * s1, s1 * (s0 + 1), s0 * (s1 * s0), s0 * -s1)>,
  b = affine_map<(d0)[s0, s1] -> (s0 * d0 * s1, d0 * 2 * s0, 1 - (s0 - (s0 - s1) * s1), s0 - s1 * (s0 ceildiv 32))>,
  c = affine_map<(d0)[s0, s1] -> (d0 mod (s0 - s1 * s0), (s0 floordiv 2) * s0, s0 * (s0 floordiv 2), 3 * s0 * s1)>
} : () -> ()

// -----

// Arrays of numbers without bits.
"arrays"() {a = array<i0: 0, 0>, b = array<ui0: 0>, c = array<i0>, d = array<i24: -42, 8388607>} : () -> ()

// -----

// Structs inside themselves that hold types LLVM does not have, which is when prefixes are written.
"structs"() {
  a = !llvm.struct<"a", (!llvm.struct<"a">, index)>,
  b = !llvm.struct<"b", (struct<"b">, f32)>,
  c = !llvm.struct<"c", packed (array<2 x index>, array<2 x i32>, struct<"e", (ptr, array<1 x index>)>)>,
  d = !llvm.array<3 x struct<(memref<2xf32>, struct<(i32)>)>>
} : () -> ()

// -----

// Resources come in the order in which they are first named, also those of dialects nobody registered.
"blobs"() {
  a = dense_resource<zebra> : tensor<1xi32>,
  b = dense_resource<ant> : tensor<1xi32>,
  c = dense_resource<zebra> : tensor<1xi32>
} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      ant: "0x0400000001000000",
      unused: "0x0400000003000000",
      zebra: "0x0400000002000000"
    }
  }
#-}

// -----

// Places inside attributes that nobody registered get aliases.
"places"() {a = #llvm.loop_annotation<startLoc = loc(fused["a.c":1:2, "b"]), endLoc = loc(fused["a.c":3:4, "b"])>, b = loc("a.c":1:2)} : () -> ()
