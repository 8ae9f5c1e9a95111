// Pragmas in all places where they may be, and texts that only look like pragmas.
#include "check.h"
#include "places.h"

static void f0(int n) {
  in_header(n);
}

static void f1(int n) {
  TILED
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      a[i][j] += b[j][i];
}

static void f2(int n) {
  REVERSED(for (int i = 0; i < n; i++) x[i] -= 3;)
}

static void f3(int n, int which) {
  if (which == 1)
#pragma omp tile sizes(4)
    for (int i = 0; i < n; i++)
      x[i] += 1;
  else if (which == 2)
#pragma omp fuse
  {
    for (int i = 0; i < n; i++) if (i % 2) x[i] += 2; else x[i] -= 2;
    for (int i = 0; i < n; i++) switch (i % 3) { case 0: y[i] += 4; break; default: y[i] -= 4; }
  }
  else
    _Pragma("omp reverse") for (int i = 0; i < n; i++) x[i] += 8;
  switch (which) {
  case 1:
#pragma omp unroll
    for (int i = 0; i < n; i++)
      z[i] = i;
    break;
  default:
  again:
    z[0]++;
  }
  if (z[0] == -1)
    goto again;
}

/* Neither is a pragma:
#pragma omp reverse
*/
// #pragma omp reverse \
#pragma omp tile sizes(4)
static const char *text = "\
#pragma omp reverse\n"
#if 0
#pragma omp tile sizes(none)
#endif
                          "_Pragma(\"omp reverse\")";

static const char *raw = R"(
#pragma omp reverse
)";

static void f4(int n) {
  for (int i = 1; i < n; i++)
    x[i] = x[i - 1] + text[i % 8] + raw[i % 4];
}

#pragma omp declare simd
static int twice(int own) {
  return own * 2;
}

static void f5(int n) {
#pragma omp simd
  for (int i = 0; i < n; i++)
    x[i] = twice(y[i]);
#pragma omp tile sizes(4, 4)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++) {
      a[i % N][j] += 1;
    }
}

int main(void) {
  TRY(0, f0(100));
  TRY(1, f1(33));
  TRY(2, f2(100));
  TRY(3, (f3(50, 1), f3(60, 2), f3(70, 3)));
  TRY(4, f4(100));
  TRY(5, f5(7));
  return 0;
}
