// REFUSED: pdl with ranges and functions of other languages
pdl.pattern @fold : benefit(2) {
  %t = pdl.type : i32
  %ts = pdl.types
  %v = pdl.operand : %t
  %vs = pdl.operands : %ts
  %a = pdl.attribute = 4 : i8
  %b = pdl.attribute : %t
  %o = pdl.operation "t.add"(%v, %vs : !pdl.value, !pdl.range<value>) {"k" = %a, "b" = %b} -> (%t, %ts : !pdl.type, !pdl.range<type>)
  %r = pdl.result 0 of %o
  %rs = pdl.results of %o
  pdl.apply_native_constraint "check"(%r : !pdl.value)
  pdl.rewrite %o with "external"(%a : !pdl.attribute)
}
// -----
pdl.pattern : benefit(1) {
  %o = pdl.operation
  pdl.rewrite %o {
    %n = pdl.operation "t.new"
    pdl.replace %o with %n
  }
}
