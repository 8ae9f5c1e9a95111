// SYNTAX TEST "source.mlir" "a function with loops"
#map = affine_map<(d0)[s0] -> (d0 + s0)>
// <---- variable.other.constant.mlir
//     ^^^^^^^^^^ keyword.other.mlir
//                                ^ keyword.operator.mlir
func.func @f(%a: memref<4x?xf32>, %n: index) -> f32 attributes {k = "a\22"} {
// <--------- support.function.mlir
//        ^^ entity.name.function.mlir
//           ^^ variable.other.mlir
//               ^^^^^^ storage.type.mlir
//                      ^^^ constant.numeric.mlir
//                          ^^^ storage.type.mlir
//                                    ^^^^^ storage.type.mlir
//                                                                    ^^^ string.quoted.double.mlir constant.character.escape.mlir
  %c0, %r:2 = "a.b"() : () -> (index, i8, !t.u<3>)
//^^^ variable.other.mlir
//     ^^ variable.other.mlir
//        ^ constant.numeric.mlir
//            ^^^^^ string.quoted.double.mlir
//                                        ^^^^ entity.name.type.mlir
  %x = arith.constant -1.5e+3 : f32
//                    ^^^^^^^ constant.numeric.mlir
  cf.br ^bb1(%r#1 : i8)
//      ^^^^ entity.name.label.mlir
//             ^^ constant.numeric.mlir
^bb1(%z: i8): // A comment.
//            ^^^^^^^^^^^^^ comment.line.double-slash.mlir
  return %x : f32
//^^^^^^ keyword.other.mlir
}
