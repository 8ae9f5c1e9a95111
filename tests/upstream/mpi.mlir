func.func @ranks(%b: memref<100xf32>, %t: i32) -> i32 {
  %e = mpi.init : !mpi.retval
  %c = mpi.comm_world : !mpi.comm
  %r:2 = mpi.comm_rank(%c) : !mpi.retval, i32
  mpi.send(%b, %t, %r#1, %c) : memref<100xf32>, i32, i32
  %q, %req = mpi.irecv(%b, %t, %t, %c) : memref<100xf32>, i32, i32 -> !mpi.retval, !mpi.request
  mpi.allreduce(%b, %b, MPI_SUM, %c) : memref<100xf32>, memref<100xf32>
  %ok = mpi.retval_check %e = <MPI_SUCCESS> : i1
  %f = mpi.finalize : !mpi.retval
  return %r#1 : i32
}
