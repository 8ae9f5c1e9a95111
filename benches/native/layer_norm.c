// Times layer normalisation before and after `fuse`, interleaved; see layer_norm.sh.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void kernel(float *, float *, long, long, long, long, long, float *, float *, long, long, long,
                    float *, float *, long, long, long, float *, float *, long, long, long, long, long);
kernel before, after;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(void) {
  enum { RUNS = 61, SIZE = ROWS * COLUMNS };
  static double times[2][RUNS];
  kernel *kernels[2] = {before, after};
  float *x = aligned_alloc(64, SIZE * 4L), *y[2];
  float *g = aligned_alloc(64, COLUMNS * 4L), *b = aligned_alloc(64, COLUMNS * 4L);
  for (long i = 0; i < SIZE; i++) x[i] = (i * 2654435761u % 1000) / 997.0f;
  for (long i = 0; i < COLUMNS; i++) g[i] = 1 + i % 3, b[i] = i % 5;
  for (int side = 0; side < 2; side++) y[side] = aligned_alloc(64, SIZE * 4L);
  for (int run = -3; run < RUNS; run++)
    for (int side = 0; side < 2; side++) {
      double start = now();
      kernels[side](x, x, 0, ROWS, COLUMNS, COLUMNS, 1, g, g, 0, COLUMNS, 1, b, b, 0, COLUMNS, 1,
                    y[side], y[side], 0, ROWS, COLUMNS, COLUMNS, 1);
      if (run >= 0) times[side][run] = now() - start;
    }
  for (int side = 0; side < 2; side++) qsort(times[side], RUNS, sizeof(double), compare);
  double one = times[0][RUNS / 2], two = times[1][RUNS / 2];
  const char *same = memcmp(y[0], y[1], SIZE * 4L) ? "no" : "yes";
  printf("%.3f | %.3f | %.2f | %s |\n", one, two, one / two, same);
  return 0;
}
