// Times a matrix product and a triad that Loomir lowered, and checks their sums. With an argument,
// so many processes run them at the same time, each with buffers of its own.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void product(double *a, double *b, double *c);
void triad(double *a, double *b, double *c);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

// Where all processes wait for each other, before and after each run.
static pthread_barrier_t *all;

// Prints the least milliseconds of nine runs of all processes, and the sum of the result.
static void bench(int prints, void (*run)(double *, double *, double *), long n) {
  double *a = malloc(n * 8), *b = malloc(n * 8), *c = malloc(n * 8), best = 1e9, sum = 0;
  for (int r = 0; r < 9; r++) {
    for (long i = 0; i < n; i++) {
      a[i] = i % 7;
      b[i] = i % 5;
      c[i] = 0;
    }
    pthread_barrier_wait(all);
    double start = now();
    run(a, b, c);
    pthread_barrier_wait(all);
    double taken = now() - start;
    if (taken < best) best = taken;
  }
  for (long i = 0; i < n; i++) sum += c[i];
  if (prints) printf(" %.1f | %.0f |", best * 1e3, sum);
  free(a);
  free(b);
  free(c);
}

int main(int count, char **arguments) {
  int processes = count > 1 ? atoi(arguments[1]) : 1;
  all = mmap(0, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_barrierattr_t shared;
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(all, &shared, processes);
  int is_first = 1;
  for (int p = 1; p < processes && is_first; p++) is_first = fork() != 0;
  bench(is_first, product, 768 * 768);
  bench(is_first, triad, 1 << 24);
  if (!is_first) return 0;
  printf("\n");
  while (wait(0) > 0) {}
}
