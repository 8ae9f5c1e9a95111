// Each of these pragmas would change what the program computes, or cannot be obeyed.
enum { N = 40 };
int a[N + 2][N + 2], x[N + 2], y[N + 2];

void wrong_fuse(void) {
#pragma omp fuse
  {
    for (int i = 0; i < 12; i++)
      x[i] = i;
    for (int i = 0; i < 15; i++)
      y[i] = x[i + 1];
  }
}

void reverse(int n) {
#pragma omp reverse
  for (int i = 0; i < n; i++)
    x[i + 1] = x[i] * 3;
}

void interchange(int n) {
#pragma omp interchange
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      a[i + 1][j] = a[i][j + 1];
}

void tile(int n) {
#pragma omp tile sizes(4, 4)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      a[i + 1][j] = a[i][j + 1];
}

void stripe(int n) {
#pragma omp stripe sizes(4)
  for (int i = 0; i < n; i++)
    x[i + 1] = x[i] * 3;
}

void applied(int n) {
#pragma omp tile sizes(4) apply(intratile: reverse)
  for (int i = 0; i < n; i++)
    x[i + 1] = x[i] * 3;
}

void may_overlap(int *p, int *q, int n) {
#pragma omp reverse
  for (int i = 0; i < n; i++)
    p[i] = q[i];
}

void unknown_count(int n) {
#pragma omp unroll full
  for (int i = 0; i < n; i++)
    x[i] = 1;
}

void data(void) {
#pragma omp reverse
  for (int i = 0; x[i] > 0; i++)
    y[i] = 1;
}

void no_nest(int n) {
#pragma omp tile sizes(4, 4)
  for (int i = 0; i < n; i++)
    x[i] = 1;
}

void look(int);

void calls(int n) {
#pragma omp reverse
  for (int i = 0; i < n; i++)
    look(i);
}
