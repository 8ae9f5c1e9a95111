func.func @copy(%a: memref<?xf32>, %b: memref<?xf64>, %n: index) {
  return
}
