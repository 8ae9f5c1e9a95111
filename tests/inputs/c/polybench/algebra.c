// Linear algebra of PolyBench, written from the definitions: products of matrices and vectors.
#include "sizes.h"

// C := beta C + alpha A B
void gemm(double alpha, double beta, double c[restrict N][M], double a[restrict N][K],
          double b[restrict K][M]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < M; j++)
      c[i][j] *= beta;
    for (int k = 0; k < K; k++)
      for (int j = 0; j < M; j++)
        c[i][j] += alpha * a[i][k] * b[k][j];
  }
}

// D := beta D + alpha A B C
void two_mm(double alpha, double beta, double t[restrict N][M], double a[restrict N][K],
            double b[restrict K][M], double c[restrict M][L], double d[restrict N][L]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      t[i][j] = 0;
      for (int k = 0; k < K; k++)
        t[i][j] += alpha * a[i][k] * b[k][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < L; j++) {
      d[i][j] *= beta;
      for (int k = 0; k < M; k++)
        d[i][j] += t[i][k] * c[k][j];
    }
}

// G := (A B) (C D)
void three_mm(double e[restrict N][M], double a[restrict N][K], double b[restrict K][M],
              double f[restrict M][L], double c[restrict M][T], double d[restrict T][L],
              double g[restrict N][L]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      e[i][j] = 0;
      for (int k = 0; k < K; k++)
        e[i][j] += a[i][k] * b[k][j];
    }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < L; j++) {
      f[i][j] = 0;
      for (int k = 0; k < T; k++)
        f[i][j] += c[i][k] * d[k][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < L; j++) {
      g[i][j] = 0;
      for (int k = 0; k < M; k++)
        g[i][j] += e[i][k] * f[k][j];
    }
}

// y := transpose(A) (A x)
void atax(double a[restrict M][N], double x[restrict N], double y[restrict N], double t[restrict M]) {
  for (int i = 0; i < N; i++)
    y[i] = 0;
  for (int i = 0; i < M; i++) {
    t[i] = 0;
    for (int j = 0; j < N; j++)
      t[i] += a[i][j] * x[j];
    for (int j = 0; j < N; j++)
      y[j] += a[i][j] * t[i];
  }
}

// s := transpose(A) r, q := A p
void bicg(double a[restrict N][M], double s[restrict M], double q[restrict N], double p[restrict M],
          double r[restrict N]) {
  for (int i = 0; i < M; i++)
    s[i] = 0;
  for (int i = 0; i < N; i++) {
    q[i] = 0;
    for (int j = 0; j < M; j++) {
      s[j] += r[i] * a[i][j];
      q[i] += a[i][j] * p[j];
    }
  }
}

// Each vector along the last dimension times a matrix.
void doitgen(double a[restrict L][K][M], double c[restrict M][M], double s[restrict M]) {
  for (int r = 0; r < L; r++)
    for (int q = 0; q < K; q++) {
      for (int p = 0; p < M; p++) {
        s[p] = 0;
        for (int i = 0; i < M; i++)
          s[p] += a[r][q][i] * c[i][p];
      }
      for (int p = 0; p < M; p++)
        a[r][q][p] = s[p];
    }
}

// A += u1 v1' + u2 v2', x := beta A' y + z, w := alpha A x
void gemver(double alpha, double beta, double a[restrict N][N], double u1[restrict N],
            double v1[restrict N], double u2[restrict N], double v2[restrict N], double w[restrict N],
            double x[restrict N], double y[restrict N], double z[restrict N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      a[i][j] += u1[i] * v1[j] + u2[i] * v2[j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x[i] += beta * a[j][i] * y[j];
  for (int i = 0; i < N; i++)
    x[i] += z[i];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      w[i] += alpha * a[i][j] * x[j];
}

// y := alpha A x + beta B x
void gesummv(double alpha, double beta, double a[restrict N][N], double b[restrict N][N],
             double t[restrict N], double x[restrict N], double y[restrict N]) {
  for (int i = 0; i < N; i++) {
    t[i] = 0;
    y[i] = 0;
    for (int j = 0; j < N; j++) {
      t[i] += a[i][j] * x[j];
      y[i] += b[i][j] * x[j];
    }
    y[i] = alpha * t[i] + beta * y[i];
  }
}

// x1 += A y1, x2 += transpose(A) y2
void mvt(double x1[restrict N], double x2[restrict N], double y1[restrict N], double y2[restrict N],
         double a[restrict N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x1[i] += a[i][j] * y1[j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x2[i] += a[j][i] * y2[j];
}

// C := beta C + alpha A B, where A is symmetric and its lower half is stored.
void symm(double alpha, double beta, double c[restrict M][N], double a[restrict M][M],
          double b[restrict M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double t = 0;
      for (int k = 0; k < i; k++) {
        c[k][j] += alpha * b[i][j] * a[i][k];
        t += b[k][j] * a[i][k];
      }
      c[i][j] = beta * c[i][j] + alpha * b[i][j] * a[i][i] + alpha * t;
    }
}

// C := beta C + alpha (A B' + B A'), its lower half
void syr2k(double alpha, double beta, double c[restrict N][N], double a[restrict N][M],
           double b[restrict N][M]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++)
      c[i][j] *= beta;
    for (int k = 0; k < M; k++)
      for (int j = 0; j <= i; j++)
        c[i][j] += a[j][k] * alpha * b[i][k] + b[j][k] * alpha * a[i][k];
  }
}

// C := beta C + alpha A A', its lower half
void syrk(double alpha, double beta, double c[restrict N][N], double a[restrict N][M]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++)
      c[i][j] *= beta;
    for (int k = 0; k < M; k++)
      for (int j = 0; j <= i; j++)
        c[i][j] += alpha * a[i][k] * a[j][k];
  }
}

// B := alpha A' B, where A is lower triangular with ones on its diagonal.
void trmm(double alpha, double a[restrict M][M], double b[restrict M][N]) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      for (int k = i + 1; k < M; k++)
        b[i][j] += a[k][i] * b[k][j];
      b[i][j] *= alpha;
    }
}
