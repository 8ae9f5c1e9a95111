// Solvers, statistics and dynamic programming.

func.func @lu(%n: index, %a: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
      affine.for %k = 0 to affine_map<(d0) -> (d0)>(%j) {
        %0 = affine.load %a[%i, %k] : memref<?x?xf64>
        %1 = affine.load %a[%k, %j] : memref<?x?xf64>
        %2 = arith.mulf %0, %1 : f64
        %3 = affine.load %a[%i, %j] : memref<?x?xf64>
        %4 = arith.subf %3, %2 : f64
        affine.store %4, %a[%i, %j] : memref<?x?xf64>
      }
      %5 = affine.load %a[%i, %j] : memref<?x?xf64>
      %6 = affine.load %a[%j, %j] : memref<?x?xf64>
      %7 = arith.divf %5, %6 : f64
      affine.store %7, %a[%i, %j] : memref<?x?xf64>
    }
    affine.for %j = affine_map<(d0) -> (d0)>(%i) to %n {
      affine.for %k = 0 to affine_map<(d0) -> (d0)>(%i) {
        %0 = affine.load %a[%i, %k] : memref<?x?xf64>
        %1 = affine.load %a[%k, %j] : memref<?x?xf64>
        %2 = arith.mulf %0, %1 : f64
        %3 = affine.load %a[%i, %j] : memref<?x?xf64>
        %4 = arith.subf %3, %2 : f64
        affine.store %4, %a[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}

func.func @cholesky(%n: index, %a: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
      affine.for %k = 0 to affine_map<(d0) -> (d0)>(%j) {
        %0 = affine.load %a[%i, %k] : memref<?x?xf64>
        %1 = affine.load %a[%j, %k] : memref<?x?xf64>
        %2 = arith.mulf %0, %1 : f64
        %3 = affine.load %a[%i, %j] : memref<?x?xf64>
        %4 = arith.subf %3, %2 : f64
        affine.store %4, %a[%i, %j] : memref<?x?xf64>
      }
      %5 = affine.load %a[%i, %j] : memref<?x?xf64>
      %6 = affine.load %a[%j, %j] : memref<?x?xf64>
      %7 = arith.divf %5, %6 : f64
      affine.store %7, %a[%i, %j] : memref<?x?xf64>
    }
    affine.for %k = 0 to affine_map<(d0) -> (d0)>(%i) {
      %0 = affine.load %a[%i, %k] : memref<?x?xf64>
      %1 = arith.mulf %0, %0 : f64
      %2 = affine.load %a[%i, %i] : memref<?x?xf64>
      %3 = arith.subf %2, %1 : f64
      affine.store %3, %a[%i, %i] : memref<?x?xf64>
    }
    %8 = affine.load %a[%i, %i] : memref<?x?xf64>
    %9 = math.sqrt %8 : f64
    affine.store %9, %a[%i, %i] : memref<?x?xf64>
  }
  return
}

func.func @trisolv(%n: index, %l: memref<?x?xf64>, %b: memref<?xf64>, %x: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %b[%i] : memref<?xf64>
    affine.store %0, %x[%i] : memref<?xf64>
    affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
      %1 = affine.load %l[%i, %j] : memref<?x?xf64>
      %2 = affine.load %x[%j] : memref<?xf64>
      %3 = arith.mulf %1, %2 : f64
      %4 = affine.load %x[%i] : memref<?xf64>
      %5 = arith.subf %4, %3 : f64
      affine.store %5, %x[%i] : memref<?xf64>
    }
    %6 = affine.load %x[%i] : memref<?xf64>
    %7 = affine.load %l[%i, %i] : memref<?x?xf64>
    %8 = arith.divf %6, %7 : f64
    affine.store %8, %x[%i] : memref<?xf64>
  }
  return
}

func.func @backsolve(%n: index, %u: memref<?x?xf64>, %b: memref<?xf64>, %x: memref<?xf64>) {
  affine.for %r = 0 to %n {
    %0 = affine.load %b[%n - 1 - %r] : memref<?xf64>
    affine.store %0, %x[%n - 1 - %r] : memref<?xf64>
    affine.for %j = affine_map<(d0)[s0] -> (s0 - d0)>(%r)[%n] to %n {
      %1 = affine.load %u[%n - 1 - %r, %j] : memref<?x?xf64>
      %2 = affine.load %x[%j] : memref<?xf64>
      %3 = arith.mulf %1, %2 : f64
      %4 = affine.load %x[%n - 1 - %r] : memref<?xf64>
      %5 = arith.subf %4, %3 : f64
      affine.store %5, %x[%n - 1 - %r] : memref<?xf64>
    }
  }
  return
}

