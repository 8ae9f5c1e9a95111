// RUN: --convert-arith-to-emitc --convert-scf-to-emitc --convert-func-to-emitc
func.func @f(%a: i32, %c: i1) -> i32 {
  %0 = arith.constant 7 : i32
  %1 = scf.if %c -> i32 {
    %2 = arith.addi %a, %0 : i32
    scf.yield %2 : i32
  } else {
    scf.yield %0 : i32
  }
  return %1 : i32
}
