// RUN: --convert-vector-to-llvm --convert-to-llvm
func.func @v(%a: vector<4xf32>, %b: vector<4xf32>, %p: memref<64xf32>, %i: index) -> f32 {
  %0 = vector.load %p[%i] : memref<64xf32>, vector<4xf32>
  %1 = vector.fma %a, %b, %0 : vector<4xf32>
  %2 = vector.reduction <add>, %1 : vector<4xf32> into f32
  %3 = vector.shuffle %a, %b [0, 5, 2, 7] : vector<4xf32>, vector<4xf32>
  vector.store %3, %p[%i] : memref<64xf32>, vector<4xf32>
  return %2 : f32
}
