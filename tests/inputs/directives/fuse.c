// Fused loops.
#include "check.h"

static void f0(int n) {
#pragma omp fuse
  {
    for (int i = 0; i < n; i++)
      x[i] += 1;
    for (int j = 0; j < n; j++)
      y[j] = x[j] * 2;
  }
}

static void f1(int n) {
#pragma omp fuse
  {
    for (int i = 0; i < 12; i++)
      x[i] = i;
    for (int j = 0; j < 15; j++)
      y[j] = x[j] + 1;
  }
}

static void f2(int n) {
#pragma omp fuse
  {
    for (int i = 0; i < n; i++)
      x[i] = i;
    for (int j = 0; j < 100; j++)
      y[j] = x[j] + 1;
  }
}

static void f3(int n) {
#pragma omp fuse
  {
    for (int i = 0; i < n; i++)
      x[i] = y[i + 1];
    for (int j = 0; j < n; j++)
      y[j] = z[j];
  }
}

static void f4(int n) {
#pragma omp fuse
  {
    for (int i = 0; i < n; i++)
      x[i] += 1;
    for (int i = 0; i < n; i++)
      y[i] += x[i];
    for (int i = 0; i < n; i++) {
      z[i] += y[i];
    }
  }
}

static void f5(int n) {
#pragma omp fuse looprange(2, 2)
  {
    for (int i = 0; i < n; i++)
      x[i] += 1;
    for (int i = 0; i < n; i++)
      y[i] += x[i + 1];
    for (int i = 0; i < n; i++)
      z[i] += y[i];
  }
}

static void f6(int n) {
#pragma omp fuse
  {
    for (int i = 3; i < n; i++)
      x[i] += 1;
    for (int i = 0; i < n - 3; i++)
      y[i] += x[i + 3];
  }
}

static void f7(int n) {
#pragma omp fuse
  {
#pragma omp reverse
    for (int i = 0; i < n; i++)
      x[i] += y[i];
    for (int j = 0; j < n; j++)
      z[j] -= 1;
  }
}

static void f8(int n) {
#pragma omp tile sizes(8)
#pragma omp fuse
  {
    {
      for (int i = 0; i < n; i++)
        x[i] += 1;
    }
    for (int i = 0; i < n; i++)
      y[i] += x[i];
  }
}

static void f9(int n) {
#pragma omp fuse
  {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < N; j++)
        a[i][j] += 1;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < N; j++)
        b[i][j] += a[i][j];
  }
}

static void f10(int n) {
  for (int i = 0; i < n; i++)
#pragma omp fuse
    {
      for (int j = 0; j < N; j++)
        a[i][j] += 1;
      for (int j = 0; j < N; j++)
        b[i][j] += a[i][j];
    }
}

int main(void) {
  TRY(0, f0(0));
  TRY(0, f0(3));
  TRY(0, f0(64));
  TRY(0, f0(M - 8));
  TRY(1, f1(0));
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
  TRY(10, f10(1));
  TRY(10, f10(7));
  TRY(10, f10(N));
  return 0;
}
