// Definitions without content.
irdl.dialect @empty {
  irdl.type @t
  irdl.attribute @a
  irdl.operation @o
  irdl.operation @listed {
    irdl.operands()
    irdl.results()
    irdl.regions()
  }
}
// -----
func.func @right(%x: !empty.t) attributes {a = #empty.a} {
  "empty.o"() : () -> ()
  "empty.o"() {a = #empty.a, b = !empty.t} : () -> ()
  return
}
// -----
func.func @operand(%x: !empty.t) {
  "empty.o"(%x) : (!empty.t) -> ()
  return
}
// -----
func.func @result() {
  %0 = "empty.o"() : () -> i32
  return
}
// -----
func.func @ends() {
  "empty.o"() : () -> ()
}
