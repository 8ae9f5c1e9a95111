// Tables of dynamic programming.
#include <stddef.h>
#include <string.h>

void fibonacci(unsigned long *f, int n) {
  f[0] = 0;
  f[1] = 1;
  for (int i = 2; i < n; i++)
    f[i] = f[i - 1] + f[i - 2];
}

void binomials(int n, long c[n][n]) {
  for (int i = 0; i < n; i++) {
    c[i][0] = c[i][i] = 1;
    for (int j = 1; j < i; j++)
      c[i][j] = c[i - 1][j - 1] + c[i - 1][j];
  }
}

void knapsack(int *best, int capacity, const int *weights, const int *values, int n) {
  for (int w = 0; w <= capacity; w++)
    best[w] = 0;
  for (int i = 0; i < n; i++)
    for (int w = capacity; w >= weights[i]; w--) {
      int with = best[w - weights[i]] + values[i];
      if (with > best[w])
        best[w] = with;
    }
}

void common_subsequence(int n, int m, int t[n + 1][m + 1], const char *a, const char *b) {
  for (int i = 0; i <= n; i++)
    t[i][0] = 0;
  for (int j = 0; j <= m; j++)
    t[0][j] = 0;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++)
      if (a[i - 1] == b[j - 1])
        t[i][j] = t[i - 1][j - 1] + 1;
      else
        t[i][j] = t[i - 1][j] > t[i][j - 1] ? t[i - 1][j] : t[i][j - 1];
}

int edit_distance(const char *a, int n, const char *b, int m, int *row) {
  for (int j = 0; j <= m; j++)
    row[j] = j;
  for (int i = 1; i <= n; i++) {
    int corner = row[0];
    row[0] = i;
    for (int j = 1; j <= m; j++) {
      int above = row[j];
      int best = corner + (a[i - 1] != b[j - 1]);
      if (above + 1 < best)
        best = above + 1;
      if (row[j - 1] + 1 < best)
        best = row[j - 1] + 1;
      row[j] = best;
      corner = above;
    }
  }
  return row[m];
}

void shortest_paths(int n, int d[n][n]) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        if (d[i][k] + d[k][j] < d[i][j])
          d[i][j] = d[i][k] + d[k][j];
}

void matrix_chain(int n, long m[n][n], const int *sizes) {
  for (int i = 0; i < n; i++)
    m[i][i] = 0;
  for (int length = 2; length <= n; length++)
    for (int i = 0; i + length <= n; i++) {
      int j = i + length - 1;
      m[i][j] = 1L << 60;
      for (int k = i; k < j; k++) {
        long cost = m[i][k] + m[k + 1][j] + (long)sizes[i] * sizes[k + 1] * sizes[j + 1];
        if (cost < m[i][j])
          m[i][j] = cost;
      }
    }
}

void increasing(int *restrict best, const int *a, int n) {
  for (int i = 0; i < n; i++) {
    best[i] = 1;
    for (int j = 0; j < i; j++)
      if (a[j] < a[i] && best[j] + 1 > best[i])
        best[i] = best[j] + 1;
  }
}

void coins(long *ways, int total, const int *values, int n) {
  ways[0] = 1;
  for (int t = 1; t <= total; t++)
    ways[t] = 0;
  for (int i = 0; i < n; i++)
    for (int t = values[i]; t <= total; t++)
      ways[t] += ways[t - values[i]];
}

void sieve(unsigned char *composite, int n) {
  for (int i = 0; i < n; i++)
    composite[i] = i < 2;
  for (int p = 2; p * p < n; p++)
    if (!composite[p])
      for (int m = p * p; m < n; m += p)
        composite[m] = 1;
}

void grid_paths(int rows, int cols, unsigned long t[rows][cols]) {
  for (int i = 0; i < rows; i++)
    t[i][0] = 1;
  for (int j = 0; j < cols; j++)
    t[0][j] = 1;
  for (int i = 1; i < rows; i++)
    for (int j = 1; j < cols; j++)
      t[i][j] = t[i - 1][j] + t[i][j - 1];
}

void cheapest_path(int *cost, const int *from, unsigned rows, unsigned cols) {
  for (unsigned i = 0; i < rows; i++)
    for (unsigned j = 0; j < cols; j++) {
      int best = 0;
      if (i > 0 && j > 0)
        best = cost[(i - 1) * cols + j] < cost[i * cols + j - 1] ? cost[(i - 1) * cols + j]
                                                                 : cost[i * cols + j - 1];
      else if (i > 0)
        best = cost[(i - 1) * cols + j];
      else if (j > 0)
        best = cost[i * cols + j - 1];
      cost[i * cols + j] = best + from[i * cols + j];
    }
}

void viterbi(int states, int steps, float p[steps][states], float move[states][states],
             const float *seen) {
  for (int t = 1; t < steps; t++)
    for (int s = 0; s < states; s++) {
      float best = p[t - 1][0] * move[0][s];
      for (int r = 1; r < states; r++) {
        float v = p[t - 1][r] * move[r][s];
        best = v > best ? v : best;
      }
      p[t][s] = best * seen[t];
    }
}

long kadane(const int *a, size_t n) {
  long best = 0, here = 0;
  for (size_t i = 0; i < n; i++) {
    here = here + a[i] > 0 ? here + a[i] : 0;
    best = here > best ? here : best;
  }
  return best;
}
