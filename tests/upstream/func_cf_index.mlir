func.func private @ext(i32 {t.a = 1 : i8}, memref<*xf32>) -> (f32 {t.r}, index) attributes {t.note = "x"}
func.func nested @calls(%c: i1, %x: i32, %m: memref<*xf32>, %f: (i32) -> ()) -> index {
  %r, %s = call @ext(%x, %m) : (i32, memref<*xf32>) -> (f32, index)
  call_indirect %f(%x) : (i32) -> ()
  cf.cond_br %c weights([3, 1]), ^a(%s : index), ^b
^a(%i: index):
  cf.br ^end(%i : index)
^b:
  cf.switch %x : i32, [default: ^a(%s : index), -1: ^b, 42: ^end(%s : index)]
^end(%e: index):
  cf.assert %c, "a \"quoted\" message"
  return %e : index
}
// -----
func.func @arith_of_index(%a: index, %b: index) -> i1 {
  %0 = index.add %a, %b
  %1 = index.ceildivs %0, %b
  %2 = index.constant -5
  %3 = index.cmp slt(%1, %2)
  %4 = index.castu %a : index to i32
  %5 = index.bool.constant false
  %6 = index.sizeof
  return %3 : i1
}
