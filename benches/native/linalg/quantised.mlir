// Products of rows of bytes, summed in words.
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (j, k)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @quantised(%a: memref<256x512xi8>, %b: memref<256x512xi8>, %c: memref<256x256xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%c : memref<256x256xi32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<256x512xi8>, memref<256x512xi8>) outs(%c : memref<256x256xi32>) {
    ^bb0(%x: i8, %y: i8, %out: i32):
      %0 = arith.extsi %x : i8 to i32
      %1 = arith.extsi %y : i8 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %out, %2 : i32
      linalg.yield %3 : i32
  }
  return
}
