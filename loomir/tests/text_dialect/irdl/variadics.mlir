// Optional and variadic operands and results, with one or several segments.
irdl.dialect @vary {
  irdl.operation @one {
    %0 = irdl.is i16
    %1 = irdl.is i32
    %2 = irdl.is i64
    irdl.operands(first: %0, rest: variadic %1, last: %2)
  }
  irdl.operation @maybe {
    %0 = irdl.is i16
    irdl.operands(x: optional %0)
    irdl.results(y: optional %0)
  }
  irdl.operation @two {
    %0 = irdl.is i16
    %1 = irdl.is i32
    irdl.operands(some: variadic %0, more: optional %1)
  }
  irdl.operation @results {
    %0 = irdl.any
    irdl.results(all: variadic %0)
  }
}
// -----
func.func @right(%a: i16, %b: i32, %c: i64) {
  "vary.one"(%a, %c) : (i16, i64) -> ()
  "vary.one"(%a, %b, %b, %c) : (i16, i32, i32, i64) -> ()
  "vary.maybe"() : () -> ()
  %0 = "vary.maybe"(%a) : (i16) -> i16
  %1:3 = "vary.results"() : () -> (f32, f32, f32)
  return
}
// -----
func.func @too_few(%a: i16) {
  "vary.one"(%a) : (i16) -> ()
  return
}
// -----
func.func @wrong_rest(%a: i16, %c: i64) {
  "vary.one"(%a, %a, %c) : (i16, i16, i64) -> ()
  return
}
// -----
func.func @two_optional(%a: i16) {
  "vary.maybe"(%a, %a) : (i16, i16) -> ()
  return
}
// -----
func.func @one_variable() {
  %0:2 = "vary.results"() : () -> (f32, f64)
  return
}
// -----
func.func @segments(%a: i16, %b: i32) {
  "vary.two"(%a, %a, %b) {operandSegmentSizes = array<i32: 2, 1>} : (i16, i16, i32) -> ()
  "vary.two"() {operandSegmentSizes = array<i32: 0, 0>} : () -> ()
  return
}
// -----
func.func @no_segments(%a: i16) {
  "vary.two"(%a) : (i16) -> ()
  return
}
// -----
func.func @sum(%a: i16) {
  "vary.two"(%a) {operandSegmentSizes = array<i32: 2, 1>} : (i16) -> ()
  return
}
// -----
func.func @more_than_one(%b: i32) {
  "vary.two"(%b, %b) {operandSegmentSizes = array<i32: 0, 2>} : (i32, i32) -> ()
  return
}
