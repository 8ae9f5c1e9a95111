emitc.include <"stdio.h">
emitc.global const @table : !emitc.array<2xi32> = dense<[1, 2]>
emitc.func @f(%a: i32, %b: i1, %p: !emitc.ptr<i32>) -> i32 attributes {specifiers = ["static", "inline"]} {
  %v = "emitc.variable"() <{value = #emitc.opaque<"{1, 2}">}> : () -> !emitc.lvalue<!emitc.opaque<"std::vector<int>">>
  %c = emitc.call_opaque "g"(%a) {args = [0 : index, #emitc.opaque<"NULL">], template_args = [i32]} : (i32) -> i32
  %s = emitc.add %c, %a : (i32, i32) -> i32
  %e = emitc.expression %s, %a : (i32, i32) -> i32 {
    %m = emitc.mul %s, %a : (i32, i32) -> i32
    emitc.yield %m : i32
  }
  emitc.verbatim "#pragma once"
  emitc.if %b {
    emitc.verbatim "f({});" args %e : i32
  } else {
  }
  emitc.return %s : i32
}
// -----
emitc.class @C {
  emitc.field @x : !emitc.array<4xf32>
  emitc.func @method(%n: !emitc.size_t) {
    emitc.return
  }
}
