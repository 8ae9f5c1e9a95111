// `for` in its shapes: up, down, by steps, with two variables, without a body, never entered.
#include <stdio.h>

int sum_up(int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += i * i;
    return s;
}

int sum_down(int n) {
    int s = 1;
    for (int i = n; i > 0; i -= 3)
        s = s * 3 % 10007 + i;
    return s;
}

long meet(long a, long b) {
    long steps = 0;
    for (; a < b; a += 2, b -= 3, steps++)
        ;
    return steps * 1000 + a - b;
}

unsigned powers(unsigned limit) {
    unsigned s = 0;
    for (unsigned i = 1; i < limit; i *= 2)
        s ^= i * 2654435761u;
    return s;
}

int main(void) {
    for (int n = -2; n < 40; n += 7)
        printf("%d %d %ld %u\n", sum_up(n), sum_down(n), meet(n, 3 * n), powers((unsigned)(n & 1023)));
    return 0;
}
