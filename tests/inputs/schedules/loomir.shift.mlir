module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %loop = transform.structured.match interface{LoopLikeInterface} in %root : (!transform.any_op) -> !transform.any_op
    %load = transform.structured.match ops{["affine.load", "memref.load", "llvm.load"]} in %loop : (!transform.any_op) -> !transform.any_op
    %shifted = loomir.shift %loop from %load by 1 : (!transform.any_op, !transform.any_op) -> !transform.any_op
    transform.yield
  }
}
