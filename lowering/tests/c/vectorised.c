// Loops that -O2 makes vectors of: sums, products of elements, minima, bytes widened, conditions, strides.
#include <stdio.h>

#define N 203
static int a[N], b[N];
static unsigned char bytes[N];
static double d[N];

int sum(int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}

int smallest(int n) {
    int m = 1 << 30;
    for (int i = 0; i < n; i++)
        m = a[i] < m ? a[i] : m;
    return m;
}

unsigned wide(int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++)
        s += bytes[i];
    return s;
}

void clamp(int n, int low, int high) {
    for (int i = 0; i < n; i++) {
        if (a[i] < low)
            a[i] = low;
        else if (a[i] > high)
            b[i] = high - a[i];
    }
}

void halves(int n) {
    for (int i = 0; i < n; i++)
        d[i] = d[i] * 0.5 + bytes[i];
}

int strided(int n) {
    int s = 0;
    for (int i = 0; i + 1 < n; i += 2)
        s ^= a[i] - b[i + 1];
    return s;
}

int main(void) {
    for (int i = 0; i < N; i++) {
        a[i] = (i * 7919) % 1009 - 300;
        b[i] = i ^ 21;
        bytes[i] = (unsigned char)(i * 37);
        d[i] = i;
    }
    printf("%d %d %u %d\n", sum(N), smallest(N), wide(N), strided(N));
    clamp(N, -100, 400);
    halves(N);
    printf("%d %d %.3f %.3f\n", sum(150), smallest(N), d[17], d[202]);
    return 0;
}
