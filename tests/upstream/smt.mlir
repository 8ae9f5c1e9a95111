smt.solver() : () -> () {
  smt.set_logic "HORN"
  %f = smt.declare_fun "f" : !smt.func<(!smt.int, !smt.bool) !smt.bool>
  %a = smt.declare_fun : !smt.array<[!smt.int -> !smt.bv<32>]>
  %i = smt.int.constant 123456789012345678901234567890
  %b = smt.bv.constant #smt.bv<5> : !smt.bv<8>
  %x = smt.bv.add %b, %b : !smt.bv<8>
  %t = smt.constant true
  %s = smt.apply_func %f(%i, %t) : !smt.func<(!smt.int, !smt.bool) !smt.bool>
  %q = smt.forall ["x"] weight 2 {
  ^bb0(%y: !smt.int):
    %c = smt.int.cmp le %y, %i
    smt.yield %c : !smt.bool
  } patterns {
  ^bb0(%y: !smt.int):
    %c = smt.int.cmp le %y, %i
    smt.yield %c : !smt.bool
  }
  smt.assert %q
  %e = smt.eq %b, %x : !smt.bv<8>
  smt.check sat {} unknown {} unsat {}
}
