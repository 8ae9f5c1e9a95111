// Solvers and data mining of PolyBench, written from the definitions.
#include "sizes.h"
#include <math.h>

// A = L L', in the lower half of A
void cholesky(double a[restrict N][N]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
    for (int k = 0; k < i; k++)
      a[i][i] -= a[i][k] * a[i][k];
    a[i][i] = sqrt(a[i][i]);
  }
}

// The Yule-Walker equations, by Durbin's recursion
void durbin(double r[restrict N], double y[restrict N]) {
  double z[N];
  double alpha = -r[0], beta = 1;
  y[0] = -r[0];
  for (int k = 1; k < N; k++) {
    beta = (1 - alpha * alpha) * beta;
    double sum = 0;
    for (int i = 0; i < k; i++)
      sum += r[k - i - 1] * y[i];
    alpha = -(r[k] + sum) / beta;
    for (int i = 0; i < k; i++)
      z[i] = y[i] + alpha * y[k - i - 1];
    for (int i = 0; i < k; i++)
      y[i] = z[i];
    y[k] = alpha;
  }
}

// A = Q R, by the modified method of Gram and Schmidt
void gramschmidt(double a[restrict M][K], double r[restrict K][K], double q[restrict M][K]) {
  for (int k = 0; k < K; k++) {
    double norm = 0;
    for (int i = 0; i < M; i++)
      norm += a[i][k] * a[i][k];
    r[k][k] = sqrt(norm);
    for (int i = 0; i < M; i++)
      q[i][k] = a[i][k] / r[k][k];
    for (int j = k + 1; j < K; j++) {
      r[k][j] = 0;
      for (int i = 0; i < M; i++)
        r[k][j] += q[i][k] * a[i][j];
      for (int i = 0; i < M; i++)
        a[i][j] -= q[i][k] * r[k][j];
    }
  }
}

// A = L U, in place
void lu(double a[restrict N][N]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        a[i][j] -= a[i][k] * a[k][j];
      a[i][j] /= a[j][j];
    }
    for (int j = i; j < N; j++)
      for (int k = 0; k < i; k++)
        a[i][j] -= a[i][k] * a[k][j];
  }
}

// A x = b, by A = L U
void ludcmp(double a[restrict N][N], double b[restrict N], double x[restrict N], double y[restrict N]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      double w = a[i][j];
      for (int k = 0; k < j; k++)
        w -= a[i][k] * a[k][j];
      a[i][j] = w / a[j][j];
    }
    for (int j = i; j < N; j++) {
      double w = a[i][j];
      for (int k = 0; k < i; k++)
        w -= a[i][k] * a[k][j];
      a[i][j] = w;
    }
  }
  for (int i = 0; i < N; i++) {
    double w = b[i];
    for (int j = 0; j < i; j++)
      w -= a[i][j] * y[j];
    y[i] = w;
  }
  for (int i = N - 1; i >= 0; i--) {
    double w = y[i];
    for (int j = i + 1; j < N; j++)
      w -= a[i][j] * x[j];
    x[i] = w / a[i][i];
  }
}

// L x = b
void trisolv(double l[restrict N][N], double x[restrict N], double b[restrict N]) {
  for (int i = 0; i < N; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= l[i][j] * x[j];
    x[i] /= l[i][i];
  }
}

// Correlations of the columns
void correlation(double data[restrict N][M], double corr[restrict M][M], double mean[restrict M],
                 double deviation[restrict M]) {
  for (int j = 0; j < M; j++) {
    mean[j] = 0;
    for (int i = 0; i < N; i++)
      mean[j] += data[i][j];
    mean[j] /= N;
  }
  for (int j = 0; j < M; j++) {
    deviation[j] = 0;
    for (int i = 0; i < N; i++)
      deviation[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    deviation[j] = sqrt(deviation[j] / N);
    deviation[j] = deviation[j] <= 0.1 ? 1 : deviation[j];
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      data[i][j] -= mean[j];
      data[i][j] /= sqrt((double)N) * deviation[j];
    }
  for (int i = 0; i < M - 1; i++) {
    corr[i][i] = 1;
    for (int j = i + 1; j < M; j++) {
      corr[i][j] = 0;
      for (int k = 0; k < N; k++)
        corr[i][j] += data[k][i] * data[k][j];
      corr[j][i] = corr[i][j];
    }
  }
  corr[M - 1][M - 1] = 1;
}

// Covariances of the columns
void covariance(double data[restrict N][M], double cov[restrict M][M], double mean[restrict M]) {
  for (int j = 0; j < M; j++) {
    mean[j] = 0;
    for (int i = 0; i < N; i++)
      mean[j] += data[i][j];
    mean[j] /= N;
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      data[i][j] -= mean[j];
  for (int i = 0; i < M; i++)
    for (int j = i; j < M; j++) {
      cov[i][j] = 0;
      for (int k = 0; k < N; k++)
        cov[i][j] += data[k][i] * data[k][j];
      cov[i][j] /= N - 1;
      cov[j][i] = cov[i][j];
    }
}

// Shortest paths between all pairs
void floyd_warshall(int path[restrict N][N]) {
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        int through = path[i][k] + path[k][j];
        path[i][j] = path[i][j] < through ? path[i][j] : through;
      }
}

// The most pairs of bases that fold, where 0 and 3, and 1 and 2 match
void nussinov(char seq[restrict N], int table[restrict N][N]) {
  for (int i = N - 1; i >= 0; i--)
    for (int j = i + 1; j < N; j++) {
      int best = table[i][j];
      if (j - 1 >= 0) {
        int left = table[i][j - 1];
        best = left > best ? left : best;
      }
      if (i + 1 < N) {
        int below = table[i + 1][j];
        best = below > best ? below : best;
      }
      if (j - 1 >= 0 && i + 1 < N) {
        int match = i < j - 1 ? seq[i] + seq[j] == 3 : 0;
        int inner = table[i + 1][j - 1] + match;
        best = inner > best ? inner : best;
      }
      for (int k = i + 1; k < j; k++) {
        int both = table[i][k] + table[k + 1][j];
        best = both > best ? both : best;
      }
      table[i][j] = best;
    }
}
