// One function for each spelling of a directive about unrolling.
#define LOOP(bound) for (int i = 0; i < (bound); ++i) p[i] = p[i] * 3 + i
#define NAMED(name) void name(int *restrict p, int n)

NAMED(plain) {
#pragma unroll
  LOOP(n);
}
NAMED(parenthesised) {
#pragma unroll(3)
  LOOP(n);
}
NAMED(bare_count) {
#pragma unroll 4
  LOOP(n);
}
NAMED(never) {
#pragma nounroll
  LOOP(7);
}
NAMED(clang_enable) {
#pragma clang loop unroll(enable)
  LOOP(n);
}
NAMED(clang_disable) {
#pragma clang loop unroll(disable)
  LOOP(7);
}
NAMED(clang_full) {
#pragma clang loop unroll(full)
  LOOP(100);
}
NAMED(clang_count) {
#pragma clang loop unroll_count(5)
  LOOP(n);
}
NAMED(gcc_unroll) {
#pragma GCC unroll 6
  LOOP(n);
}
NAMED(gcc_unroll_parenthesised) {
#pragma GCC unroll(2)
  LOOP(n);
}
NAMED(gcc_nounroll) {
#pragma GCC nounroll
  LOOP(7);
}
NAMED(gcc_unroll_one) {
#pragma GCC unroll 1
  LOOP(7);
}
NAMED(omp) {
#pragma omp unroll
  LOOP(n);
}
NAMED(omp_full) {
#pragma omp unroll full
  LOOP(20);
}
NAMED(omp_partial) {
#pragma omp unroll partial
  LOOP(n);
}
NAMED(omp_partial_count) {
#pragma omp unroll partial(3)
  LOOP(n);
}
NAMED(jam) {
#pragma unroll_and_jam(2)
  for (int i = 0; i < 8; ++i) {
    int sum = 0;
    for (int j = 0; j < 40; ++j) sum += p[8 + j] * i;
    p[i] = sum;
  }
}
