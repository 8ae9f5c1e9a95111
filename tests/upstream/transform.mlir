module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.structured.match ops{["linalg.matmul", "linalg.generic"]} attributes{tag = "a"} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %m tile_sizes [4, [8], 0] interchange = [1, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.op<"scf.for">)
    %p = transform.param.constant 4 : i64 -> !transform.param<i64>
    transform.annotate %t "size" = %p : !transform.any_op, !transform.param<i64>
    transform.foreach %l#0 : !transform.any_op {
    ^bb0(%one: !transform.any_op):
      transform.debug.emit_remark_at %one, "here" : !transform.any_op
    }
    transform.yield
  }
  func.func private @payload()
}
// -----
transform.sequence failures(suppress) {
^bb0(%root: !transform.any_op, %loops: !transform.op<"scf.for">):
  %a, %b = transform.split_handle %root {fail_on_payload_too_small = false} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.alternatives %a : !transform.any_op {
  ^bb0(%s: !transform.any_op):
    transform.apply_patterns to %s {
      transform.apply_patterns.canonicalization
      transform.apply_patterns.vector.lower_contraction lowering_strategy = "outerproduct"
    } : !transform.any_op
  }, {
  ^bb0(%s: !transform.any_op):
  }
  transform.loop.unroll %loops {factor = 4} : !transform.op<"scf.for">
}
