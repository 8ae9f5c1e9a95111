// Stencils and simulations.
#include <stddef.h>
#include <stdint.h>

void heat(float *restrict to, const float *from, int n) {
  for (int i = 1; i < n - 1; i++)
    to[i] = 0.25f * from[i - 1] + 0.5f * from[i] + 0.25f * from[i + 1];
}

void heat_steps(double *a, double *b, int n, int steps) {
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
    for (int i = 1; i < n - 1; i++)
      a[i] = b[i];
  }
}

void laplace(int n, double to[restrict n][n], double from[n][n]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      to[i][j] = (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]) / 4;
}

void laplace_cube(float *restrict to, const float *from, int n) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      for (int k = 1; k < n - 1; k++) {
        int at = (i * n + j) * n + k;
        to[at] = (from[at - 1] + from[at + 1] + from[at - n] + from[at + n] + from[at - n * n] +
                  from[at + n * n]) /
                 6;
      }
}

void wave(int n, float next[restrict n][n], float now[n][n], float last[n][n], float c) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      next[i][j] = 2 * now[i][j] - last[i][j] +
                   c * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1] - 4 * now[i][j]);
}

void life(uint8_t *restrict to, const uint8_t *from, int w, int h) {
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++) {
      int count = 0;
      for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
          count += (dx || dy) && from[(y + dy) * w + x + dx];
      to[y * w + x] = count == 3 || (count == 2 && from[y * w + x]);
    }
}

void gauss_seidel(int n, double a[n][n]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      a[i][j] = (a[i - 1][j] + a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j]) / 5;
}

void red_black(int n, double a[n][n], int color) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1 + (i + color) % 2; j < n - 1; j += 2)
      a[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) / 4;
}

void boundary(int n, float a[n][n]) {
  for (int i = 0; i < n; i++) {
    a[i][0] = a[i][1];
    a[i][n - 1] = a[i][n - 2];
    a[0][i] = a[1][i];
    a[n - 1][i] = a[n - 2][i];
  }
}

void periodic(double *restrict to, const double *from, int n) {
  for (int i = 0; i < n; i++)
    to[i] = from[(i + 1) % n] + from[(i + n - 1) % n];
}

void rule_110(uint8_t *restrict to, const uint8_t *from, size_t n) {
  for (size_t i = 1; i + 1 < n; i++)
    to[i] = (110 >> (from[i - 1] * 4 + from[i] * 2 + from[i + 1])) & 1;
}

void advect(float *restrict to, const float *from, const float *speed, int n) {
  for (int i = 1; i < n; i++)
    to[i] = from[i] - speed[i] * (from[i] - from[i - 1]);
}

void forces(int n, const double *x, double *restrict f) {
  for (int i = 0; i < n; i++)
    f[i] = 0;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) {
      double d = x[j] - x[i], w = 1 / (d * d + 1);
      f[i] += d * w;
      f[j] -= d * w;
    }
}

void fixed_grid(double to[restrict 64][64], double from[64][64]) {
  for (int i = 1; i < 63; i++)
    for (int j = 1; j < 63; j++)
      to[i][j] = from[i][j] + 0.1 * (from[i - 1][j] - 2 * from[i][j] + from[i + 1][j]);
}
