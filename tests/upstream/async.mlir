func.func @run(%t: !async.token, %v: !async.value<f32>) -> !async.token {
  %token, %r:2 = async.execute [%t] (%v as %x: !async.value<f32>) -> (!async.value<f32>, !async.value<memref<?xf32>>) {
    %n = arith.constant 4 : index
    %m = memref.alloc(%n) : memref<?xf32>
    async.yield %x, %m : f32, memref<?xf32>
  }
  %size = arith.constant 1 : index
  %g = async.create_group %size : !async.group
  %i = async.add_to_group %token, %g : !async.token
  async.await_all %g
  %w = async.await %r#0 : !async.value<f32>
  return %token : !async.token
}
// -----
async.func @coroutine(%a: i32) -> (!async.token, !async.value<i32>) {
  return %a : i32
}
