// Stencils of PolyBench, written from the definitions.
#include "sizes.h"
#include <math.h>

// Alternating directions: implicit steps along columns, then along rows
void adi(double u[restrict N][N], double v[restrict N][N], double p[restrict N][N],
         double q[restrict N][N]) {
  double dx = 1.0 / N, dt = 1.0 / T;
  double a = -(2 * dt / (dx * dx)) / 2, b = 1 + 2 * dt / (dx * dx), c = a;
  double d = -(dt / (dx * dx)) / 2, e = 1 + dt / (dx * dx), f = d;
  for (int t = 1; t <= T; t++) {
    for (int i = 1; i < N - 1; i++) {
      v[0][i] = 1;
      p[i][0] = 0;
      q[i][0] = v[0][i];
      for (int j = 1; j < N - 1; j++) {
        p[i][j] = -c / (a * p[i][j - 1] + b);
        q[i][j] = (-d * u[j][i - 1] + (1 + 2 * d) * u[j][i] - f * u[j][i + 1] - a * q[i][j - 1]) /
                  (a * p[i][j - 1] + b);
      }
      v[N - 1][i] = 1;
      for (int j = N - 2; j >= 1; j--)
        v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
    }
    for (int i = 1; i < N - 1; i++) {
      u[i][0] = 1;
      p[i][0] = 0;
      q[i][0] = u[i][0];
      for (int j = 1; j < N - 1; j++) {
        p[i][j] = -f / (d * p[i][j - 1] + e);
        q[i][j] = (-a * v[i - 1][j] + (1 + 2 * a) * v[i][j] - c * v[i + 1][j] - d * q[i][j - 1]) /
                  (d * p[i][j - 1] + e);
      }
      u[i][N - 1] = 1;
      for (int j = N - 2; j >= 1; j--)
        u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
    }
  }
}

// A recursive filter that smooths, along rows and then columns, forwards and backwards
void deriche(float alpha, float in[restrict M][N], float out[restrict M][N], float y1[restrict M][N],
             float y2[restrict M][N]) {
  float e = expf(-alpha);
  float k = (1 - e) * (1 - e) / (1 + 2 * alpha * e - expf(2 * alpha));
  float a1 = k, a2 = k * e * (alpha - 1), a3 = k * e * (alpha + 1), a4 = -k * expf(-2 * alpha);
  float b1 = powf(2, -alpha), b2 = -expf(-2 * alpha);
  for (int i = 0; i < M; i++) {
    float ym1 = 0, ym2 = 0, xm1 = 0;
    for (int j = 0; j < N; j++) {
      y1[i][j] = a1 * in[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
      xm1 = in[i][j];
      ym2 = ym1;
      ym1 = y1[i][j];
    }
  }
  for (int i = 0; i < M; i++) {
    float yp1 = 0, yp2 = 0, xp1 = 0, xp2 = 0;
    for (int j = N - 1; j >= 0; j--) {
      y2[i][j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
      xp2 = xp1;
      xp1 = in[i][j];
      yp2 = yp1;
      yp1 = y2[i][j];
    }
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      out[i][j] = y1[i][j] + y2[i][j];
  for (int j = 0; j < N; j++) {
    float tm1 = 0, ym1 = 0, ym2 = 0;
    for (int i = 0; i < M; i++) {
      y1[i][j] = a1 * out[i][j] + a2 * tm1 + b1 * ym1 + b2 * ym2;
      tm1 = out[i][j];
      ym2 = ym1;
      ym1 = y1[i][j];
    }
  }
  for (int j = 0; j < N; j++) {
    float tp1 = 0, tp2 = 0, yp1 = 0, yp2 = 0;
    for (int i = M - 1; i >= 0; i--) {
      y2[i][j] = a3 * tp1 + a4 * tp2 + b1 * yp1 + b2 * yp2;
      tp2 = tp1;
      tp1 = out[i][j];
      yp2 = yp1;
      yp1 = y2[i][j];
    }
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      out[i][j] = y1[i][j] + y2[i][j];
}

// Electric and magnetic fields in two dimensions
void fdtd_2d(double ex[restrict N][M], double ey[restrict N][M], double hz[restrict N][M],
             double fict[restrict T]) {
  for (int t = 0; t < T; t++) {
    for (int j = 0; j < M; j++)
      ey[0][j] = fict[t];
    for (int i = 1; i < N; i++)
      for (int j = 0; j < M; j++)
        ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
    for (int i = 0; i < N; i++)
      for (int j = 1; j < M; j++)
        ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
    for (int i = 0; i < N - 1; i++)
      for (int j = 0; j < M - 1; j++)
        hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
}

// Heat in three dimensions
void heat_3d(double a[restrict L][L][L], double b[restrict L][L][L]) {
  for (int t = 1; t <= T; t++) {
    for (int i = 1; i < L - 1; i++)
      for (int j = 1; j < L - 1; j++)
        for (int k = 1; k < L - 1; k++)
          b[i][j][k] = 0.125 * (a[i + 1][j][k] - 2 * a[i][j][k] + a[i - 1][j][k]) +
                       0.125 * (a[i][j + 1][k] - 2 * a[i][j][k] + a[i][j - 1][k]) +
                       0.125 * (a[i][j][k + 1] - 2 * a[i][j][k] + a[i][j][k - 1]) + a[i][j][k];
    for (int i = 1; i < L - 1; i++)
      for (int j = 1; j < L - 1; j++)
        for (int k = 1; k < L - 1; k++)
          a[i][j][k] = 0.125 * (b[i + 1][j][k] - 2 * b[i][j][k] + b[i - 1][j][k]) +
                       0.125 * (b[i][j + 1][k] - 2 * b[i][j][k] + b[i][j - 1][k]) +
                       0.125 * (b[i][j][k + 1] - 2 * b[i][j][k] + b[i][j][k - 1]) + b[i][j][k];
  }
}

// Means of three neighbours, there and back
void jacobi_1d(double a[restrict N], double b[restrict N]) {
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < N - 1; i++)
      b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1]);
    for (int i = 1; i < N - 1; i++)
      a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1]);
  }
}

// Means of five neighbours, there and back
void jacobi_2d(double a[restrict N][N], double b[restrict N][N]) {
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        a[i][j] = 0.2 * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i + 1][j] + b[i - 1][j]);
  }
}

// Means of nine neighbours, in place
void seidel_2d(double a[restrict N][N]) {
  for (int t = 0; t < T; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] +
                   a[i][j + 1] + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) /
                  9;
}
