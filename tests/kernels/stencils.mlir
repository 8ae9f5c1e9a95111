// Stencils over time, and what is computed along one dimension.

func.func @jacobi_1d(%t: index, %n: index, %a: memref<?xf64>, %b: memref<?xf64>) {
  %third = arith.constant 0.33333 : f64
  affine.for %s = 0 to %t {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      %0 = affine.load %a[%i - 1] : memref<?xf64>
      %1 = affine.load %a[%i] : memref<?xf64>
      %2 = affine.load %a[%i + 1] : memref<?xf64>
      %3 = arith.addf %0, %1 : f64
      %4 = arith.addf %3, %2 : f64
      %5 = arith.mulf %third, %4 : f64
      affine.store %5, %b[%i] : memref<?xf64>
    }
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      %0 = affine.load %b[%i - 1] : memref<?xf64>
      %1 = affine.load %b[%i] : memref<?xf64>
      %2 = affine.load %b[%i + 1] : memref<?xf64>
      %3 = arith.addf %0, %1 : f64
      %4 = arith.addf %3, %2 : f64
      %5 = arith.mulf %third, %4 : f64
      affine.store %5, %a[%i] : memref<?xf64>
    }
  }
  return
}

func.func @jacobi_2d(%a: memref<20x20xi32>, %b: memref<20x20xi32>) {
  affine.for %s = 0 to 6 {
    affine.for %i = 1 to 19 {
      affine.for %j = 1 to 19 {
        %0 = affine.load %a[%i, %j] : memref<20x20xi32>
        %1 = affine.load %a[%i, %j - 1] : memref<20x20xi32>
        %2 = affine.load %a[%i, %j + 1] : memref<20x20xi32>
        %3 = affine.load %a[%i + 1, %j] : memref<20x20xi32>
        %4 = affine.load %a[%i - 1, %j] : memref<20x20xi32>
        %5 = arith.addi %0, %1 : i32
        %6 = arith.addi %5, %2 : i32
        %7 = arith.addi %6, %3 : i32
        %8 = arith.addi %7, %4 : i32
        affine.store %8, %b[%i, %j] : memref<20x20xi32>
      }
    }
    affine.for %i = 1 to 19 {
      affine.for %j = 1 to 19 {
        %0 = affine.load %b[%i, %j] : memref<20x20xi32>
        affine.store %0, %a[%i, %j] : memref<20x20xi32>
      }
    }
  }
  return
}

func.func @seidel_2d(%t: index, %n: index, %a: memref<?x?xf64>) {
  affine.for %s = 0 to %t {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
        %0 = affine.load %a[%i - 1, %j] : memref<?x?xf64>
        %1 = affine.load %a[%i, %j - 1] : memref<?x?xf64>
        %2 = affine.load %a[%i, %j] : memref<?x?xf64>
        %3 = affine.load %a[%i, %j + 1] : memref<?x?xf64>
        %4 = affine.load %a[%i + 1, %j] : memref<?x?xf64>
        %5 = arith.addf %0, %1 : f64
        %6 = arith.addf %5, %2 : f64
        %7 = arith.addf %6, %3 : f64
        %8 = arith.addf %7, %4 : f64
        affine.store %8, %a[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}

func.func @heat_3d(%n: index, %a: memref<?x?x?xf64>, %b: memref<?x?x?xf64>) {
  %c = arith.constant 0.125 : f64
  affine.for %s = 1 to 5 {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
        affine.for %k = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
          %0 = affine.load %a[%i + 1, %j, %k] : memref<?x?x?xf64>
          %1 = affine.load %a[%i - 1, %j, %k] : memref<?x?x?xf64>
          %2 = affine.load %a[%i, %j + 1, %k] : memref<?x?x?xf64>
          %3 = affine.load %a[%i, %j, %k - 1] : memref<?x?x?xf64>
          %4 = arith.addf %0, %1 : f64
          %5 = arith.addf %2, %3 : f64
          %6 = arith.addf %4, %5 : f64
          %7 = arith.mulf %c, %6 : f64
          affine.store %7, %b[%i, %j, %k] : memref<?x?x?xf64>
        }
      }
    }
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
        affine.for %k = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
          %0 = affine.load %b[%i, %j, %k] : memref<?x?x?xf64>
          affine.store %0, %a[%i, %j, %k] : memref<?x?x?xf64>
        }
      }
    }
  }
  return
}

