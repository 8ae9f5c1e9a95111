// A pragma that is none.
void f(int *x, int n) {
#pragma omp tile sizes(n)
  for (int i = 0; i < n; i++)
    x[i] = 0;
}
