pdl.pattern @unconnected : benefit(1) {
  %0 = operation "foo.a"
  %1 = operation "foo.b"
  rewrite %0 { erase %0 }
}
// -----
pdl.pattern @no_root : benefit(1) {
  %t = type
  %0 = operation "foo.a" -> (%t : !pdl.type)
  %1 = result 0 of %0
  %2 = operation "foo.b"(%1 : !pdl.value)
  rewrite { erase %2 }
}
// -----
pdl.pattern @external : benefit(1) {
  %0 = operation "foo.a"
  rewrite %0 with "function"
}
// -----
pdl.pattern @nothing : benefit(1) {
  %0 = operation "foo.a"
  rewrite %0 { }
}
// -----
pdl.pattern @open : benefit(1) {
  %0 = operation "foo.a"
  rewrite %0 {
    %a = attribute
    %1 = operation "foo.b" {"x" = %a}
    erase %0
  }
}
// -----
pdl.pattern @nameless : benefit(1) {
  %0 = operation "foo.a"
  rewrite %0 {
    %1 = operation
    erase %0
  }
}
// -----
pdl.pattern @twice : benefit(1) {
  %t = type
  %0 = operation "foo.a" -> (%t : !pdl.type)
  rewrite %0 {
    %1 = operation "foo.b" -> (%t : !pdl.type)
    replace %0 with %1
    replace %0 with %1
  }
}
// -----
pdl.pattern @negative : benefit(-1) {
  %0 = operation "foo.a"
  rewrite %0 { erase %0 }
}
// -----
pdl.pattern @no_end : benefit(1) {
  %0 = operation "foo.a"
}
