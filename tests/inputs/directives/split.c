// Split loops.
#include "check.h"

static void f0(int n) {
#pragma omp split counts(3, omp_fill)
  for (int i = 0; i < n; i++)
    x[i] += y[i];
}

static void f1(int n) {
#pragma omp split counts(omp_fill, 3)
  for (int i = 0; i < n; i++)
    x[i] += y[i];
}

static void f2(int n) {
#pragma omp split counts(2, omp_fill, 5)
  for (int i = 0; i < n; i++)
    x[i + 1] = x[i] + 1;
}

static void f3(int n) {
#pragma omp split counts(1, 2, 3, omp_fill)
  for (int i = 0; i < n; i++)
    x[i + 1] = x[i] + 1;
}

static void f4(int n) {
#pragma omp split counts(0, omp_fill)
  for (int i = 0; i < n; i++)
    x[i + 1] = x[i] + 1;
}

static void f5(int n) {
#pragma omp split counts(omp_fill)
  for (int i = 0; i < n; i++)
    x[i + 1] = x[i] + 1;
}

static void f6(int n) {
#pragma omp split counts(10, omp_fill, 10)
  for (int i = 0; i < 15; i++)
    x[i] *= 3;
}

static void f7(int n) {
#pragma omp split counts(4, omp_fill)
  for (int i = 1; i < n; i += 3)
    y[i] -= x[i];
}

static void f8(int n) {
#pragma omp split counts(4, omp_fill) apply(unroll full, tile sizes(4))
  for (int i = 0; i < 30; i++)
    y[i] -= x[i];
}

static void f9(int n) {
#pragma omp split counts(4, omp_fill, 1)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      a[i][j] -= b[j][i];
}

static void f10(int n) {
#pragma omp fuse
  {
#pragma omp split counts(4, omp_fill)
    for (int i = 0; i < 20; i++)
      x[i] += n;
    for (int i = 0; i < 4; i++)
      y[i] += n;
  }
}

int main(void) {
  TRY(0, f0(0));
  TRY(0, f0(3));
  TRY(0, f0(64));
  TRY(0, f0(M - 8));
  TRY(1, f1(0));
  TRY(1, f1(3));
  TRY(1, f1(64));
  TRY(1, f1(M - 8));
  TRY(2, f2(0));
  TRY(2, f2(3));
  TRY(2, f2(64));
  TRY(2, f2(M - 8));
  TRY(3, f3(0));
  TRY(3, f3(3));
  TRY(3, f3(64));
  TRY(3, f3(M - 8));
  TRY(4, f4(0));
  TRY(4, f4(3));
  TRY(4, f4(64));
  TRY(4, f4(M - 8));
  TRY(5, f5(0));
  TRY(5, f5(3));
  TRY(5, f5(64));
  TRY(5, f5(M - 8));
  TRY(6, f6(0));
  TRY(7, f7(0));
  TRY(7, f7(3));
  TRY(7, f7(64));
  TRY(7, f7(M - 8));
  TRY(8, f8(0));
  TRY(8, f8(3));
  TRY(8, f8(64));
  TRY(8, f8(M - 8));
  TRY(9, f9(0));
  TRY(9, f9(1));
  TRY(9, f9(7));
  TRY(9, f9(N));
  TRY(10, f10(3));
  return 0;
}
