// Structs, arrays of structs, lists and trees.
#include <stddef.h>
#include <stdint.h>

struct point {
  double x, y, z;
};

struct pixel {
  uint8_t r, g, b, a;
};

struct body {
  struct point at, speed;
  float mass;
  int kind;
};

struct matrix {
  int rows, cols;
  double *data;
};

struct grid {
  int n;
  float cells[32][32];
};

struct node {
  int value;
  struct node *next;
};

void translate(struct point *p, int n, double dx, double dy, double dz) {
  for (int i = 0; i < n; i++) {
    p[i].x += dx;
    p[i].y += dy;
    p[i].z += dz;
  }
}

void lengths(double *restrict to, const struct point *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    to[i] = p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z;
}

void center(struct point *restrict to, const struct point *p, unsigned n) {
  to->x = to->y = to->z = 0;
  for (unsigned i = 0; i < n; i++) {
    to->x += p[i].x;
    to->y += p[i].y;
    to->z += p[i].z;
  }
}

void premultiply(struct pixel *p, int n) {
  for (int i = 0; i < n; i++) {
    p[i].r = (uint8_t)(p[i].r * p[i].a / 255);
    p[i].g = (uint8_t)(p[i].g * p[i].a / 255);
    p[i].b = (uint8_t)(p[i].b * p[i].a / 255);
  }
}

void opaque(struct pixel *p, struct pixel *end) {
  for (; p != end; p++)
    p->a = 255;
}

void step(struct body *b, int n, double t) {
  for (int i = 0; i < n; i++) {
    b[i].at.x += t * b[i].speed.x;
    b[i].at.y += t * b[i].speed.y;
    b[i].at.z += t * b[i].speed.z;
  }
}

float total_mass(const struct body *b, int n, int kind) {
  float m = 0;
  for (int i = 0; i < n; i++)
    if (b[i].kind == kind)
      m += b[i].mass;
  return m;
}

void split(double *restrict x, double *restrict y, double *restrict z, const struct point *p, int n) {
  for (int i = 0; i < n; i++) {
    x[i] = p[i].x;
    y[i] = p[i].y;
    z[i] = p[i].z;
  }
}

void zero_matrix(struct matrix *m) {
  for (int i = 0; i < m->rows; i++)
    for (int j = 0; j < m->cols; j++)
      m->data[i * m->cols + j] = 0;
}

void scale_matrix(const struct matrix *m, double by) {
  int rows = m->rows, cols = m->cols;
  double *data = m->data;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++)
      data[i * cols + j] *= by;
}

void smooth_grid(struct grid *restrict to, const struct grid *from) {
  for (int i = 1; i < 31; i++)
    for (int j = 1; j < 31; j++)
      to->cells[i][j] = (from->cells[i][j - 1] + from->cells[i][j] + from->cells[i][j + 1]) / 3;
}

void part_of_grid(struct grid *g) {
  for (int i = 0; i < g->n; i++)
    for (int j = 0; j < g->n; j++)
      g->cells[i][j] = 1;
}

long sum_list(const struct node *n) {
  long s = 0;
  for (; n; n = n->next)
    s += n->value;
  return s;
}

void link_all(struct node *nodes, int n) {
  for (int i = 0; i + 1 < n; i++)
    nodes[i].next = &nodes[i + 1];
  nodes[n - 1].next = 0;
}

void nearest(int *restrict to, const struct point *p, int n, const struct point *c, int k) {
  for (int i = 0; i < n; i++) {
    double best = 1e300;
    for (int j = 0; j < k; j++) {
      double dx = p[i].x - c[j].x, dy = p[i].y - c[j].y;
      double d = dx * dx + dy * dy;
      if (d < best) {
        best = d;
        to[i] = j;
      }
    }
  }
}

int32_t globals[64], table[16][16];

void use_globals(void) {
  for (int i = 0; i < 64; i++)
    globals[i] = i * i;
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++)
      table[i][j] = globals[i] + globals[j];
}