func.func @fdtd_2d(%t: index, %n: index, %m: index, %ex: memref<?x?xf64>, %ey: memref<?x?xf64>, %hz: memref<?x?xf64>, %fict: memref<?xf64>) {
  %half = arith.constant 0.5 : f64
  affine.for %s = 0 to %t {
    affine.for %j = 0 to %m {
      %0 = affine.load %fict[%s] : memref<?xf64>
      affine.store %0, %ey[0, %j] : memref<?x?xf64>
    }
    affine.for %i = 1 to %n {
      affine.for %j = 0 to %m {
        %0 = affine.load %ey[%i, %j] : memref<?x?xf64>
        %1 = affine.load %hz[%i, %j] : memref<?x?xf64>
        %2 = affine.load %hz[%i - 1, %j] : memref<?x?xf64>
        %3 = arith.subf %1, %2 : f64
        %4 = arith.mulf %half, %3 : f64
        %5 = arith.subf %0, %4 : f64
        affine.store %5, %ey[%i, %j] : memref<?x?xf64>
      }
    }
    affine.for %i = 0 to %n {
      affine.for %j = 1 to %m {
        %0 = affine.load %ex[%i, %j] : memref<?x?xf64>
        %1 = affine.load %hz[%i, %j] : memref<?x?xf64>
        %2 = affine.load %hz[%i, %j - 1] : memref<?x?xf64>
        %3 = arith.subf %1, %2 : f64
        %4 = arith.mulf %half, %3 : f64
        %5 = arith.subf %0, %4 : f64
        affine.store %5, %ex[%i, %j] : memref<?x?xf64>
      }
    }
    affine.for %i = 0 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      affine.for %j = 0 to affine_map<()[s0] -> (s0 - 1)>()[%m] {
        %0 = affine.load %hz[%i, %j] : memref<?x?xf64>
        %1 = affine.load %ex[%i, %j + 1] : memref<?x?xf64>
        %2 = affine.load %ex[%i, %j] : memref<?x?xf64>
        %3 = arith.subf %1, %2 : f64
        %4 = affine.load %ey[%i + 1, %j] : memref<?x?xf64>
        %5 = arith.addf %3, %4 : f64
        %6 = arith.subf %0, %5 : f64
        affine.store %6, %hz[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}

func.func @prefix_sum(%n: index, %a: memref<?xi32>, %b: memref<?xi32>) {
  %0 = affine.load %a[0] : memref<?xi32>
  affine.store %0, %b[0] : memref<?xi32>
  affine.for %i = 1 to %n {
    %1 = affine.load %b[%i - 1] : memref<?xi32>
    %2 = affine.load %a[%i] : memref<?xi32>
    %3 = arith.addi %1, %2 : i32
    affine.store %3, %b[%i] : memref<?xi32>
  }
  return
}

func.func @blur(%in: memref<34x34xf32>, %t: memref<34x32xf32>, %out: memref<32x32xf32>) {
  affine.for %i = 0 to 34 {
    affine.for %j = 0 to 32 {
      %0 = affine.load %in[%i, %j] : memref<34x34xf32>
      %1 = affine.load %in[%i, %j + 1] : memref<34x34xf32>
      %2 = affine.load %in[%i, %j + 2] : memref<34x34xf32>
      %3 = arith.addf %0, %1 : f32
      %4 = arith.addf %3, %2 : f32
      affine.store %4, %t[%i, %j] : memref<34x32xf32>
    }
  }
  affine.for %i = 0 to 32 {
    affine.for %j = 0 to 32 {
      %0 = affine.load %t[%i, %j] : memref<34x32xf32>
      %1 = affine.load %t[%i + 1, %j] : memref<34x32xf32>
      %2 = affine.load %t[%i + 2, %j] : memref<34x32xf32>
      %3 = arith.addf %0, %1 : f32
      %4 = arith.addf %3, %2 : f32
      affine.store %4, %out[%i, %j] : memref<32x32xf32>
    }
  }
  return
}

func.func @convolution(%x: memref<20x20xi32>, %w: memref<3x3xi32>, %y: memref<18x18xi32>) {
  %zero = arith.constant 0 : i32
  affine.for %i = 0 to 18 {
    affine.for %j = 0 to 18 {
      affine.store %zero, %y[%i, %j] : memref<18x18xi32>
    }
  }
  affine.for %i = 0 to 18 {
    affine.for %j = 0 to 18 {
      affine.for %p = 0 to 3 {
        affine.for %q = 0 to 3 {
          %0 = affine.load %x[%i + %p, %j + %q] : memref<20x20xi32>
          %1 = affine.load %w[%p, %q] : memref<3x3xi32>
          %2 = arith.muli %0, %1 : i32
          %3 = affine.load %y[%i, %j] : memref<18x18xi32>
          %4 = arith.addi %3, %2 : i32
          affine.store %4, %y[%i, %j] : memref<18x18xi32>
        }
      }
    }
  }
  return
}
