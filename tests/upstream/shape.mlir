func.func @shapes(%a: tensor<2x?xf32>, %s: !shape.shape, %w: !shape.witness, %v: !shape.value_shape) -> !shape.size {
  %x = shape.shape_of %a : tensor<2x?xf32> -> tensor<2xindex>
  %b = shape.broadcast %s, %s {error = "unlike"} : !shape.shape, !shape.shape -> !shape.shape
  %n = shape.num_elements %b : !shape.shape -> !shape.size
  %c = shape.const_shape [1, 2, 3] : tensor<3xindex>
  %k = shape.const_size 10
  %t = shape.cstr_broadcastable %s, %s : !shape.shape, !shape.shape
  %r = shape.assuming %t -> (index) {
    %i = arith.constant 3 : index
    shape.assuming_yield %i : index
  }
  %q = shape.reduce(%b, %k) : !shape.shape -> !shape.size {
  ^bb0(%i: index, %d: !shape.size, %acc: !shape.size):
    %m = shape.mul %d, %acc : !shape.size, !shape.size -> !shape.size
    shape.yield %m : !shape.size
  }
  return %q : !shape.size
}
shape.function_library @lib {
  shape.func @same(%v: !shape.value_shape) -> !shape.shape {
    %0 = shape.shape_of %v : !shape.value_shape -> !shape.shape
    return %0 : !shape.shape
  }
} mapping {t.op = @same}
