// Matrices: as pointers with computed subscripts, as variable-length arrays, and of fixed size.
#include <stddef.h>

void transpose(double *restrict to, const double *restrict from, int rows, int cols) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++)
      to[j * rows + i] = from[i * cols + j];
}

void transpose_vla(int n, int m, double to[m][n], double from[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      to[j][i] = from[i][j];
}

void transpose_in_place(int n, float a[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) {
      float t = a[i][j];
      a[i][j] = a[j][i];
      a[j][i] = t;
    }
}

void multiply(int n, double c[restrict n][n], double a[n][n], double b[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      c[i][j] = 0;
      for (int k = 0; k < n; k++)
        c[i][j] += a[i][k] * b[k][j];
    }
}

void multiply_flat(float *restrict c, const float *a, const float *b, int n, int m, int p) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < p; j++) {
      float s = 0;
      for (int k = 0; k < m; k++)
        s += a[i * m + k] * b[k * p + j];
      c[i * p + j] = s;
    }
}

void multiply_size_t(double *restrict c, const double *a, const double *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      double s = 0;
      for (size_t k = 0; k < n; k++)
        s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s;
    }
}

void multiply_unsigned(double *restrict c, const double *a, const double *b, unsigned n) {
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j < n; j++) {
      double s = 0;
      for (unsigned k = 0; k < n; k++)
        s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s;
    }
}

void multiply_vector(double *restrict y, const double *a, const double *x, int n, int m) {
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = 0; j < m; j++)
      y[i] += a[i * m + j] * x[j];
  }
}

void identity(int n, int a[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      a[i][j] = i == j;
}

double trace(int n, double a[n][n]) {
  double t = 0;
  for (int i = 0; i < n; i++)
    t += a[i][i];
  return t;
}

void outer_product(int n, int m, float a[n][m], const float *x, const float *y) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      a[i][j] = x[i] * y[j];
}

void row_sums(long *restrict sums, const int *a, long rows, long cols) {
  for (long i = 0; i < rows; i++) {
    long s = 0;
    for (long j = 0; j < cols; j++)
      s += a[i * cols + j];
    sums[i] = s;
  }
}

void column_sums(double *restrict sums, const double *a, int rows, int cols) {
  for (int j = 0; j < cols; j++)
    sums[j] = 0;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++)
      sums[j] += a[i * cols + j];
}

void scale_rows(double *a, const double *by, int rows, int cols) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++)
      a[i * cols + j] *= by[i];
}

void small_product(double c[4][4], double a[4][4], double b[4][4]) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      double s = 0;
      for (int k = 0; k < 4; k++)
        s += a[i][k] * b[k][j];
      c[i][j] = s;
    }
}

void fixed_columns(int a[][16], int rows) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < 16; j++)
      a[i][j] += i * j;
}

void upper_triangle(int n, double a[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      a[i][j] = 0;
}

void symmetric(int n, double a[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      a[j][i] = a[i][j];
}

void packed_triangle(double *p, const double *a, int n) {
  int at = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      p[at++] = a[i * n + j];
}

void diagonals(int n, int a[n][n]) {
  for (int d = 0; d < n; d++)
    for (int i = 0; i < n - d; i++)
      a[i][i + d] = d;
}

void cube(int n, int a[n][n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        a[i][j][k] = i + j - k;
}

void cube_flat(float *a, int x, int y, int z) {
  for (int i = 0; i < x; i++)
    for (int j = 0; j < y; j++)
      for (int k = 0; k < z; k++)
        a[(i * y + j) * z + k] = 1.0f;
}

void tiled_add(int n, double a[restrict n][n], double b[n][n]) {
  for (int ii = 0; ii < n; ii += 8)
    for (int jj = 0; jj < n; jj += 8)
      for (int i = ii; i < ii + 8 && i < n; i++)
        for (int j = jj; j < jj + 8 && j < n; j++)
          a[i][j] += b[i][j];
}

void rows_swapped(double *a, int cols, int r, int s) {
  for (int j = 0; j < cols; j++) {
    double t = a[r * cols + j];
    a[r * cols + j] = a[s * cols + j];
    a[s * cols + j] = t;
  }
}

void leading_dimension(double *a, long lda, int m, int n) {
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++)
      a[i + j * lda] += 1.0;
}

int is_symmetric(int n, const int a[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      if (a[i][j] != a[j][i])
        return 0;
  return 1;
}
