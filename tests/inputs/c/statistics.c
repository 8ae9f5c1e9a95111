// Statistics, geometry and numerical integration.
#include <stddef.h>
#include <stdint.h>

double mean(const double *x, int n) {
  double s = 0;
  for (int i = 0; i < n; i++)
    s += x[i];
  return s / n;
}

double variance(const double *x, int n) {
  double m = 0, v = 0;
  for (int i = 0; i < n; i++)
    m += x[i];
  m /= n;
  for (int i = 0; i < n; i++)
    v += (x[i] - m) * (x[i] - m);
  return v / n;
}

void standardize(float *x, unsigned n, float mean, float deviation) {
  for (unsigned i = 0; i < n; i++)
    x[i] = (x[i] - mean) / deviation;
}

void covariance_matrix(int n, int m, double c[restrict m][m], double x[n][m], double *restrict mean) {
  for (int j = 0; j < m; j++) {
    mean[j] = 0;
    for (int i = 0; i < n; i++)
      mean[j] += x[i][j];
    mean[j] /= n;
  }
  for (int j = 0; j < m; j++)
    for (int k = j; k < m; k++) {
      c[j][k] = 0;
      for (int i = 0; i < n; i++)
        c[j][k] += (x[i][j] - mean[j]) * (x[i][k] - mean[k]);
      c[k][j] = c[j][k];
    }
}

void extremes(const int32_t *x, size_t n, int32_t *low, int32_t *high) {
  int32_t a = x[0], b = x[0];
  for (size_t i = 1; i < n; i++) {
    a = x[i] < a ? x[i] : a;
    b = x[i] > b ? x[i] : b;
  }
  *low = a;
  *high = b;
}

void regression(const double *x, const double *y, int n, double to[2]) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (int i = 0; i < n; i++) {
    sx += x[i];
    sy += y[i];
    sxx += x[i] * x[i];
    sxy += x[i] * y[i];
  }
  to[0] = (n * sxy - sx * sy) / (n * sxx - sx * sx);
  to[1] = (sy - to[0] * sx) / n;
}

double horner(const double *c, int degree, double x) {
  double v = c[degree];
  for (int i = degree - 1; i >= 0; i--)
    v = v * x + c[i];
  return v;
}

void horner_all(const float *c, int degree, const float *x, float *restrict y, int n) {
  for (int i = 0; i < n; i++) {
    float v = 0;
    for (int k = degree; k >= 0; k--)
      v = v * x[i] + c[k];
    y[i] = v;
  }
}

double trapezoids(const double *f, long n, double h) {
  double s = (f[0] + f[n - 1]) / 2;
  for (long i = 1; i < n - 1; i++)
    s += f[i];
  return s * h;
}

double simpson(const double *f, int n, double h) {
  double s = f[0] + f[n];
  for (int i = 1; i < n; i += 2)
    s += 4 * f[i];
  for (int i = 2; i < n; i += 2)
    s += 2 * f[i];
  return s * h / 3;
}

double polygon_area(const double *x, const double *y, int n) {
  double s = 0;
  for (int i = 0, j = n - 1; i < n; j = i++)
    s += x[j] * y[i] - x[i] * y[j];
  return s / 2;
}

void distances(int n, int m, float d[restrict n][n], float x[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float s = 0;
      for (int k = 0; k < m; k++)
        s += (x[i][k] - x[j][k]) * (x[i][k] - x[j][k]);
      d[i][j] = s;
    }
}

void polynomial_product(long *restrict c, const long *a, int n, const long *b, int m) {
  for (int i = 0; i < n + m - 1; i++)
    c[i] = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      c[i + j] += a[i] * b[j];
}

unsigned add_long_numbers(uint32_t *restrict c, const uint32_t *a, const uint32_t *b, int n) {
  uint64_t carry = 0;
  for (int i = 0; i < n; i++) {
    carry += (uint64_t)a[i] + b[i];
    c[i] = (uint32_t)carry;
    carry >>= 32;
  }
  return (unsigned)carry;
}

void multiply_long_numbers(uint32_t *restrict c, const uint32_t *a, const uint32_t *b, int n) {
  for (int i = 0; i < 2 * n; i++)
    c[i] = 0;
  for (int i = 0; i < n; i++) {
    uint64_t carry = 0;
    for (int j = 0; j < n; j++) {
      carry += (uint64_t)a[i] * b[j] + c[i + j];
      c[i + j] = (uint32_t)carry;
      carry >>= 32;
    }
    c[i + n] = (uint32_t)carry;
  }
}

void softmax_rows(float *x, const float *exponentials, int rows, int cols) {
  for (int i = 0; i < rows; i++) {
    float s = 0;
    for (int j = 0; j < cols; j++)
      s += exponentials[i * cols + j];
    for (int j = 0; j < cols; j++)
      x[i * cols + j] = exponentials[i * cols + j] / s;
  }
}

void rectify(float *restrict y, const float *x, const float *bias, long rows, long cols) {
  for (long i = 0; i < rows; i++)
    for (long j = 0; j < cols; j++) {
      float v = x[i * cols + j] + bias[j];
      y[i * cols + j] = v > 0 ? v : 0;
    }
}

void pool(float *restrict y, const float *x, int channels, int size) {
  for (int c = 0; c < channels; c++)
    for (int i = 0; i < size; i++)
      for (int j = 0; j < size; j++) {
        float m = x[(c * 2 * size + 2 * i) * 2 * size + 2 * j];
        for (int k = 1; k < 4; k++) {
          float v = x[(c * 2 * size + 2 * i + k / 2) * 2 * size + 2 * j + k % 2];
          m = v > m ? v : m;
        }
        y[(c * size + i) * size + j] = m;
      }
}
