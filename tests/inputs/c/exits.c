// Guards, early exits, breaks, continues, and code between loops.
#include <stddef.h>
#include <stdint.h>

int first_negative(const int *a, int n) {
  int i = 0;
  while (i < n && a[i] >= 0)
    i++;
  return i;
}

int sum_until_zero(const int *a, int n) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    if (a[i] == 0)
      break;
    s += a[i];
  }
  return s;
}

void skip_zeros(float *restrict to, const float *from, int n) {
  for (int i = 0; i < n; i++) {
    if (from[i] == 0)
      continue;
    to[i] = 1 / from[i];
  }
}

int find_pair(const int *a, int n, int sum) {
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++)
      if (a[i] + a[j] == sum)
        return i * n + j;
  return -1;
}

int find_cell(int n, int a[n][n], int wanted) {
  int found = -1;
  for (int i = 0; i < n && found < 0; i++)
    for (int j = 0; j < n; j++)
      if (a[i][j] == wanted) {
        found = i * n + j;
        break;
      }
  return found;
}

int check_bounds(int *a, int n, int limit) {
  for (int i = 0; i < n; i++) {
    if (i >= limit)
      return 0;
    a[i] = i;
  }
  return 1;
}

void guarded(int *a, int n, int on) {
  if (on)
    for (int i = 0; i < n; i++)
      a[i] = 0;
  else
    for (int i = 0; i < n; i++)
      a[i] = 1;
}

void guard_inside(int *a, int n, int on) {
  for (int i = 0; i < n; i++)
    if (on)
      a[i] = 0;
    else
      a[i]++;
}

void edge_cases(double *restrict to, const double *from, int n) {
  for (int i = 0; i < n; i++) {
    if (i == 0)
      to[i] = from[0];
    else if (i == n - 1)
      to[i] = from[n - 1];
    else
      to[i] = (from[i - 1] + from[i + 1]) / 2;
  }
}

void by_kind(int *a, const unsigned char *kinds, int n) {
  for (int i = 0; i < n; i++)
    switch (kinds[i]) {
    case 0:
      a[i] = 0;
      break;
    case 1:
      a[i]++;
      break;
    case 2:
      a[i] *= 2;
      break;
    default:
      a[i] = -a[i];
    }
}

int collatz(unsigned n) {
  int steps = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    steps++;
  }
  return steps;
}

unsigned common_divisor(unsigned a, unsigned b) {
  while (b) {
    unsigned t = a % b;
    a = b;
    b = t;
  }
  return a;
}

double root(double x) {
  double r = x;
  for (int i = 0; i < 20; i++)
    r = (r + x / r) / 2;
  return r;
}

int newton(double x, double *to) {
  double r = x;
  for (int i = 0; i < 50; i++) {
    double next = (r + x / r) / 2;
    if (next == r) {
      *to = r;
      return i;
    }
    r = next;
  }
  return -1;
}

int mandelbrot(double cr, double ci, int most) {
  double r = 0, i = 0;
  int n = 0;
  while (n < most && r * r + i * i < 4) {
    double t = r * r - i * i + cr;
    i = 2 * r * i + ci;
    r = t;
    n++;
  }
  return n;
}

void two_sums(const float *a, const float *b, int n, float *to) {
  float s = 0, t = 0;
  for (int i = 0; i < n; i++)
    s += a[i];
  if (n > 0)
    for (int i = 0; i < n; i++)
      t += b[i];
  to[0] = s;
  to[1] = t;
}

void call_inside(int *a, int n, int (*f)(int)) {
  for (int i = 0; i < n; i++)
    a[i] = f(a[i]);
}

int skip_spaces(const char **s) {
  int n = 0;
  while (**s == ' ') {
    ++*s;
    n++;
  }
  return n;
}

void nested_guard(int n, int m, float a[n][m], const unsigned char *use) {
  for (int i = 0; i < n; i++) {
    if (!use[i])
      continue;
    for (int j = 0; j < m; j++)
      a[i][j] = 0;
  }
}

void retry(int *a, int n) {
  int again = 1;
  while (again) {
    again = 0;
    for (int i = 0; i < n; i++)
      if (a[i] & 1) {
        a[i] >>= 1;
        again = 1;
      }
  }
}
