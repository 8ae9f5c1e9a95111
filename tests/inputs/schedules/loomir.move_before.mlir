module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %loops = transform.structured.match interface{LoopLikeInterface} in %root : (!transform.any_op) -> !transform.any_op
    %a, %b = transform.split_handle %loops : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    loomir.move_before %b, %a : !transform.any_op, !transform.any_op
    transform.yield
  }
}
