// Directives on loops of other types, bounds and memory.
#include "check.h"

typedef struct {
  double mass;
  float at[3];
  short kind;
} body;

static double d[N][N], e[N][N], v[M], w[M];
static float f[M], g[M];
static unsigned char bytes[M], masks[M];
static long long wide[M];
static body bodies[N];
static double cube[8][10][12];

static void start(void) {
  fill();
  for (int i = 0; i < N; i++) {
    bodies[i].mass = i * 0.75, bodies[i].kind = i % 5;
    for (int j = 0; j < 3; j++)
      bodies[i].at[j] = i * 0.5f - j;
    for (int j = 0; j < N; j++)
      d[i][j] = i * 0.25 - j, e[i][j] = i + j * 0.125;
  }
  for (int i = 0; i < M; i++) {
    v[i] = i * 0.5, w[i] = 3 - i * 0.25, f[i] = i * 0.125f, g[i] = i % 7;
    bytes[i] = i, masks[i] = i * 37, wide[i] = i * 1000003LL;
  }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 10; j++)
      for (int k = 0; k < 12; k++)
        cube[i][j][k] = i - j * 0.5 + k * 0.25;
}

static void end(int number) {
  unsigned reals = sum(d, sizeof d) + sum(e, sizeof e) * 3 + sum(v, sizeof v) * 5 + sum(w, sizeof w) * 7;
  unsigned small = sum(f, sizeof f) + sum(g, sizeof g) * 3 + sum(bytes, sizeof bytes) * 5;
  unsigned others = sum(wide, sizeof wide) + sum(cube, sizeof cube) * 3 + sum(masks, sizeof masks) * 5;
  for (int i = 0; i < N; i++) {
    others = others * 31 + sum(&bodies[i].mass, sizeof(double)) + sum(bodies[i].at, sizeof bodies[i].at);
    others = others * 31 + bodies[i].kind;
  }
  printf("%u %u %u ", reals, small, others);
  check(number);
}

#define RUN(number, call) start(), call, end(number)

// tile

static void t0(int n) {
#pragma omp tile sizes(8, 8)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      d[i][j] = e[j][i] * 0.5 + 1;
}

static void t1(int n) {
#pragma omp tile sizes(4, 3, 5)
  for (unsigned i = 0; i < 8; i++)
    for (unsigned j = 0; j < 10; j++)
      for (unsigned k = 0; k < 12; k++)
        cube[i][j][k] = cube[i][j][k] * 2 + n;
}

static void t2(size_t n) {
#pragma omp tile sizes(16)
  for (size_t i = 0; i < n; i++)
    bytes[i] = (unsigned char)(bytes[i] ^ masks[i]);
}

static void t3(int n) {
#pragma omp tile sizes(3, 4)
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < N - 1; j++)
      e[i][j] = (d[i - 1][j] + d[i + 1][j] + d[i][j - 1] + d[i][j + 1]) * 0.25;
}

static void t4(double *restrict p, const double *restrict q, int n) {
#pragma omp tile sizes(4, 4)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 40; j++)
      p[i * 40 + j] += q[i * 40 + j] * 2;
}

static void t5(int n) {
#pragma omp tile sizes(4, 4)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      if (a[i][j] > 20)
        b[i][j] = a[i][j] - 20;
}

static void t6(int n) {
#pragma omp tile sizes(2, 6)
  for (long i = 0; i < n; i++)
    for (short j = 0; j < 3; j++)
      bodies[i].at[j] *= 1.5f;
}

static void t7(int n) {
#pragma omp tile sizes(4, 4)
  for (int i = 0; i <= n - 1; ++i)
    for (int j = N - 1; j > 0; j -= 2)
      a[i][j] += i - j;
}

static void t8(int n, int m, double (*restrict p)[m], double (*restrict q)[m]) {
#pragma omp tile sizes(4, 4)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      p[i][j] += q[i][j];
}

static void t9(int n, int m, int l, double (*restrict p)[m], double (*restrict q)[l],
               double (*restrict r)[m]) {
#pragma omp tile sizes(4, 3, 5)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < l; k++)
        p[i][j] += q[i][k] * r[k][j];
}

// stripe

static void s0(int n) {
#pragma omp stripe sizes(4)
  for (int i = 0; i < n; i++)
    v[i] = w[i] * v[i];
}

static void s1(unsigned n) {
#pragma omp stripe sizes(3)
  for (unsigned i = 2; i < n; i += 2)
    f[i] = g[i - 1] + f[i];
}

static void s2(int n) {
#pragma omp stripe sizes(2, 5)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      d[i][j] = e[i][j] - d[i][j];
}

static void s3(int n) {
#pragma omp stripe sizes(6)
  for (int i = n - 1; i >= 0; i--)
    bodies[i].mass += bodies[i].at[1];
}

static void s4(int n) {
#pragma omp stripe sizes(8)
  for (int i = 0; i < n; i++) {
    int least = x[i] < y[i] ? x[i] : y[i];
    z[i] = least * 2;
  }
}

