// RUN: --shape-to-shape-lowering --convert-shape-to-std --convert-shape-constraints
func.func @f(%a: tensor<2x?xf32>, %s: tensor<?xindex>) -> index {
  %x = shape.shape_of %a : tensor<2x?xf32> -> tensor<2xindex>
  %n = shape.num_elements %x : tensor<2xindex> -> index
  return %n : index
}
