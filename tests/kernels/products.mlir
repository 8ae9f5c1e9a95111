// Products of matrices and vectors, in the loops of a textbook.

func.func @gemm(%n: index, %m: index, %p: index, %alpha: f64, %beta: f64, %a: memref<?x?xf64>, %b: memref<?x?xf64>, %c: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %0 = affine.load %c[%i, %j] : memref<?x?xf64>
      %1 = arith.mulf %0, %beta : f64
      affine.store %1, %c[%i, %j] : memref<?x?xf64>
    }
    affine.for %k = 0 to %p {
      affine.for %j = 0 to %m {
        %0 = affine.load %a[%i, %k] : memref<?x?xf64>
        %1 = arith.mulf %alpha, %0 : f64
        %2 = affine.load %b[%k, %j] : memref<?x?xf64>
        %3 = arith.mulf %1, %2 : f64
        %4 = affine.load %c[%i, %j] : memref<?x?xf64>
        %5 = arith.addf %4, %3 : f64
        affine.store %5, %c[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}

func.func @two_mm(%n: index, %a: memref<?x?xf64>, %b: memref<?x?xf64>, %t: memref<?x?xf64>, %c: memref<?x?xf64>, %d: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      affine.store %zero, %t[%i, %j] : memref<?x?xf64>
      affine.for %k = 0 to %n {
        %0 = affine.load %a[%i, %k] : memref<?x?xf64>
        %1 = affine.load %b[%k, %j] : memref<?x?xf64>
        %2 = arith.mulf %0, %1 : f64
        %3 = affine.load %t[%i, %j] : memref<?x?xf64>
        %4 = arith.addf %3, %2 : f64
        affine.store %4, %t[%i, %j] : memref<?x?xf64>
      }
    }
  }
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      affine.for %k = 0 to %n {
        %0 = affine.load %t[%i, %k] : memref<?x?xf64>
        %1 = affine.load %c[%k, %j] : memref<?x?xf64>
        %2 = arith.mulf %0, %1 : f64
        %3 = affine.load %d[%i, %j] : memref<?x?xf64>
        %4 = arith.addf %3, %2 : f64
        affine.store %4, %d[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}

func.func @three_mm(%a: memref<16x18xi32>, %b: memref<18x20xi32>, %c: memref<20x22xi32>, %d: memref<22x24xi32>, %e: memref<16x20xi32>, %f: memref<20x24xi32>, %g: memref<16x24xi32>) {
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 20 {
      affine.for %k = 0 to 18 {
        %0 = affine.load %a[%i, %k] : memref<16x18xi32>
        %1 = affine.load %b[%k, %j] : memref<18x20xi32>
        %2 = arith.muli %0, %1 : i32
        %3 = affine.load %e[%i, %j] : memref<16x20xi32>
        %4 = arith.addi %3, %2 : i32
        affine.store %4, %e[%i, %j] : memref<16x20xi32>
      }
    }
  }
  affine.for %i = 0 to 20 {
    affine.for %j = 0 to 24 {
      affine.for %k = 0 to 22 {
        %0 = affine.load %c[%i, %k] : memref<20x22xi32>
        %1 = affine.load %d[%k, %j] : memref<22x24xi32>
        %2 = arith.muli %0, %1 : i32
        %3 = affine.load %f[%i, %j] : memref<20x24xi32>
        %4 = arith.addi %3, %2 : i32
        affine.store %4, %f[%i, %j] : memref<20x24xi32>
      }
    }
  }
  affine.for %i = 0 to 16 {
    affine.for %j = 0 to 24 {
      affine.for %k = 0 to 20 {
        %0 = affine.load %e[%i, %k] : memref<16x20xi32>
        %1 = affine.load %f[%k, %j] : memref<20x24xi32>
        %2 = arith.muli %0, %1 : i32
        %3 = affine.load %g[%i, %j] : memref<16x24xi32>
        %4 = arith.addi %3, %2 : i32
        affine.store %4, %g[%i, %j] : memref<16x24xi32>
      }
    }
  }
  return
}

func.func @atax(%n: index, %m: index, %a: memref<?x?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %t: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %j = 0 to %m {
    affine.store %zero, %y[%j] : memref<?xf64>
  }
  affine.for %i = 0 to %n {
    affine.store %zero, %t[%i] : memref<?xf64>
    affine.for %j = 0 to %m {
      %0 = affine.load %a[%i, %j] : memref<?x?xf64>
      %1 = affine.load %x[%j] : memref<?xf64>
      %2 = arith.mulf %0, %1 : f64
      %3 = affine.load %t[%i] : memref<?xf64>
      %4 = arith.addf %3, %2 : f64
      affine.store %4, %t[%i] : memref<?xf64>
    }
    affine.for %j = 0 to %m {
      %0 = affine.load %a[%i, %j] : memref<?x?xf64>
      %1 = affine.load %t[%i] : memref<?xf64>
      %2 = arith.mulf %0, %1 : f64
      %3 = affine.load %y[%j] : memref<?xf64>
      %4 = arith.addf %3, %2 : f64
      affine.store %4, %y[%j] : memref<?xf64>
    }
  }
  return
}

func.func @bicg(%n: index, %m: index, %a: memref<?x?xf64>, %s: memref<?xf64>, %q: memref<?xf64>, %p: memref<?xf64>, %r: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %j = 0 to %m {
    affine.store %zero, %s[%j] : memref<?xf64>
  }
  affine.for %i = 0 to %n {
    affine.store %zero, %q[%i] : memref<?xf64>
    affine.for %j = 0 to %m {
      %0 = affine.load %s[%j] : memref<?xf64>
      %1 = affine.load %r[%i] : memref<?xf64>
      %2 = affine.load %a[%i, %j] : memref<?x?xf64>
      %3 = arith.mulf %1, %2 : f64
      %4 = arith.addf %0, %3 : f64
      affine.store %4, %s[%j] : memref<?xf64>
      %5 = affine.load %q[%i] : memref<?xf64>
      %6 = affine.load %p[%j] : memref<?xf64>
      %7 = arith.mulf %2, %6 : f64
      %8 = arith.addf %5, %7 : f64
      affine.store %8, %q[%i] : memref<?xf64>
    }
  }
  return
}

func.func @mvt(%n: index, %a: memref<?x?xf64>, %x1: memref<?xf64>, %x2: memref<?xf64>, %y1: memref<?xf64>, %y2: memref<?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %0 = affine.load %x1[%i] : memref<?xf64>
      %1 = affine.load %a[%i, %j] : memref<?x?xf64>
      %2 = affine.load %y1[%j] : memref<?xf64>
      %3 = arith.mulf %1, %2 : f64
      %4 = arith.addf %0, %3 : f64
      affine.store %4, %x1[%i] : memref<?xf64>
    }
  }
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %0 = affine.load %x2[%i] : memref<?xf64>
      %1 = affine.load %a[%j, %i] : memref<?x?xf64>
      %2 = affine.load %y2[%j] : memref<?xf64>
      %3 = arith.mulf %1, %2 : f64
      %4 = arith.addf %0, %3 : f64
      affine.store %4, %x2[%i] : memref<?xf64>
    }
  }
  return
}

