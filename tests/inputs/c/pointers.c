// Pointers that move along, and ends instead of counts.
#include <stddef.h>
#include <stdint.h>

void clear_range(int *begin, int *end) {
  for (int *p = begin; p != end; p++)
    *p = 0;
}

long sum_range(const short *begin, const short *end) {
  long total = 0;
  for (const short *p = begin; p < end; ++p)
    total += *p;
  return total;
}

void copy_while(int *to, const int *from, int n) {
  while (n-- > 0)
    *to++ = *from++;
}

void copy_do(char *to, const char *from, unsigned n) {
  if (n == 0)
    return;
  do {
    *to++ = *from++;
  } while (--n);
}

void add_along(double *restrict to, const double *restrict from, size_t n) {
  while (n--) {
    *to += *from;
    to++;
    from++;
  }
}

void backwards(int *restrict to, const int *restrict from, int n) {
  const int *p = from + n;
  while (p > from)
    *to++ = *--p;
}

void every_second(float *p, float *end) {
  for (; p < end; p += 2)
    *p = 0;
}

void strided_column(double *a, int rows, int stride) {
  for (int i = 0; i < rows; i++) {
    *a *= 2;
    a += stride;
  }
}

int16_t peak(const int16_t *p, int n) {
  int16_t best = *p;
  const int16_t *end = p + n;
  for (; p != end; p++)
    if (*p > best)
      best = *p;
  return best;
}

void interleave(uint8_t *restrict to, const uint8_t *left, const uint8_t *right, int n) {
  for (int i = 0; i < n; i++) {
    *to++ = left[i];
    *to++ = right[i];
  }
}

void deinterleave(uint8_t *restrict left, uint8_t *restrict right, const uint8_t *from, int n) {
  for (int i = 0; i < n; i++) {
    left[i] = *from++;
    right[i] = *from++;
  }
}

void swap_bytes(uint16_t *p, size_t n) {
  for (; n; n--, p++)
    *p = (uint16_t)(*p << 8 | *p >> 8);
}

void words_from_bytes(uint32_t *restrict to, const uint8_t *from, size_t n) {
  for (size_t i = 0; i < n; i++, from += 4)
    to[i] = from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

void meet(int *a, int *b) {
  while (a < b) {
    int t = *a;
    *a++ = *--b;
    *b = t;
  }
}

int equal(const unsigned char *a, const unsigned char *b, size_t n) {
  for (; n > 0; n--, a++, b++)
    if (*a != *b)
      return 0;
  return 1;
}

void row_pointers(int **rows, int height, int width) {
  for (int y = 0; y < height; y++) {
    int *row = rows[y];
    for (int x = 0; x < width; x++)
      row[x] = y ^ x;
  }
}

void table_of_rows(double *restrict sums, double *const *rows, int n) {
  for (int i = 0; i < n; i++) {
    sums[i] = 0;
    for (int j = 0; j < n; j++)
      sums[i] += rows[i][j];
  }
}
