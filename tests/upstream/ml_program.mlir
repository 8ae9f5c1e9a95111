ml_program.global private mutable @state(dense<[1, 2]> : tensor<2xi32>) : tensor<2xi32>
ml_program.global public @weights(#ml_program.extern<tensor<4xf32>>) : tensor<4xf32>
ml_program.func @f(%i: tensor<2xi32>) -> tensor<2xi32> {
  ml_program.global_store @state = %i : tensor<2xi32>
  %t = ml_program.token
  %v, %u = ml_program.global_load_graph @state ordering (%t -> !ml_program.token) : tensor<2xi32>
  ml_program.return %v : tensor<2xi32>
}
ml_program.subgraph private @g() -> i32 {
  %a = arith.constant 1 : i32
  ml_program.output %a : i32
}
