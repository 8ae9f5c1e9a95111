// Variable arguments, defined here: of several types, handed on, copied.
#include <stdarg.h>
#include <stdio.h>

struct pair { long a, b; };

static double sum(const char *types, ...) {
    va_list list;
    double s = 0;
    va_start(list, types);
    for (; *types; types++)
        switch (*types) {
        case 'i': s += va_arg(list, int); break;
        case 'l': s += (double)va_arg(list, long); break;
        case 'd': s += va_arg(list, double); break;
        case 'p': s += (double)*va_arg(list, int *); break;
        case 's': { struct pair p = va_arg(list, struct pair); s += (double)(p.a - p.b); break; }
        }
    va_end(list);
    return s;
}

static int twice(int n, va_list list) {
    va_list again;
    va_copy(again, list);
    int s = 0;
    for (int i = 0; i < n; i++)
        s += va_arg(list, int);
    for (int i = 0; i < n; i++)
        s = s * 2 - va_arg(again, int);
    va_end(again);
    return s;
}

static int both(int n, ...) {
    va_list list;
    va_start(list, n);
    int s = twice(n, list);
    va_end(list);
    return s;
}

int main(void) {
    int x = 40;
    struct pair p = {100, 58};
    printf("%g %d\n", sum("iidlpsd", 1, 2, 0.5, 1L << 40, &x, p, -1.25), both(9, 1, 2, 3, 4, 5, 6, 7, 8, 9));
    return 0;
}
