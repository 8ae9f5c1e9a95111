pdl_interp.func @matcher(%root: !pdl.operation) {
  pdl_interp.check_operation_name of %root is "t.add" -> ^a, ^end
^a:
  %x = pdl_interp.get_operand 0 of %root
  %t = pdl_interp.get_value_type of %x : !pdl.type
  pdl_interp.switch_type %t to [i32, i64](^b, ^end) -> ^end
^b:
  pdl_interp.check_operand_count of %root is at_least 2 -> ^c, ^end
^c:
  %k = pdl_interp.get_attribute "k" of %root
  pdl_interp.check_attribute %k is 4 : i8 -> ^d, ^end
^d:
  pdl_interp.record_match @rewriters::@r(%root : !pdl.operation) : benefit(1), generatedOps(["t.x"]), loc([%root]), root("t.add") -> ^end
^end:
  pdl_interp.finalize
}
module @rewriters {
  pdl_interp.func @r(%root: !pdl.operation) {
    %t = pdl_interp.create_type i32
    %n = pdl_interp.create_operation "t.x" -> (%t : !pdl.type)
    pdl_interp.erase %root
    pdl_interp.finalize
  }
}
