// Reversed loops.
#include "check.h"

static void f0(int n) {
#pragma omp reverse
  for (int i = 0; i < n; i++)
    x[i] += y[i];
}

static void f1(int n) {
#pragma omp reverse
  for (int i = 5; i < n; i += 4)
    x[i] = i;
}

static void f2(int n) {
#pragma omp reverse
  for (int i = n; i > 0; i--)
    x[i] = x[i] * 2 + i;
}

static void f3(int n) {
#pragma omp reverse
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = a[i][j] - j;
}

static void f4(int n) {
  for (int i = 0; i < n; i++)
#pragma omp reverse
    for (int j = 0; j < N; j++)
      a[i][j] = b[i][j] + j;
}

static void f5(int n) {
#pragma omp reverse
  for (int i = 0; i < n; i++)
#pragma omp reverse
    for (int j = 0; j < N; j++)
      a[i][j] = b[i][j] + j;
}

static void f6(int n) {
#pragma omp reverse apply(tile sizes(4))
  for (int i = 0; i < n; i++)
    x[i] += 5;
}

static void f7(int n) {
#pragma omp reverse
#pragma omp reverse
  for (int i = 0; i < n; i++)
    x[i + 1] = x[i] + 1;
}

static void f8(int n) {
#pragma omp reverse
  for (int i = 0; i < n; i++)
    x[i] = y[i + 3] + z[i];
}

static void f9(int n) {
#pragma omp reverse
  for (int i = 0; i < n; i++) {
    int own = 1;
    for (int j = 0; j < N; j++)
      own = own * 5 + a[i][j];
    y[i] = own;
  }
}

static void f10(int n) {
  int own = 0;
#pragma omp reverse
  for (int i = 0; i < 10; i++)
    x[3 * i] = i + n;
  y[1] = own;
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
  TRY(3, f3(1));
  TRY(3, f3(7));
  TRY(3, f3(N));
  TRY(4, f4(0));
  TRY(4, f4(1));
  TRY(4, f4(7));
  TRY(4, f4(N));
  TRY(5, f5(0));
  TRY(5, f5(1));
  TRY(5, f5(7));
  TRY(5, f5(N));
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
  TRY(10, f10(0));
  TRY(10, f10(3));
  TRY(10, f10(64));
  TRY(10, f10(M - 8));
  return 0;
}
