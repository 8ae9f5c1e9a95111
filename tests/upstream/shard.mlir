shard.grid @g(shape = 2x4x?)
func.func @sharded(%t: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %s = shard.sharding @g split_axes = [[0], [1, 2]] halo_sizes = [1, 2, 0, 3] : !shard.sharding
  %a = shard.shard %t to %s annotate_for_users : tensor<8x8xf32>
  %r = shard.all_reduce %a on @g grid_axes = [0, 1] reduction = max : tensor<8x8xf32> -> tensor<8x8xf32>
  %i:3 = shard.process_multi_index on @g : index, index, index
  return %r : tensor<8x8xf32>
}
