// Arrays: elementwise work, sums, searches, and counters that go up, down and by strides.
#include <stddef.h>
#include <stdint.h>

void fill(int *a, int n, int value) {
  for (int i = 0; i < n; i++)
    a[i] = value;
}

void iota(int *a, int n) {
  for (int i = 0; i < n; i++)
    a[i] = i;
}

void copy(double *restrict to, const double *restrict from, size_t n) {
  for (size_t i = 0; i < n; i++)
    to[i] = from[i];
}

void scale(float *a, long n, float by) {
  for (long i = 0; i < n; i++)
    a[i] *= by;
}

void axpy(double *restrict y, const double *restrict x, double a, int n) {
  for (int i = 0; i < n; i++)
    y[i] += a * x[i];
}

long sum(const int *a, unsigned n) {
  long total = 0;
  for (unsigned i = 0; i < n; i++)
    total += a[i];
  return total;
}

double dot(const double *x, const double *y, int n) {
  double total = 0;
  for (int i = 0; i < n; i++)
    total += x[i] * y[i];
  return total;
}

void add_arrays(int *restrict c, const int *a, const int *b, size_t n) {
  for (size_t i = 0; i != n; i++)
    c[i] = a[i] + b[i];
}

void reverse(int *a, int n) {
  for (int i = 0, j = n - 1; i < j; i++, j--) {
    int t = a[i];
    a[i] = a[j];
    a[j] = t;
  }
}

void reverse_copy(short *restrict to, const short *restrict from, int n) {
  for (int i = n - 1; i >= 0; i--)
    to[n - 1 - i] = from[i];
}

void shift_left(int *a, int n) {
  for (int i = 0; i + 1 < n; i++)
    a[i] = a[i + 1];
}

void shift_right(int *a, int n) {
  for (int i = n - 1; i > 0; i--)
    a[i] = a[i - 1];
}

void rotate_one(unsigned *a, size_t n) {
  if (n == 0)
    return;
  unsigned first = a[0];
  for (size_t i = 1; i < n; i++)
    a[i - 1] = a[i];
  a[n - 1] = first;
}

int maximum(const int *a, int n) {
  int best = a[0];
  for (int i = 1; i < n; i++)
    if (a[i] > best)
      best = a[i];
  return best;
}

int index_of_minimum(const float *a, int n) {
  int best = 0;
  for (int i = 1; i < n; i++)
    if (a[i] < a[best])
      best = i;
  return best;
}

int find(const int *a, int n, int wanted) {
  for (int i = 0; i < n; i++)
    if (a[i] == wanted)
      return i;
  return -1;
}

void even_odd(int *restrict even, int *restrict odd, const int *a, int n) {
  for (int i = 0; i < n; i++) {
    even[i] = a[2 * i];
    odd[i] = a[2 * i + 1];
  }
}

void every_third(char *a, int n) {
  for (int i = 0; i < n; i += 3)
    a[i] = 'x';
}

void every_fourth_unsigned(unsigned char *a, unsigned n) {
  for (unsigned i = 0; i < n; i += 4)
    a[i] ^= 0x55;
}

void down_to_zero(long *a, unsigned n) {
  for (unsigned i = n; i-- > 0;)
    a[i] = i;
}

void inclusive(int *a, int n) {
  for (int i = 0; i <= n; i++)
    a[i] += n;
}

void one_based(double *a, int n) {
  for (int i = 1; i <= n; i++)
    a[i - 1] = 1.0 / i;
}

void prefix_sum(long *a, int n) {
  for (int i = 1; i < n; i++)
    a[i] += a[i - 1];
}

void differences(int *restrict d, const int *a, int n) {
  for (int i = 1; i < n; i++)
    d[i - 1] = a[i] - a[i - 1];
}

void gather(float *restrict to, const float *from, const int *at, int n) {
  for (int i = 0; i < n; i++)
    to[i] = from[at[i]];
}

void scatter(float *restrict to, const float *from, const unsigned *at, unsigned n) {
  for (unsigned i = 0; i < n; i++)
    to[at[i]] = from[i];
}

void clamp_all(int *a, int n, int low, int high) {
  for (int i = 0; i < n; i++)
    a[i] = a[i] < low ? low : a[i] > high ? high : a[i];
}

void two_at_once(int *restrict a, int *restrict b, int n) {
  for (int i = 0; i < n; i++)
    a[i] = i * 2;
  for (int i = 0; i < n; i++)
    b[i] = a[i] + 1;
}

int count_positive(const double *a, size_t n) {
  int count = 0;
  for (size_t i = 0; i < n; ++i)
    count += a[i] > 0;
  return count;
}

void blocks_of_four(float *a, int blocks) {
  for (int b = 0; b < blocks; b++)
    for (int i = 0; i < 4; i++)
      a[4 * b + i] = a[4 * b] + i;
}
