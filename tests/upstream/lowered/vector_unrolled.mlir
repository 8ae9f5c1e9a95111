// RUN: --lower-vector-multi-reduction --convert-vector-to-scf --canonicalize
func.func @v(%p: memref<?x?xf32>, %i: index, %f: f32, %acc: vector<4xf32>) -> vector<4xf32> {
  %0 = vector.transfer_read %p[%i, %i], %f : memref<?x?xf32>, vector<4x8xf32>
  %1 = vector.multi_reduction <add>, %0, %acc [1] : vector<4x8xf32> to vector<4xf32>
  return %1 : vector<4xf32>
}
