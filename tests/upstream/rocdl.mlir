llvm.func @kernel(%a: i32, %r: vector<4xi32>, %v: vector<4xf32>, %f: f32) attributes {rocdl.kernel, rocdl.flat_work_group_size = "128,128"} {
  %x = rocdl.workitem.id.x range <i32, 0, 64> : i32
  %c = llvm.mlir.constant(true) : i1
  %b = rocdl.ballot %c : i64
  rocdl.s.barrier
  %m = rocdl.mfma.f32.4x4x1f32 %f, %f, %v, %a, %a, %a : (f32, f32, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
  rocdl.s.waitcnt 7
  %d = rocdl.ds_bpermute %a, %a : (i32, i32) -> i32
  llvm.return
}
