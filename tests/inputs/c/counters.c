// Counters of all widths and signs, and tests of all kinds.
#include <stddef.h>
#include <stdint.h>

void by_char(int *a, signed char n) {
  for (signed char i = 0; i < n; i++)
    a[i] = i;
}

void by_unsigned_char(int *a, unsigned char n) {
  for (unsigned char i = 0; i < n; i++)
    a[i] = i;
}

void by_short(int *a, short n) {
  for (short i = 0; i < n; i++)
    a[i] += i;
}

void by_unsigned_short(int *a, int n) {
  for (unsigned short i = 0; i < n; i++)
    a[i] += i;
}

void by_long(char *a, long n) {
  for (long i = 0; i < n; i++)
    a[i] = (char)i;
}

void by_size(char *a, size_t from, size_t to) {
  for (size_t i = from; i < to; i++)
    a[i] = 0;
}

void by_difference(char *a, ptrdiff_t n) {
  for (ptrdiff_t i = 0; i != n; i++)
    a[i] = 1;
}

void unsigned_inclusive(int *a, unsigned n) {
  for (unsigned i = 0; i <= n; i++)
    a[i] = 0;
}

void size_inclusive(int *a, size_t n) {
  for (size_t i = 1; i <= n; i++)
    a[i] = 0;
}

void int_bound_of_long(int *a, long n) {
  for (int i = 0; i < n; i++)
    a[i] = 0;
}

void unsigned_and_int(float *a, int n) {
  for (unsigned i = 0; i < (unsigned)n; i++)
    a[i] = (float)i;
}

void int_below_size(float *a, size_t n) {
  for (int i = 0; (size_t)i < n; i++)
    a[i] = (float)i;
}

void unequal(int *a, int from, int to) {
  for (int i = from; i != to; i++)
    a[i] = 1;
}

void unequal_by_two(int *a, unsigned n) {
  for (unsigned i = 0; i != 2 * n; i += 2)
    a[i] = 1;
}

void at_least(int *a, int n) {
  for (int i = n; i >= 1; --i)
    a[i] = i;
}

void down_by_three(int *a, int n) {
  for (int i = n - 1; i >= 0; i -= 3)
    a[i] = i;
}

void down_unsigned(int *a, unsigned n) {
  for (unsigned i = n; i != 0; i--)
    a[i - 1] = (int)i;
}

void down_size(long *a, size_t n) {
  for (size_t i = n; i > 0; i--)
    a[i - 1] = 0;
}

void variable_stride(int *a, int n, int by) {
  for (int i = 0; i < n; i += by)
    a[i] = 0;
}

void positive_stride(int *a, int n, int by) {
  if (by <= 0)
    return;
  for (int i = 0; i < n; i += by)
    a[i] = 0;
}

void two_counters(int *restrict a, const int *b, int n) {
  for (int i = 0, j = 0; i < n; i++, j += 2)
    a[i] = b[j];
}

void offset_counters(int *restrict a, const int *b, int n, int from) {
  for (int i = 0, j = from; i < n; i++, j++)
    a[j] = b[i];
}

void doubling(int *a, unsigned n) {
  for (unsigned i = 1; i < n; i *= 2)
    a[i] = 0;
}

void halving(int *a, unsigned n) {
  for (; n; n /= 2)
    a[n] = 0;
}

void do_while(int *a, int n) {
  int i = 0;
  do {
    a[i] = i;
    i++;
  } while (i < n);
}

void while_loop(int *a, int n) {
  int i = 0;
  while (i < n) {
    a[i] = i;
    ++i;
  }
}

void constant_trips(int *a) {
  for (int i = 0; i < 100; i++)
    a[i] = i;
}

void constant_stride(int *a) {
  for (int i = 3; i < 1000; i += 7)
    a[i] = i;
}

void least_of_two(int *a, int n, int m) {
  for (int i = 0; i < n && i < m; i++)
    a[i] = 0;
}

void bounded_search(const int *a, int *found, int n) {
  int i;
  for (i = 0; i < n && a[i] != 0; i++)
    ;
  *found = i;
}

void outer_bound(int *a, int n) {
  for (int i = 0; i < n; i++)
    for (int j = i; j < n; j++)
      a[j] += i;
}

void outer_bound_size(int *a, size_t n) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++)
      a[i] += a[j];
}

void outer_stride(int *a, int n) {
  for (int i = 1; i < n; i++)
    for (int j = 0; j < n; j += i)
      a[j]++;
}

void trapezoid(int *a, int n, int m) {
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < i + m; j++)
      a[j] += a[i];
}

void last_value(int *a, int n, int *last) {
  int i;
  for (i = 0; i < n; i++)
    a[i] = 0;
  *last = i;
}

void volatile_bound(int *a, volatile int *n) {
  for (int i = 0; i < *n; i++)
    a[i] = 0;
}

void bound_in_memory(int *a, const int *n) {
  for (int i = 0; i < *n; i++)
    a[i] = 0;
}

void long_by_ints(double *a, int n, int m) {
  for (long i = 0; i < (long)n * m; i++)
    a[i] = 0;
}

void product_bound(float *a, int n, int m) {
  for (int i = 0; i < n * m; i++)
    a[i] = 0;
}

void quotient_bound(float *a, unsigned n) {
  for (unsigned i = 0; i < n / 4; i++)
    a[4 * i] = 0;
}

void shifted_bound(short *a, int n) {
  for (int i = 0; i < n >> 1; i++)
    a[i] = a[2 * i];
}
