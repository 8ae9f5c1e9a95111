// Unions: bits seen as another type, a tagged union walked by a loop.
#include <stdio.h>
#include <string.h>

union bits { float f; unsigned u; unsigned char c[4]; };
struct value { enum { INT, REAL, TEXT } tag; union { int i; double d; const char *s; } as; };

unsigned mantissa(float f) {
    union bits b = {.f = f};
    return b.u & 0x7fffff;
}

double sum(const struct value *v, int n) {
    double s = 0;
    for (int i = 0; i < n; i++)
        switch (v[i].tag) {
        case INT: s += v[i].as.i; break;
        case REAL: s += v[i].as.d; break;
        case TEXT: s += (double)strlen(v[i].as.s);
        }
    return s;
}

int main(void) {
    struct value v[] = {{INT, {.i = 4}}, {REAL, {.d = 0.25}}, {TEXT, {.s = "seven chars"}}, {INT, {.i = -9}}};
    union bits b = {.u = 0x40490fdb};
    printf("%g %f %u %d\n", sum(v, 4), b.f, mantissa(1.7f), b.c[1]);
    return 0;
}
