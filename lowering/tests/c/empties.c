// What is hardly there: empty functions, empty loops, code that is never reached, structs of nothing.
#include <stdio.h>

struct nothing {};
void empty(void) {}
struct nothing pass(struct nothing n) { return n; }
int forever(int n) {
    for (;;) {
        if (n++ > 10)
            break;
    }
    return n;
}
int dead(int n) {
    return n;
    while (n)
        n--;
    return 5;
}
int undefined(int x) {
    if (x < 0)
        __builtin_unreachable();
    return x / 4;
}
int uninitialised(int x) {
    int y;
    if (x)
        y = 4;
    return x ? y : 0;
}

int main(void) {
    struct nothing n = {};
    empty();
    n = pass(n);
    (void)n;
    printf("%d %d %d %d\n", forever(3), dead(8), undefined(42), uninitialised(2));
    return 0;
}
