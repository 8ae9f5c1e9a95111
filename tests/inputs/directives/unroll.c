// Unrolled loops.
#include "check.h"

static void f0(int n) {
#pragma omp unroll partial(2)
  for (int i = 0; i < n; i++)
    x[i] += x[i + 1];
}

static void f1(int n) {
#pragma omp unroll partial(3)
  for (int i = 0; i < n; i++)
    x[i + 1] = x[i] + 1;
}

static void f2(int n) {
#pragma omp unroll
  for (int i = 0; i < n; i++)
    x[i] += y[i];
}

static void f3(int n) {
#pragma omp unroll partial
  for (int i = 0; i < n; i++)
    x[i] += y[i];
}

static void f4(int n) {
#pragma omp unroll full
  for (int i = 0; i < 6; i++)
    x[i] += n;
}

static void f5(int n) {
#pragma omp unroll full
  for (int i = 3; i < 100; i += 9)
    x[i] += n;
}

static void f6(int n) {
#pragma omp unroll partial(8)
  for (int i = 1; i < n; i += 2)
    y[i] = x[i] * z[i];
}

static void f7(int n) {
  for (int i = 0; i < n; i++)
#pragma omp unroll partial(4)
    for (int j = 0; j < N; j++)
      a[i][j] += b[j][i];
}

static void f8(int n) {
#pragma omp unroll partial(2)
  for (int i = 0; i < n; i++) {
    int own = 0;
    for (int j = 0; j < N; j++)
      own += a[i][j];
    x[i] = own;
  }
}

static void f9(int n) {
  int own = n;
#pragma omp unroll partial(4)
  for (int i = 0; i < n; i++)
    own = own * 3 + x[i];
  y[0] = own;
}

static void f10(int n) {
#pragma omp tile sizes(4)
#pragma omp unroll partial(2)
  for (int i = 0; i < n; i++)
    x[i] += 2;
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
  TRY(6, f6(3));
  TRY(6, f6(64));
  TRY(6, f6(M - 8));
  TRY(7, f7(0));
  TRY(7, f7(1));
  TRY(7, f7(7));
  TRY(7, f7(N));
  TRY(8, f8(0));
  TRY(8, f8(1));
  TRY(8, f8(7));
  TRY(8, f8(N));
  TRY(9, f9(0));
  TRY(9, f9(3));
  TRY(9, f9(64));
  TRY(9, f9(M - 8));
  TRY(10, f10(0));
  TRY(10, f10(3));
  TRY(10, f10(64));
  TRY(10, f10(M - 8));
  return 0;
}
