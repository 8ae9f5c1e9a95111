// RUN: --async-to-async-runtime --async-runtime-ref-counting --convert-async-to-llvm
func.func @run(%m: memref<1xf32>, %f: f32, %i: index) {
  %t = async.execute {
    memref.store %f, %m[%i] : memref<1xf32>
    async.yield
  }
  async.await %t : !async.token
  return
}
