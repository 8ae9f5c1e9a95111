omp.declare_reduction @add : i32 init {
^bb0(%x: i32):
  %z = llvm.mlir.constant(0 : i32) : i32
  omp.yield(%z : i32)
} combiner {
^bb1(%a: i32, %b: i32):
  %s = llvm.add %a, %b : i32
  omp.yield(%s : i32)
}
omp.private {type = private} @p : i32
func.func @work(%n: i32, %c: i1, %p: !llvm.ptr) {
  omp.parallel num_threads(%n : i32) if(%c) proc_bind(close) reduction(@add %p -> %r : !llvm.ptr) {
    omp.wsloop schedule(dynamic = %n : i32, nonmonotonic) nowait ordered(1) {
      omp.loop_nest (%i, %j) : i32 = (%n, %n) to (%n, %n) inclusive step (%n, %n) {
        omp.yield
      }
    }
    omp.barrier
    omp.single nowait {
      omp.terminator
    }
    omp.terminator
  }
  omp.task depend(taskdependin -> %p : !llvm.ptr) untied {
    omp.terminator
  }
  omp.atomic.update memory_order(relaxed) hint(uncontended) %p : !llvm.ptr {
  ^bb0(%v: i32):
    omp.yield(%v : i32)
  }
  %m = omp.map.info var_ptr(%p : !llvm.ptr, i32) map_clauses(to) capture(ByRef) -> !llvm.ptr {name = "p"}
  omp.target map_entries(%m -> %q : !llvm.ptr) {
    omp.terminator
  }
  return
}
