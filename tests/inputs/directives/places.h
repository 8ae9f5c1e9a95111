// A loop with a pragma in a header, and pragmas that macros make.
#define WIDTH 4
#define TILED _Pragma("omp tile sizes(WIDTH, 2 )")
#define REVERSED(loop) _Pragma("omp reverse") loop

static void in_header(int n) {
#pragma omp unroll \
    partial(2)
  for (int i = 0; i < n; i++)
    x[i] += 3;
}
