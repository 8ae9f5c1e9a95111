// Pragmas that cannot be obeyed, or not without a change of what is computed: two and more of each.
enum { N = 40 };
int a[N + 2][N + 2], b[N + 2][N + 2], x[N + 2], y[N + 2], z[N + 2];
double v[N + 2], total;
unsigned char bytes[N + 2];
volatile int device;

// tile

void tile_in_place(int n) {
#pragma omp tile sizes(4, 4)
  for (int i = 1; i < n; i++)
    for (int j = 1; j < N; j++)
      a[i][j] = (a[i - 1][j] + a[i][j - 1] + a[i - 1][j + 1]) / 3;
}

void tile_rows_of_any_length(int *restrict p, const int *restrict q, int n, int row) {
#pragma omp tile sizes(4, 4)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      p[i * row + j] = q[j * row + i];
}

void tile_with_work_between(int n) {
#pragma omp tile sizes(4, 4)
  for (int i = 0; i < n; i++) {
    x[i] = 0;
    for (int j = 0; j < N; j++)
      x[i] += a[i][j];
  }
}

void tile_longer_than_a_row(int n, int m) {
#pragma omp tile sizes(4, 4)
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = b[i][j] + 1;
}

// stripe

void stripe_ahead(int n) {
#pragma omp stripe sizes(4)
  for (int i = 0; i < n; i++)
    x[i] = x[i + 1] * 3;
}

double stripe_sum(int n) {
  double own = 0;
#pragma omp stripe sizes(4)
  for (int i = 0; i < n; i++)
    own += v[i];
  return own;
}

void stripe_pointers(int *p, int *q, int n) {
#pragma omp stripe sizes(4)
  for (int i = 0; i < n; i++)
    p[i] = q[i] + 1;
}

// unroll

void unroll_until_found(void) {
#pragma omp unroll partial(2)
  for (int i = 0; x[i] != 7; i++)
    y[i] = x[i];
}

int unroll_with_an_exit(int n) {
#pragma omp unroll partial(4)
  for (int i = 0; i < n; i++)
    if (x[i] == 7)
      return i;
  return -1;
}

void unroll_by_a_step(int n, int by) {
#pragma omp unroll partial(2)
  for (int i = 0; i < n; i += by)
    x[i] += by;
}

// reverse

int reverse_greatest(int n) {
  int most = -1;
#pragma omp reverse
  for (int i = 0; i < n; i++)
    most = x[i] > most ? x[i] : most;
  return most;
}

void reverse_sum(int n) {
#pragma omp reverse
  for (int i = 0; i < n; i++)
    y[0] += x[i];
}

void reverse_real_sum(int n) {
#pragma omp reverse
  for (int i = 0; i < n; i++)
    total += v[i];
}

void reverse_scattered(int n) {
#pragma omp reverse
  for (int i = 0; i < n; i++)
    x[y[i]] = i;
}

void reverse_device(int n) {
#pragma omp reverse
  for (int i = 0; i < n; i++)
    device = x[i];
}

void reverse_that_may_wrap(unsigned n) {
#pragma omp reverse
  for (unsigned i = 0; i < n; i += 3)
    bytes[i & 31] = 1;
}

// interchange

void interchange_diagonals(int n) {
#pragma omp interchange
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      x[i + j] = a[i][j];
}

void interchange_three(int n) {
#pragma omp interchange permutation(2, 1, 3)
  for (int i = 1; i < n; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        a[i][j] += a[i - 1][j + 1] * b[k][j];
}

void interchange_real_sums(int n) {
#pragma omp interchange
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      v[0] += v[j] * i;
}

// fuse

void fuse_ahead(int n) {
#pragma omp fuse
  {
    for (int i = 0; i < n; i++)
      x[i] = i;
    for (int i = 0; i < n; i++)
      y[i] = x[N - i];
  }
}

void fuse_second_pair(int n) {
#pragma omp fuse looprange(2, 2)
  {
    for (int i = 0; i < n; i++)
      x[i] = i;
    for (int i = 0; i < n; i++)
      y[i] = x[i];
    for (int i = 0; i < n; i++)
      z[i] = y[i + 1];
  }
}

void fuse_overwritten(int n) {
#pragma omp fuse
  {
    for (int i = 0; i < n; i++)
      x[i] = y[i];
    for (int i = 0; i < n; i++)
      y[i + 1] = 0;
  }
}

void fuse_sum_and_use(int n) {
  int own = 0;
#pragma omp fuse
  {
    for (int i = 0; i < n; i++)
      own += x[i];
    for (int i = 0; i < n; i++)
      y[i] = own;
  }
}

void fuse_one_shorter(int n) {
#pragma omp fuse
  {
    for (int i = 0; i < n; i++)
      x[i] = i;
    for (int i = 0; i < n - 1; i++)
      y[i] = x[i + 1];
  }
}

void fuse_other_signs(int n) {
#pragma omp fuse
  {
    for (unsigned i = 0; i < (unsigned)n; i++)
      v[i] += 1;
    for (long i = 0; i < n; i++)
      x[i] += 1;
  }
}

// split

void split_until_found(void) {
#pragma omp split counts(2, omp_fill)
  for (int i = 0; x[i] != 7; i++)
    y[i] = x[i];
}

void split_that_may_wrap(unsigned n) {
#pragma omp split counts(2, omp_fill)
  for (unsigned i = 0; i < n; i += 3)
    bytes[i & 31] = 1;
}

void split_with_an_exit(int n) {
#pragma omp split counts(2, omp_fill)
  for (int i = 0; i < n; i++) {
    if (x[i] == 7)
      break;
    y[i] = 1;
  }
}

// flatten

void flatten_triangle(int n) {
#pragma omp flatten
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      b[i][j] = 1;
}

void flatten_with_work_between(int n) {
#pragma omp flatten
  for (int i = 0; i < n; i++) {
    x[i] = 0;
    for (int j = 0; j < N; j++)
      x[i] += a[i][j];
  }
}

void flatten_too_deep(int n) {
#pragma omp flatten depth(3)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      b[i][j] = 1;
}

// fuse, again

void fuse_that_may_wrap(unsigned n) {
#pragma omp fuse
  {
    for (unsigned i = 0; i < n; i += 3)
      bytes[i & 31] = 1;
    for (int i = 0; i < N; i++)
      x[i] = 1;
  }
}
