func.func @regions(%a: memref<10xf32>, %n: index, %c: i1) {
  %d = acc.copyin varPtr(%a : memref<10xf32>) -> memref<10xf32> {name = "a"}
  acc.parallel num_gangs({%n : index}) if(%c) dataOperands(%d : memref<10xf32>) {
    acc.loop gang vector control(%i : index) = (%n : index) to (%n : index) step (%n : index) {
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: true>}
    acc.yield
  } attributes {defaultAttr = #acc<defaultvalue none>}
  acc.copyout accPtr(%d : memref<10xf32>) to varPtr(%a : memref<10xf32>) {name = "a"}
  acc.wait(%n : index)
  acc.init attributes {device_types = [#acc.device_type<nvidia>]}
  return
}
// -----
acc.private.recipe @priv : memref<f32> init {
^bb0(%v: memref<f32>):
  %a = memref.alloca() : memref<f32>
  acc.yield %a : memref<f32>
} destroy {
^bb0(%v: memref<f32>, %w: memref<f32>):
  acc.terminator
}