func.func @gesummv(%n: index, %alpha: f64, %beta: f64, %a: memref<?x?xf64>, %b: memref<?x?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %t: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    affine.store %zero, %t[%i] : memref<?xf64>
    affine.store %zero, %y[%i] : memref<?xf64>
    affine.for %j = 0 to %n {
      %0 = affine.load %a[%i, %j] : memref<?x?xf64>
      %1 = affine.load %x[%j] : memref<?xf64>
      %2 = arith.mulf %0, %1 : f64
      %3 = affine.load %t[%i] : memref<?xf64>
      %4 = arith.addf %2, %3 : f64
      affine.store %4, %t[%i] : memref<?xf64>
      %5 = affine.load %b[%i, %j] : memref<?x?xf64>
      %6 = arith.mulf %5, %1 : f64
      %7 = affine.load %y[%i] : memref<?xf64>
      %8 = arith.addf %6, %7 : f64
      affine.store %8, %y[%i] : memref<?xf64>
    }
    %9 = affine.load %t[%i] : memref<?xf64>
    %10 = arith.mulf %alpha, %9 : f64
    %11 = affine.load %y[%i] : memref<?xf64>
    %12 = arith.mulf %beta, %11 : f64
    %13 = arith.addf %10, %12 : f64
    affine.store %13, %y[%i] : memref<?xf64>
  }
  return
}

func.func @gemver(%n: index, %alpha: f64, %beta: f64, %a: memref<?x?xf64>, %u: memref<?xf64>, %v: memref<?xf64>, %w: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>, %z: memref<?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %0 = affine.load %a[%i, %j] : memref<?x?xf64>
      %1 = affine.load %u[%i] : memref<?xf64>
      %2 = affine.load %v[%j] : memref<?xf64>
      %3 = arith.mulf %1, %2 : f64
      %4 = arith.addf %0, %3 : f64
      affine.store %4, %a[%i, %j] : memref<?x?xf64>
    }
  }
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %0 = affine.load %x[%i] : memref<?xf64>
      %1 = affine.load %a[%j, %i] : memref<?x?xf64>
      %2 = arith.mulf %beta, %1 : f64
      %3 = affine.load %y[%j] : memref<?xf64>
      %4 = arith.mulf %2, %3 : f64
      %5 = arith.addf %0, %4 : f64
      affine.store %5, %x[%i] : memref<?xf64>
    }
  }
  affine.for %i = 0 to %n {
    %0 = affine.load %x[%i] : memref<?xf64>
    %1 = affine.load %z[%i] : memref<?xf64>
    %2 = arith.addf %0, %1 : f64
    affine.store %2, %x[%i] : memref<?xf64>
  }
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %0 = affine.load %w[%i] : memref<?xf64>
      %1 = affine.load %a[%i, %j] : memref<?x?xf64>
      %2 = arith.mulf %alpha, %1 : f64
      %3 = affine.load %x[%j] : memref<?xf64>
      %4 = arith.mulf %2, %3 : f64
      %5 = arith.addf %0, %4 : f64
      affine.store %5, %w[%i] : memref<?xf64>
    }
  }
  return
}

