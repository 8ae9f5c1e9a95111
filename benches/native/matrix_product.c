/* Times a product of matrices: milliseconds of processor time, the median of 21 runs, and whether
   the result is that of the same loops in C. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 512, RUNS = 21 };

void product(float *a, float *b, float *c);

static float a[N * N], b[N * N], c[N * N], expected[N * N];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static int compare(const void *x, const void *y) {
  return (*(double *)x > *(double *)y) - (*(double *)x < *(double *)y);
}

int main(void) {
  double times[RUNS];
  for (int i = 0; i < N * N; i++) {
    a[i] = (float)(i % 71) / 7;
    b[i] = (float)(i % 53) / 5;
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      volatile float sum = 0;
      for (int k = 0; k < N; k++) {
        volatile float product = a[i * N + k] * b[k * N + j];
        sum = sum + product;
      }
      expected[i * N + j] = sum;
    }
  int same = 1;
  for (int run = 0; run < RUNS; run++) {
    memset(c, 0, sizeof c);
    double start = now();
    product(a, b, c);
    times[run] = now() - start;
    same &= memcmp(c, expected, sizeof c) == 0;
  }
  qsort(times, RUNS, sizeof *times, compare);
  printf("%.1f | %s |\n", times[RUNS / 2], same ? "yes" : "no");
  return 0;
}