static void s5(int n) {
#pragma omp stripe sizes(4)
  for (int i = 0; i < n; i++)
    y[i] = z[x[i] & 63];
}

static void s6(int n, int m, double (*restrict p)[m], double (*restrict q)[m]) {
#pragma omp stripe sizes(3, 4)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      p[i][j] -= q[i][j];
}

// unroll

static void u0(int n) {
#pragma omp unroll partial(4)
  for (int i = 0; i < n; i++)
    v[i + 1] = v[i] * 0.5 + w[i];
}

static void u1(int n) {
  double total = 0;
#pragma omp unroll partial(3)
  for (int i = 0; i < n; i++)
    total += v[i];
  w[0] = total;
}

static void u2(int n) {
#pragma omp unroll full
  for (int i = 0; i < 3; i++)
#pragma omp unroll full
    for (int j = 0; j < 4; j++)
      d[i][j] += n * j;
}

static void u3(unsigned char n) {
#pragma omp unroll partial(5)
  for (unsigned char i = 0; i < n; i++)
    bytes[i] += masks[i];
}

static void u4(int n) {
#pragma omp unroll partial(2)
  for (int i = n; i > 0; i -= 3)
    x[i] += x[i - 1];
}

static void u5(int n) {
#pragma omp unroll partial(4)
  for (int i = 0; i != n; i++) {
    if (x[i] & 1)
      continue;
    y[i] = x[i] / 2;
  }
}

static void u6(int *p, int *q, int n) {
#pragma omp unroll partial(4)
  for (int i = 0; i < n; i++)
    p[i] = q[i] + 1;
}

// reverse

static void r0(int n) {
#pragma omp reverse
  for (int i = 0; i < n; i++)
    v[i] = w[i + 1] - v[i];
}

static void r1(int n) {
#pragma omp reverse
  for (int i = 0; i < n; i++)
    wide[i] = wide[i] * 3 + i;
}

static void r2(int n) {
#pragma omp reverse
  for (unsigned i = 4; i < (unsigned)n; i += 4)
    bytes[i] = masks[i / 4];
}

static void r3(const float *restrict p, float *restrict q, long n) {
#pragma omp reverse
  for (long i = 0; i < n; i++)
    q[i] = p[i] > 2 ? p[i] : -p[i];
}

static void r4(int n) {
#pragma omp reverse
  for (int i = 0; i < n; i++)
    y[i] = z[(x[i] * 3) & 127];
}

static void r5(int n) {
  for (int i = 0; i < n; i++)
#pragma omp reverse
    for (int j = 0; j < N - 1; j++)
      d[i][j] = d[i][j] + e[i][j + 1];
}

// interchange

static void i0(int n) {
#pragma omp interchange
  for (int i = 0; i < N; i++)
    for (int j = 0; j < n; j++)
      d[j][i] = e[j][i] * 2;
}

static void i1(int n) {
#pragma omp interchange permutation(3, 1, 2)
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 10; j++)
      for (int k = 0; k < 12; k++)
        cube[i][j][k] += n;
}

static void i2(int n) {
#pragma omp interchange
  for (int i = 1; i < n; i++)
    for (int j = 1; j < N; j++)
      d[i][j] += d[i - 1][j - 1];
}

static void i3(int n) {
#pragma omp interchange
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      x[j] += a[i][j];
}

static void i4(int n) {
#pragma omp interchange permutation(2, 1)
  for (unsigned i = 0; i < (unsigned)n; i += 2)
    for (int j = N - 1; j >= 0; j--)
      a[i][j] = b[j][i];
}

static void i5(int n) {
#pragma omp interchange permutation(1, 3, 2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        c[i][j] += a[i][k] * b[k][j];
}

static void i6(int n, int m, double (*restrict p)[m], double (*restrict q)[m]) {
#pragma omp interchange
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      p[i][j] = q[i][j] * 2 - p[i][j];
}

// fuse

static void m0(int n) {
#pragma omp fuse
  {
    for (int i = 0; i < n; i++)
      v[i] = w[i] * 2;
    for (int i = 0; i < n; i++)
      w[i] = v[i] + 1;
  }
}

static void m1(int n) {
#pragma omp fuse
  {
    for (int i = 0; i < n; i++)
      f[i] += 1;
    for (long j = 0; j < n; j++)
      g[j] -= f[j];
  }
}

static void m2(int n) {
#pragma omp fuse
  {
    for (int i = 0; i < n; i++)
      if (x[i] > 10)
        y[i] = 0;
    for (int i = 0; i < n; i++)
      if (y[i] == 0)
        z[i]++;
  }
}

static void m3(int n) {
  int first = 0, second = 0;
#pragma omp fuse
  {
    for (int i = 0; i < n; i++)
      first += x[i];
    for (int i = 0; i < n; i++)
      second += y[i] * x[i];
  }
  z[0] = first, z[1] = second;
}

static void m4(int n) {
#pragma omp fuse
  {
    for (int i = 0; i < n; i++)
      bodies[i].mass += 1;
    for (int i = 0; i < n; i++)
      bodies[i].at[2] = (float)bodies[i].mass;
  }
}

