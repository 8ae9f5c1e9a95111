#CSR = #sparse_tensor.encoding<{map = (d0, d1) -> (d0 : dense, d1 : compressed(nonunique)), posWidth = 32, crdWidth = 32}>
#BSR = #sparse_tensor.encoding<{map = (i, j) -> (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2 : dense, j mod 3 : dense)}>
func.func @convert(%a: tensor<8x?xf32>, %i: index) -> tensor<8x?xf32, #CSR> {
  %c = sparse_tensor.convert %a : tensor<8x?xf32> to tensor<8x?xf32, #CSR>
  %p = sparse_tensor.positions %c {level = 1 : index} : tensor<8x?xf32, #CSR> to memref<?xi32>
  %v = sparse_tensor.values %c : tensor<8x?xf32, #CSR> to memref<?xf32>
  %n = sparse_tensor.number_of_entries %c : tensor<8x?xf32, #CSR>
  return %c : tensor<8x?xf32, #CSR>
}
func.func private @blocks(tensor<12x9xf64, #BSR>, tensor<12x9xf64, #CSR>)
// -----
#V = #sparse_tensor.encoding<{map = (d0) -> (d0 : compressed)}>
func.func @walk(%t: tensor<?xi64, #V>, %f: i64) -> i64 {
  %r = sparse_tensor.foreach in %t init(%f) : tensor<?xi64, #V>, i64 -> i64 do {
  ^bb0(%i: index, %v: i64, %s: i64):
    %n = arith.addi %v, %s : i64
    sparse_tensor.yield %n : i64
  }
  return %r : i64
}
