llvm.func @kernel(%p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %i: i32, %h: vector<2xf16>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 1, 23, 32>} {
  %x = nvvm.read.ptx.sreg.tid.x range <i32, 0, 1024> : i32
  nvvm.barrier0
  %w = nvvm.shfl.sync bfly %i, %i, %i, %i {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>
  %m = nvvm.mma.sync A[%h, %h, %h, %h] B[%h, %h] C[%h, %h] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
    : (vector<2xf16>, vector<2xf16>, vector<2xf16>) -> !llvm.struct<(vector<2xf16>, vector<2xf16>)>
  nvvm.cp.async.shared.global %s, %p, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  nvvm.cp.async.wait.group 0
  %l = nvvm.redux.sync add %i, %i : i32 -> i32
  llvm.return
}