func.func @covariance(%n: index, %m: index, %fn: f64, %data: memref<?x?xf64>, %cov: memref<?x?xf64>, %mean: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %j = 0 to %m {
    affine.store %zero, %mean[%j] : memref<?xf64>
    affine.for %i = 0 to %n {
      %0 = affine.load %data[%i, %j] : memref<?x?xf64>
      %1 = affine.load %mean[%j] : memref<?xf64>
      %2 = arith.addf %1, %0 : f64
      affine.store %2, %mean[%j] : memref<?xf64>
    }
    %3 = affine.load %mean[%j] : memref<?xf64>
    %4 = arith.divf %3, %fn : f64
    affine.store %4, %mean[%j] : memref<?xf64>
  }
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.load %data[%i, %j] : memref<?x?xf64>
      %1 = affine.load %mean[%j] : memref<?xf64>
      %2 = arith.subf %0, %1 : f64
      affine.store %2, %data[%i, %j] : memref<?x?xf64>
    }
  }
  affine.for %i = 0 to %m {
    affine.for %j = affine_map<(d0) -> (d0)>(%i) to %m {
      affine.store %zero, %cov[%i, %j] : memref<?x?xf64>
      affine.for %k = 0 to %n {
        %0 = affine.load %data[%k, %i] : memref<?x?xf64>
        %1 = affine.load %data[%k, %j] : memref<?x?xf64>
        %2 = arith.mulf %0, %1 : f64
        %3 = affine.load %cov[%i, %j] : memref<?x?xf64>
        %4 = arith.addf %3, %2 : f64
        affine.store %4, %cov[%i, %j] : memref<?x?xf64>
      }
      %5 = affine.load %cov[%i, %j] : memref<?x?xf64>
      affine.store %5, %cov[%j, %i] : memref<?x?xf64>
    }
  }
  return
}

func.func @floyd_warshall(%n: index, %p: memref<?x?xi32>) {
  affine.for %k = 0 to %n {
    affine.for %i = 0 to %n {
      affine.for %j = 0 to %n {
        %0 = affine.load %p[%i, %j] : memref<?x?xi32>
        %1 = affine.load %p[%i, %k] : memref<?x?xi32>
        %2 = affine.load %p[%k, %j] : memref<?x?xi32>
        %3 = arith.addi %1, %2 : i32
        %4 = arith.minsi %0, %3 : i32
        affine.store %4, %p[%i, %j] : memref<?x?xi32>
      }
    }
  }
  return
}

func.func @edit_distance(%a: memref<18xi32>, %b: memref<20xi32>, %d: memref<19x21xi32>) {
  %one = arith.constant 1 : i32
  affine.for %i = 0 to 18 {
    affine.for %j = 0 to 20 {
      %0 = affine.load %a[%i] : memref<18xi32>
      %1 = affine.load %b[%j] : memref<20xi32>
      %2 = arith.cmpi ne, %0, %1 : i32
      %3 = arith.extui %2 : i1 to i32
      %4 = affine.load %d[%i, %j] : memref<19x21xi32>
      %5 = arith.addi %4, %3 : i32
      %6 = affine.load %d[%i + 1, %j] : memref<19x21xi32>
      %7 = affine.load %d[%i, %j + 1] : memref<19x21xi32>
      %8 = arith.minsi %6, %7 : i32
      %9 = arith.addi %8, %one : i32
      %10 = arith.minsi %5, %9 : i32
      affine.store %10, %d[%i + 1, %j + 1] : memref<19x21xi32>
    }
  }
  return
}

func.func @axpy_dot(%n: index, %alpha: f64, %x: memref<?xf64>, %y: memref<?xf64>) -> f64 {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    %0 = affine.load %x[%i] : memref<?xf64>
    %1 = arith.mulf %alpha, %0 : f64
    %2 = affine.load %y[%i] : memref<?xf64>
    %3 = arith.addf %2, %1 : f64
    affine.store %3, %y[%i] : memref<?xf64>
  }
  %dot = affine.for %i = 0 to %n iter_args(%sum = %zero) -> (f64) {
    %0 = affine.load %x[%i] : memref<?xf64>
    %1 = affine.load %y[%i] : memref<?xf64>
    %2 = arith.mulf %0, %1 : f64
    %3 = arith.addf %sum, %2 : f64
    affine.yield %3 : f64
  }
  return %dot : f64
}

func.func @softmax(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %most = affine.for %i = 0 to %n iter_args(%m = %low) -> (f32) {
    %0 = affine.load %x[%i] : memref<?xf32>
    %1 = arith.maximumf %m, %0 : f32
    affine.yield %1 : f32
  }
  affine.for %i = 0 to %n {
    %0 = affine.load %x[%i] : memref<?xf32>
    %1 = arith.subf %0, %most : f32
    %2 = math.exp %1 : f32
    affine.store %2, %y[%i] : memref<?xf32>
  }
  %sum = affine.for %i = 0 to %n iter_args(%s = %zero) -> (f32) {
    %0 = affine.load %y[%i] : memref<?xf32>
    %1 = arith.addf %s, %0 : f32
    affine.yield %1 : f32
  }
  affine.for %i = 0 to %n {
    %0 = affine.load %y[%i] : memref<?xf32>
    %1 = arith.divf %0, %sum : f32
    affine.store %1, %y[%i] : memref<?xf32>
  }
  return
}
