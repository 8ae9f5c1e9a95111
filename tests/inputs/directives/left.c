// Pragmas beside others about the same loop.
int x[100], y[100];

void f(int n) {
#pragma omp parallel for
#pragma omp tile sizes(4)
  for (int i = 0; i < n; i++)
    x[i] += y[i];
}

void g(int n) {
#pragma omp tile sizes(4)
#pragma clang loop vectorize(enable)
  for (int i = 0; i < n; i++)
    x[i] += y[i];
#pragma omp fuse
  {
#pragma unroll
    for (int i = 0; i < n; i++)
      x[i] += y[i];
    for (int i = 0; i < n; i++)
      y[i] += 1;
  }
}
