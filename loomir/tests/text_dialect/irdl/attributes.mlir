// Attributes of operations, and attributes with parameters.
irdl.dialect @attrs {
  irdl.attribute @unit {
    %0 = irdl.is "m"
    %1 = irdl.is "s"
    %2 = irdl.any_of(%0, %1)
    %3 = irdl.base "#builtin.integer"
    irdl.parameters(symbol: %2, exponent: %3)
  }
  irdl.attribute @plain
  irdl.operation @measure {
    %0 = irdl.base @attrs::@unit
    %1 = irdl.any
    irdl.attributes {"unit" = %0, "other" = %1}
  }
  irdl.operation @metres {
    %0 = irdl.is "m"
    %1 = irdl.any
    %2 = irdl.parametric @attrs::@unit<%0, %1>
    irdl.attributes {"unit" = %2}
  }
}
// -----
func.func @right() {
  "attrs.measure"() {unit = #attrs.unit<"s", -2 : i32>, other = #attrs.plain} : () -> ()
  "attrs.measure"() {unit = #attrs<unit<"m", 1 : i8>>, other = 4, more = 1} : () -> ()
  "attrs.metres"() {unit = #attrs.unit<"m", 1 : i8>} : () -> ()
  return
}
// -----
func.func @missing() {
  "attrs.measure"() {unit = #attrs.unit<"s", -2 : i32>} : () -> ()
  return
}
// -----
func.func @parameter() {
  "attrs.measure"() {unit = #attrs.unit<"kg", -2 : i32>, other} : () -> ()
  return
}
// -----
func.func @kind() {
  "attrs.measure"() {unit = #attrs.unit<"s", "two">, other} : () -> ()
  return
}
// -----
func.func @base() {
  "attrs.measure"() {unit = #attrs.plain, other} : () -> ()
  return
}
// -----
func.func @parametric() {
  "attrs.metres"() {unit = #attrs.unit<"s", 1 : i8>} : () -> ()
  return
}
// -----
func.func @none() attributes {x = #attrs.nothing} { return }
