// Alternatives and conjunctions, nested, and with variables that are set on the way.
irdl.dialect @choice {
  irdl.type @pair {
    %0 = irdl.any
    irdl.parameters(a: %0, b: %0)
  }
  irdl.operation @narrow {
    %0 = irdl.is i32
    %1 = irdl.is f32
    %2 = irdl.any_of(%0, %1)
    %3 = irdl.is f64
    %4 = irdl.any_of(%1, %3)
    %5 = irdl.all_of(%2, %4)
    irdl.operands(x: %5)
  }
  irdl.operation @either {
    %0 = irdl.base "!builtin.integer"
    %1 = irdl.base "!builtin.index"
    %2 = irdl.any_of(%0, %1)
    irdl.operands(x: %2, y: %2)
  }
}
// -----
func.func @right(%x: f32, %i: i7, %j: index) {
  "choice.narrow"(%x) : (f32) -> ()
  "choice.either"(%i, %i) : (i7, i7) -> ()
  "choice.either"(%j, %j) : (index, index) -> ()
  return
}
// -----
func.func @first_alone(%x: i32) {
  "choice.narrow"(%x) : (i32) -> ()
  return
}
// -----
func.func @second_alone(%x: f64) {
  "choice.narrow"(%x) : (f64) -> ()
  return
}
// -----
func.func @one_type(%i: i7, %j: i8) {
  "choice.either"(%i, %j) : (i7, i8) -> ()
  return
}
// -----
func.func @neither(%x: f64) {
  "choice.either"(%x, %x) : (f64, f64) -> ()
  return
}
// -----
func.func private @same(!choice.pair<i32, i32>)
// -----
func.func private @not_same(!choice.pair<i32, i64>)
