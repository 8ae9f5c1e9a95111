// Linear algebra.
#include <stddef.h>

void forward(int n, const double l[n][n], double *restrict x, const double *b) {
  for (int i = 0; i < n; i++) {
    double s = b[i];
    for (int j = 0; j < i; j++)
      s -= l[i][j] * x[j];
    x[i] = s / l[i][i];
  }
}

void backward(int n, const double u[n][n], double *restrict x, const double *b) {
  for (int i = n - 1; i >= 0; i--) {
    double s = b[i];
    for (int j = i + 1; j < n; j++)
      s -= u[i][j] * x[j];
    x[i] = s / u[i][i];
  }
}

void eliminate(int n, double a[n][n]) {
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      double f = a[i][k] / a[k][k];
      for (int j = k; j < n; j++)
        a[i][j] -= f * a[k][j];
    }
}

void lower_upper(double *a, int n) {
  for (int k = 0; k < n; k++)
    for (int i = k + 1; i < n; i++) {
      a[i * n + k] /= a[k * n + k];
      for (int j = k + 1; j < n; j++)
        a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
}

void gram(int n, int m, double g[restrict m][m], double a[n][m]) {
  for (int i = 0; i < m; i++)
    for (int j = i; j < m; j++) {
      double s = 0;
      for (int k = 0; k < n; k++)
        s += a[k][i] * a[k][j];
      g[i][j] = s;
      g[j][i] = s;
    }
}

double residual(int n, double a[n][n], const double *x, const double *b) {
  double r = 0;
  for (int i = 0; i < n; i++) {
    double s = b[i];
    for (int j = 0; j < n; j++)
      s -= a[i][j] * x[j];
    r += s * s;
  }
  return r;
}

void jacobi(int n, double a[n][n], double *restrict to, const double *x, const double *b) {
  for (int i = 0; i < n; i++) {
    double s = b[i];
    for (int j = 0; j < n; j++)
      if (j != i)
        s -= a[i][j] * x[j];
    to[i] = s / a[i][i];
  }
}

void seidel(int n, double a[n][n], double *x, const double *b, int rounds) {
  for (int r = 0; r < rounds; r++)
    for (int i = 0; i < n; i++) {
      double s = b[i];
      for (int j = 0; j < i; j++)
        s -= a[i][j] * x[j];
      for (int j = i + 1; j < n; j++)
        s -= a[i][j] * x[j];
      x[i] = s / a[i][i];
    }
}

void sparse_product(double *restrict y, const int *starts, const int *columns, const double *values,
                    const double *x, int n) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = starts[i]; k < starts[i + 1]; k++)
      s += values[k] * x[columns[k]];
    y[i] = s;
  }
}

void band_product(double *restrict y, const double *band, const double *x, int n, int w) {
  for (int i = w; i < n - w; i++) {
    double s = 0;
    for (int d = -w; d <= w; d++)
      s += band[i * (2 * w + 1) + d + w] * x[i + d];
    y[i] = s;
  }
}

void thomas(double *restrict x, const double *a, double *restrict c, double *restrict d, int n) {
  for (int i = 1; i < n; i++) {
    double m = 1 / (2 - a[i] * c[i - 1]);
    c[i] *= m;
    d[i] = (d[i] - a[i] * d[i - 1]) * m;
  }
  x[n - 1] = d[n - 1];
  for (int i = n - 2; i >= 0; i--)
    x[i] = d[i] - c[i] * x[i + 1];
}

void power_step(int n, float a[n][n], float *restrict y, const float *x) {
  float norm = 0;
  for (int i = 0; i < n; i++) {
    y[i] = 0;
    for (int j = 0; j < n; j++)
      y[i] += a[i][j] * x[j];
    norm += y[i] * y[i];
  }
  for (int i = 0; i < n; i++)
    y[i] /= norm;
}

void rank_one(double *a, long lda, const double *x, const double *y, long m, long n) {
  for (long j = 0; j < n; j++)
    for (long i = 0; i < m; i++)
      a[i + j * lda] += x[i] * y[j];
}

void strided_axpy(int n, double a, const double *x, int incx, double *restrict y, int incy) {
  int ix = 0, iy = 0;
  for (int i = 0; i < n; i++) {
    y[iy] += a * x[ix];
    ix += incx;
    iy += incy;
  }
}

double norm_one(int n, double a[n][n]) {
  double best = 0;
  for (int j = 0; j < n; j++) {
    double s = 0;
    for (int i = 0; i < n; i++)
      s += a[i][j] < 0 ? -a[i][j] : a[i][j];
    best = s > best ? s : best;
  }
  return best;
}
