// Stencils over time: two buffers swapped, sums of prefixes, a convolution.
#include <stdio.h>

#define N 64
static double first[N], second[N];

double heat(int steps) {
    double *from = first, *to = second;
    for (int i = 0; i < N; i++)
        from[i] = i % 9 == 0 ? 100 : 0, to[i] = 0;
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < N - 1; i++)
            to[i] = 0.25 * from[i - 1] + 0.5 * from[i] + 0.25 * from[i + 1];
        double *swap = from;
        from = to;
        to = swap;
    }
    return from[N / 2] + from[3];
}

long prefix(int n) {
    long s[N] = {1}, total = 0;
    for (int i = 1; i < n; i++)
        s[i] = s[i - 1] * 3 % 1000 + i;
    for (int i = 0; i < n; i++)
        for (int k = -2; k <= 2; k++)
            if (i + k >= 0 && i + k < n)
                total += s[i + k] * (k + 3);
    return total;
}

int main(void) {
    printf("%.9f %.9f %ld\n", heat(3), heat(50), prefix(40));
    return 0;
}
