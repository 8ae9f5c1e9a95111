// Flattened nests.
#include "check.h"

static void f0(int n) {
#pragma omp flatten
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      a[i][j] += b[j][i];
}

static void f1(int n) {
#pragma omp flatten depth(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      a[i][j] = i * j;
}

static void f2(int n) {
#pragma omp flatten depth(3)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        c[i][j] += a[i][k] * b[k][j];
}

static void f3(int n) {
#pragma omp flatten
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        c[i][j] += a[i][k] * b[k][j];
}

static void f4(int n) {
#pragma omp flatten
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      x[i * N + j] += 1;
}

static void f5(int n) {
#pragma omp flatten
  for (int i = 0; i < n - 1; i++)
    for (int j = 0; j < N; j++)
      a[i + 1][j] = a[i][j] + 1;
}

static void f6(int n) {
#pragma omp flatten
  for (int i = 1; i < n; i += 2)
    for (int j = 0; j < N; j += 3)
      a[i][j] += i;
}

static void f7(int n) {
#pragma omp unroll partial(2)
#pragma omp flatten
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      a[i][j] += i;
}

static void f8(int n) {
#pragma omp flatten apply(tile sizes(16))
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      b[i][j] += 2;
}

static void f9(int n) {
#pragma omp reverse
#pragma omp flatten
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 8; j++)
      a[i][j] += i;
}

int main(void) {
  TRY(0, f0(0));
  TRY(0, f0(1));
  TRY(0, f0(7));
  TRY(0, f0(N));
  TRY(1, f1(0));
  TRY(1, f1(1));
  TRY(1, f1(7));
  TRY(1, f1(N));
  TRY(2, f2(3));
  TRY(2, f2(N));
  TRY(3, f3(3));
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
  TRY(6, f6(1));
  TRY(6, f6(7));
  TRY(6, f6(N));
  TRY(7, f7(0));
  TRY(7, f7(1));
  TRY(7, f7(7));
  TRY(7, f7(N));
  TRY(8, f8(0));
  TRY(8, f8(1));
  TRY(8, f8(7));
  TRY(8, f8(N));
  TRY(9, f9(0));
  TRY(9, f9(1));
  TRY(9, f9(7));
  TRY(9, f9(N));
  return 0;
}
