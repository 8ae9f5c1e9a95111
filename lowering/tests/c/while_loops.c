// `while` with conditions that have effects, and with a condition of several parts.
#include <stdio.h>

int collatz(int n) {
    int steps = 0;
    while (n > 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}

int digits(unsigned n) {
    int d = 0;
    while (n)
        d += (int)(n % 10), n /= 10;
    return d;
}

int gcd(int a, int b) {
    int t;
    while ((t = a % b) != 0) {
        a = b;
        b = t;
    }
    return b;
}

int main(void) {
    int i = 1;
    while (i++ < 30 && collatz(i) < 100)
        printf("%d:%d,%d,%d ", i, collatz(i), digits((unsigned)(i * i * 977)), gcd(i * 12, 18));
    printf("\n");
    return 0;
}