static void m5(int n) {
#pragma omp fuse looprange(1, 2)
  {
    for (int i = 0; i < n; i++)
      x[i]++;
    for (int i = 0; i < n; i++)
      y[i] += x[i];
    for (int i = 0; i < n; i++)
      z[i] += y[n - 1 - i];
  }
}

// split

static void p0(int n) {
#pragma omp split counts(1, omp_fill, 1)
  for (int i = 0; i < n; i++)
    v[i] = v[i] * 0.5 + w[i];
}

static void p1(int n) {
#pragma omp split counts(8, omp_fill)
  for (int i = 3; i < n; i += 3)
    bytes[i] ^= masks[i];
}

static void p2(int n) {
  double total = 0;
#pragma omp split counts(5, omp_fill, 5)
  for (int i = 0; i < n; i++)
    total = total * 0.5 + v[i];
  w[1] = total;
}

static void p3(int n) {
#pragma omp split counts(2, 2, omp_fill)
  for (int i = n - 1; i >= 0; i--)
    x[i] += y[i];
}

static void p4(int *p, int *q, int n) {
#pragma omp split counts(7, omp_fill)
  for (int i = 0; i < n; i++)
    p[i] = q[i] * 3;
}

static void p5(int n) {
#pragma omp split counts(omp_fill, 1)
  for (int i = 0; i < n; i++) {
    y[i] = x[i];
    if (i == n - 1)
      y[i] = 0;
  }
}

// flatten

static void l0(int n) {
#pragma omp flatten
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      d[i][j] = d[i][j] * 0.5 + e[j][i];
}

static void l1(int n) {
#pragma omp flatten depth(3)
  for (unsigned i = 0; i < 8; i++)
    for (unsigned j = 0; j < 10; j++)
      for (unsigned k = 0; k < 12; k++)
        cube[i][j][k] -= n;
}

static void l2(int n) {
#pragma omp flatten
  for (int i = n - 1; i >= 0; i--)
    for (int j = 1; j < N; j++)
      a[i][j] += a[i][j - 1];
}

static void l3(int n) {
#pragma omp flatten
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 3; j++)
      bodies[i].at[j] += 1;
}

static void l4(int n) {
#pragma omp flatten
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      x[j] = x[j] / 2 + a[i][j];
}

static void l5(int n) {
#pragma omp flatten
  for (int i = 0; i < n; i++)
    for (int j = 0; j < N; j++)
      if (a[i][j] > b[i][j])
        c[i][j] = 1;
}

int main(void) {
  const int sizes[] = {0, 1, 7, N};
  for (int at = 0; at < 4; at++) {
    int n = sizes[at];
    RUN(0, t0(n));
    RUN(1, t1(n));
    RUN(2, t2(n * 30));
    RUN(3, t3(n));
    RUN(4, t4(&d[0][0], &e[0][0], n));
    RUN(5, t5(n));
    RUN(6, t6(n));
    RUN(7, t7(n));
    RUN(8, t8(n, 30, (double (*)[30])d, (double (*)[30])e));
    RUN(9, t9(n, 20, 30, (double (*)[20])d, (double (*)[30])e, (double (*)[20])v));
    RUN(10, s0(n * 31));
    RUN(11, s1(n * 31));
    RUN(12, s2(n));
    RUN(13, s3(n));
    RUN(14, s4(n * 29));
    RUN(15, s5(n * 29));
    RUN(16, s6(n, 30, (double (*)[30])d, (double (*)[30])e));
    RUN(20, u0(n * 27));
    RUN(21, u1(n * 27));
    RUN(22, u2(n));
    RUN(23, u3(n * 5));
    RUN(24, u4(n * 3));
    RUN(25, u5(n * 3));
    RUN(26, u6(x, y, n * 3));
    RUN(27, u6(x + 1, x, n * 3));
    RUN(30, r0(n * 33));
    RUN(31, r1(n * 33));
    RUN(32, r2(n * 33));
    RUN(33, r3(f, g, n * 33));
    RUN(34, r4(n * 33));
    RUN(35, r5(n));
    RUN(40, i0(n));
    RUN(41, i1(n));
    RUN(42, i2(n));
    RUN(43, i3(n));
    RUN(44, i4(n));
    RUN(45, i5(n));
    RUN(46, i6(n, 30, (double (*)[30])d, (double (*)[30])e));
    RUN(50, m0(n * 33));
    RUN(51, m1(n * 33));
    RUN(52, m2(n * 33));
    RUN(53, m3(n * 33));
    RUN(54, m4(n));
    RUN(55, m5(n * 33));
    RUN(60, p0(n * 33));
    RUN(61, p1(n * 33));
    RUN(62, p2(n * 33));
    RUN(63, p3(n * 33));
    RUN(64, p4(x, y, n * 33));
    RUN(65, p4(x + 1, x, n * 33));
    RUN(66, p5(n * 33));
    RUN(70, l0(n));
    RUN(71, l1(n));
    RUN(72, l2(n));
    RUN(73, l3(n));
    RUN(74, l4(n));
    RUN(75, l5(n));
  }
  return 0;
}
