// Signals: filters, windows, resampling, transforms.
#include <stddef.h>
#include <stdint.h>

void fir(float *restrict y, const float *x, int n, const float *taps, int m) {
  for (int i = 0; i + m <= n; i++) {
    float s = 0;
    for (int k = 0; k < m; k++)
      s += taps[k] * x[i + k];
    y[i] = s;
  }
}

void fir_backwards(double *restrict y, const double *x, int n, const double *taps, int m) {
  for (int i = m - 1; i < n; i++) {
    double s = 0;
    for (int k = 0; k < m; k++)
      s += taps[k] * x[i - k];
    y[i] = s;
  }
}

void iir(double *y, const double *x, int n, double a, double b) {
  y[0] = x[0];
  for (int i = 1; i < n; i++)
    y[i] = a * x[i] + b * y[i - 1];
}

void biquad(float *restrict y, const float *x, size_t n, const float c[5]) {
  float x1 = 0, x2 = 0, y1 = 0, y2 = 0;
  for (size_t i = 0; i < n; i++) {
    float v = c[0] * x[i] + c[1] * x1 + c[2] * x2 - c[3] * y1 - c[4] * y2;
    x2 = x1, x1 = x[i], y2 = y1, y1 = v;
    y[i] = v;
  }
}

void moving_average(float *restrict y, const float *x, int n, int w) {
  float s = 0;
  for (int i = 0; i < w; i++)
    s += x[i];
  for (int i = w; i < n; i++) {
    y[i - w] = s / w;
    s += x[i] - x[i - w];
  }
}

void decimate(int16_t *restrict y, const int16_t *x, int n, int by) {
  for (int i = 0; i < n; i++)
    y[i] = x[i * by];
}

void upsample(int16_t *restrict y, const int16_t *x, int n) {
  for (int i = 0; i < n - 1; i++) {
    y[2 * i] = x[i];
    y[2 * i + 1] = (int16_t)((x[i] + x[i + 1]) / 2);
  }
}

void gain(int16_t *x, unsigned n, int32_t g) {
  for (unsigned i = 0; i < n; i++) {
    int32_t v = (x[i] * g) >> 15;
    x[i] = (int16_t)(v > 32767 ? 32767 : v < -32768 ? -32768 : v);
  }
}

void mix(float *restrict to, const float *a, const float *b, size_t n, float t) {
  for (size_t i = 0; i < n; i++)
    to[i] = (1 - t) * a[i] + t * b[i];
}

void window(double *x, int n) {
  for (int i = 0; i < n; i++) {
    double t = 2.0 * i / (n - 1) - 1;
    x[i] *= 1 - t * t;
  }
}

double energy(const float *x, long n) {
  double e = 0;
  for (long i = 0; i < n; i++)
    e += (double)x[i] * x[i];
  return e;
}

void normalize(float *x, int n) {
  float m = 0;
  for (int i = 0; i < n; i++) {
    float v = x[i] < 0 ? -x[i] : x[i];
    m = v > m ? v : m;
  }
  if (m > 0)
    for (int i = 0; i < n; i++)
      x[i] /= m;
}

int zero_crossings(const int16_t *x, int n) {
  int count = 0;
  for (int i = 1; i < n; i++)
    count += (x[i - 1] < 0) != (x[i] < 0);
  return count;
}

void autocorrelation(double *restrict r, const double *x, int n, int lags) {
  for (int k = 0; k < lags; k++) {
    double s = 0;
    for (int i = 0; i + k < n; i++)
      s += x[i] * x[i + k];
    r[k] = s;
  }
}

void haar(float *restrict to, const float *from, int n) {
  int half = n / 2;
  for (int i = 0; i < half; i++) {
    to[i] = (from[2 * i] + from[2 * i + 1]) / 2;
    to[half + i] = (from[2 * i] - from[2 * i + 1]) / 2;
  }
}

void butterflies(float *re, float *im, int n) {
  for (int size = 2; size <= n; size *= 2)
    for (int start = 0; start < n; start += size)
      for (int k = 0; k < size / 2; k++) {
        int a = start + k, b = a + size / 2;
        float r = re[a] - re[b], i = im[a] - im[b];
        re[a] += re[b];
        im[a] += im[b];
        re[b] = r;
        im[b] = i;
      }
}

void dct(double *restrict to, const double *from, const double table[8][8]) {
  for (int u = 0; u < 8; u++) {
    double s = 0;
    for (int x = 0; x < 8; x++)
      s += from[x] * table[u][x];
    to[u] = s;
  }
}

void dct_blocks(float *image, int width, int height, float table[8][8]) {
  for (int y = 0; y < height; y += 8)
    for (int x = 0; x < width; x += 8)
      for (int v = 0; v < 8; v++) {
        float row[8];
        for (int u = 0; u < 8; u++) {
          row[u] = 0;
          for (int i = 0; i < 8; i++)
            row[u] += table[u][i] * image[(y + v) * width + x + i];
        }
        for (int u = 0; u < 8; u++)
          image[(y + v) * width + x + u] = row[u];
      }
}

void delay_line(float *line, int n, float in) {
  for (int i = n - 1; i >= 1; i--)
    line[i] = line[i - 1];
  line[0] = in;
}

void adpcm_differences(int8_t *restrict to, const uint8_t *from, int n) {
  uint8_t last = 128;
  for (int i = 0; i < n; i++) {
    to[i] = (int8_t)(from[i] - last);
    last = from[i];
  }
}
