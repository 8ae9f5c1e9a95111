func.func @mix(%t: tensor<4x?xf32>, %n: index, %m: memref<?xf32, strided<[?], offset: ?>>) -> tensor<4x?xf32> {
  %b = bufferization.to_buffer %t read_only : tensor<4x?xf32> to memref<4x?xf32, strided<[?, ?], offset: ?>, 1>
  %a = bufferization.alloc_tensor(%n) {memory_space = 1 : i64} : tensor<4x?xf32>
  %r = bufferization.materialize_in_destination %t in %a : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
  %x = bufferization.to_tensor %m restrict writable : memref<?xf32, strided<[?], offset: ?>> to tensor<?xf32>
  %c = bufferization.clone %m : memref<?xf32, strided<[?], offset: ?>> to memref<?xf32>
  %true = arith.constant true
  %d:2 = bufferization.dealloc (%c : memref<?xf32>) if (%true) retain (%m, %c : memref<?xf32, strided<[?], offset: ?>>, memref<?xf32>)
  bufferization.dealloc_tensor %a : tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}
