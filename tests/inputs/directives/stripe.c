// Striped loops.
#include "check.h"

static void f0(int n) {
#pragma omp stripe sizes(4)
  for (int i = 0; i < n; i++)
    x[i] += y[i];
}

static void f1(int n) {
#pragma omp stripe sizes(7)
  for (int i = 0; i < n; i++)
    x[i] *= 3;
}

static void f2(int n) {
#pragma omp stripe sizes(3, 2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      a[i][j] += b[j][i];
}

static void f3(int n) {
#pragma omp stripe sizes(5)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      a[i][j] += a[i][j] + j;
}

static void f4(int n) {
#pragma omp stripe sizes(1)
  for (int i = 0; i < n; i++)
    x[i] = x[i + 1] + 1;
}

static void f5(int n) {
#pragma omp stripe sizes(2000)
  for (int i = 0; i < n; i++)
    x[i] = x[i] + 1;
}

static void f6(int n) {
#pragma omp stripe sizes(4)
  for (int i = 2; i < n; i += 3)
    z[i] = x[i] - y[i];
}

static void f7(int n) {
#pragma omp stripe sizes(4) apply(offsets: reverse)
  for (int i = 0; i < 64; i++)
    x[i] ^= i + n;
}

static void f8(int n) {
#pragma omp stripe sizes(4) apply(grid: tile sizes(2))
  for (int i = 0; i < n; i++)
    x[i] ^= i;
}

static void f9(int n) {
#pragma omp stripe sizes(4, 4)
  for (int i = 1; i < n; i++)
    for (int j = 3; j < N; j++)
      c[i][j] = i - j;
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
  TRY(2, f2(1));
  TRY(2, f2(7));
  TRY(2, f2(N));
  TRY(3, f3(0));
  TRY(3, f3(1));
  TRY(3, f3(7));
  TRY(3, f3(N));
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
  return 0;
}
