// Operands and results must be as many as the pattern has.
pdl.pattern @count : benefit(1) {
  %a = operand
  %0 = operation "foo.a"(%a : !pdl.value)
  rewrite %0 {
    %1 = operation "foo.hit"
    erase %0
  }
}
// -----
func.func @f(%x: i32) {
  "foo.a"(%x) : (i32) -> ()
  "foo.a"() : () -> ()
  %0 = "foo.a"(%x) : (i32) -> i32
  "foo.a"(%x, %x) : (i32, i32) -> ()
  return
}
// =====
// One operand twice, types, and attributes.
pdl.pattern @same : benefit(1) {
  %t = type : i32
  %u = type
  %k = attribute = 3 : i32
  %l = attribute : %u
  %a = operand : %t
  %0 = operation "foo.a"(%a, %a : !pdl.value, !pdl.value) {"k" = %k, "l" = %l} -> (%u : !pdl.type)
  rewrite %0 {
    %1 = operation "foo.b"(%a : !pdl.value) {"l" = %l} -> (%u : !pdl.type)
    replace %0 with %1
  }
}
// -----
func.func @f(%x: i32, %y: i32, %z: i64) {
  %0 = "foo.a"(%x, %x) {k = 3 : i32, l = 1.0 : f32} : (i32, i32) -> f32
  %1 = "foo.a"(%x, %y) {k = 3 : i32, l = 1.0 : f32} : (i32, i32) -> f32
  %2 = "foo.a"(%x, %x) {k = 4 : i32, l = 1.0 : f32} : (i32, i32) -> f32
  %3 = "foo.a"(%x, %x) {k = 3 : i32, l = 1.0 : f64} : (i32, i32) -> f32
  %4 = "foo.a"(%z, %z) {k = 3 : i32, l = 1.0 : f32} : (i64, i64) -> f32
  %5 = "foo.a"(%x, %x) {k = 3 : i32} : (i32, i32) -> f32
  "foo.use"(%0, %1, %2, %3, %4, %5) : (f32, f32, f32, f32, f32, f32) -> ()
  return
}
// =====
// A chain through a second result, replaced by a value.
pdl.pattern @chain : benefit(1) {
  %t = type
  %u = type
  %a = operand
  %0 = operation "foo.split"(%a : !pdl.value) -> (%t, %u : !pdl.type, !pdl.type)
  %1 = result 1 of %0
  %2 = operation "foo.join"(%1 : !pdl.value) -> (%t : !pdl.type)
  rewrite %2 {
    %3 = result 0 of %0
    replace %2 with (%3 : !pdl.value)
  }
}
// -----
func.func @f(%x: i32) {
  %0:2 = "foo.split"(%x) : (i32) -> (f32, f64)
  %1 = "foo.join"(%0#1) : (f64) -> f32
  %2 = "foo.join"(%0#0) : (f32) -> f32
  "foo.use"(%1, %2) : (f32, f32) -> ()
  return
}
// =====
// The pattern with the larger benefit first.
pdl.pattern @small : benefit(1) {
  %0 = operation "foo.a"
  rewrite %0 {
    %1 = operation "foo.small"
    erase %0
  }
}
pdl.pattern @large : benefit(2) {
  %0 = operation "foo.a"
  rewrite %0 {
    %1 = operation "foo.large"
    erase %0
  }
}
// -----
func.func @f() {
  "foo.a"() : () -> ()
  return
}
