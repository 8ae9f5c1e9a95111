// Two dialects in one file, each with references to the other.
irdl.dialect @left {
  irdl.type @box {
    %0 = irdl.any
    irdl.parameters(content: %0)
  }
  irdl.operation @open {
    %0 = irdl.base @right::@lid
    irdl.operands(x: %0)
  }
}
irdl.dialect @right {
  irdl.type @lid
  irdl.operation @close {
    %0 = irdl.base @right::@lid
    %1 = irdl.parametric @left::@box<%0>
    irdl.operands(x: %1)
    irdl.results(y: %0)
  }
}
// -----
func.func @right(%x: !right.lid, %y: !left.box<!right.lid>) {
  "left.open"(%x) : (!right.lid) -> ()
  %0 = "right.close"(%y) : (!left.box<!right.lid>) -> !right.lid
  return
}
// -----
func.func @content(%y: !left.box<i32>) {
  %0 = "right.close"(%y) : (!left.box<i32>) -> !right.lid
  return
}
// -----
func.func @parameters(%x: !right.lid<i32>) { return }
// -----
func.func @nested(%x: tuple<!left.box<!left.box<memref<4xf32>>>, !right.lid>) { return }
