module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["func.func", "llvm.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %s = loomir.argument 1 of %f : (!transform.any_op) -> !transform.any_value
    %t = loomir.argument 2 of %f : (!transform.any_op) -> !transform.any_value
    %loops = transform.structured.match interface{LoopLikeInterface} in %root : (!transform.any_op) -> !transform.any_op
    %inner, %outer = transform.split_handle %loops : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %l:4 = loomir.tile %outer sizes [%s, %t] : (!transform.any_op, !transform.any_value, !transform.any_value) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
