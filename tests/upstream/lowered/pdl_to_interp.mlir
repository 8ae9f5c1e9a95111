// RUN: --convert-pdl-to-pdl-interp
pdl.pattern : benefit(1) {
  %t = pdl.type : i32
  %v = pdl.operand
  %o = pdl.operation "t.add"(%v, %v : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %o {
    pdl.replace %o with (%v : !pdl.value)
  }
}
