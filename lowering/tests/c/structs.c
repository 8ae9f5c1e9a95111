// Structs by value, by pointer, in arrays, in each other; large ones are passed in memory.
#include <stdio.h>

struct point { int x, y; };
struct mixed { char c; double d; short s; };
struct large { long a[5]; struct point p; };

struct point add(struct point a, struct point b) { return (struct point){a.x + b.x, a.y * b.y}; }

struct mixed turn(struct mixed m) {
    struct mixed r = {(char)(m.c + 1), -m.d, (short)(m.s * 2)};
    return r;
}

long total(struct large l) {
    long s = l.p.x;
    for (int i = 0; i < 5; i++)
        s = s * 3 + l.a[i];
    l.p.x = 0;
    return s;
}

struct large fill(int n) {
    struct large l = {.p = {n, -n}};
    for (int i = 0; i < 5; i++)
        l.a[i] = n * i;
    return l;
}

void scale(struct point *p, int n) {
    for (int i = 0; i < n; i++)
        p[i].x *= i, p[i].y -= p[i].x;
}

int main(void) {
    struct point ps[6];
    for (int i = 0; i < 6; i++)
        ps[i] = add((struct point){i, 2}, (struct point){7, i});
    scale(ps, 6);
    for (int i = 0; i < 6; i++)
        printf("(%d,%d) ", ps[i].x, ps[i].y);
    struct mixed m = turn((struct mixed){'a', 2.5, 21});
    struct large l = fill(9), copy = l;
    copy.a[2] = 1;
    printf("%c %g %d %ld %ld\n", m.c, m.d, m.s, total(l), total(copy));
    return 0;
}