func.func @syrk(%n: index, %m: index, %beta: f64, %a: memref<?x?xf64>, %c: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
      %0 = affine.load %c[%i, %j] : memref<?x?xf64>
      %1 = arith.mulf %0, %beta : f64
      affine.store %1, %c[%i, %j] : memref<?x?xf64>
    }
    affine.for %k = 0 to %m {
      affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
        %0 = affine.load %a[%i, %k] : memref<?x?xf64>
        %1 = affine.load %a[%j, %k] : memref<?x?xf64>
        %2 = arith.mulf %0, %1 : f64
        %3 = affine.load %c[%i, %j] : memref<?x?xf64>
        %4 = arith.addf %3, %2 : f64
        affine.store %4, %c[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}

func.func @syr2k(%n: index, %m: index, %a: memref<?x?xf64>, %b: memref<?x?xf64>, %c: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %k = 0 to %m {
      affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
        %0 = affine.load %a[%j, %k] : memref<?x?xf64>
        %1 = affine.load %b[%i, %k] : memref<?x?xf64>
        %2 = arith.mulf %0, %1 : f64
        %3 = affine.load %b[%j, %k] : memref<?x?xf64>
        %4 = affine.load %a[%i, %k] : memref<?x?xf64>
        %5 = arith.mulf %3, %4 : f64
        %6 = arith.addf %2, %5 : f64
        %7 = affine.load %c[%i, %j] : memref<?x?xf64>
        %8 = arith.addf %7, %6 : f64
        affine.store %8, %c[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}

func.func @trmm(%n: index, %m: index, %alpha: f64, %a: memref<?x?xf64>, %b: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      affine.for %k = affine_map<(d0) -> (d0 + 1)>(%i) to %n {
        %0 = affine.load %a[%k, %i] : memref<?x?xf64>
        %1 = affine.load %b[%k, %j] : memref<?x?xf64>
        %2 = arith.mulf %0, %1 : f64
        %3 = affine.load %b[%i, %j] : memref<?x?xf64>
        %4 = arith.addf %3, %2 : f64
        affine.store %4, %b[%i, %j] : memref<?x?xf64>
      }
      %5 = affine.load %b[%i, %j] : memref<?x?xf64>
      %6 = arith.mulf %alpha, %5 : f64
      affine.store %6, %b[%i, %j] : memref<?x?xf64>
    }
  }
  return
}

func.func @symm(%n: index, %m: index, %alpha: f64, %beta: f64, %a: memref<?x?xf64>, %b: memref<?x?xf64>, %c: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      %s = affine.for %k = 0 to affine_map<(d0) -> (d0)>(%i) iter_args(%sum = %zero) -> (f64) {
        %0 = affine.load %b[%i, %j] : memref<?x?xf64>
        %1 = arith.mulf %alpha, %0 : f64
        %2 = affine.load %a[%i, %k] : memref<?x?xf64>
        %3 = arith.mulf %1, %2 : f64
        %4 = affine.load %c[%k, %j] : memref<?x?xf64>
        %5 = arith.addf %4, %3 : f64
        affine.store %5, %c[%k, %j] : memref<?x?xf64>
        %6 = affine.load %b[%k, %j] : memref<?x?xf64>
        %7 = arith.mulf %6, %2 : f64
        %8 = arith.addf %sum, %7 : f64
        affine.yield %8 : f64
      }
      %9 = affine.load %c[%i, %j] : memref<?x?xf64>
      %10 = arith.mulf %beta, %9 : f64
      %11 = arith.addf %10, %s : f64
      affine.store %11, %c[%i, %j] : memref<?x?xf64>
    }
  }
  return
}

func.func @doitgen(%a: memref<10x8x12xf64>, %c: memref<12x12xf64>, %sum: memref<12xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %r = 0 to 10 {
    affine.for %q = 0 to 8 {
      affine.for %p = 0 to 12 {
        affine.store %zero, %sum[%p] : memref<12xf64>
        affine.for %s = 0 to 12 {
          %0 = affine.load %a[%r, %q, %s] : memref<10x8x12xf64>
          %1 = affine.load %c[%s, %p] : memref<12x12xf64>
          %2 = arith.mulf %0, %1 : f64
          %3 = affine.load %sum[%p] : memref<12xf64>
          %4 = arith.addf %3, %2 : f64
          affine.store %4, %sum[%p] : memref<12xf64>
        }
      }
      affine.for %p = 0 to 12 {
        %0 = affine.load %sum[%p] : memref<12xf64>
        affine.store %0, %a[%r, %q, %p] : memref<10x8x12xf64>
      }
    }
  }
  return
}
