// Products of matrices in float and double, and what -O2 makes of them.
#include <stdio.h>

#define N 12
static double a[N][N], b[N][N], c[N][N];
static float f[N * N], g[N * N];

double trace(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = i + j * 0.5;
            b[i][j] = (i * 7 + j) % 5;
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int k = 0; k < N; k++)
                s += a[i][k] * b[k][j];
            c[i][j] = s;
        }
    double t = 0;
    for (int i = 0; i < N; i++)
        t += c[i][i];
    return t;
}

float saxpy(float x) {
    for (int i = 0; i < N * N; i++)
        f[i] = (float)i, g[i] = 1.0f / (float)(i + 1);
    for (int i = 0; i < N * N; i++)
        g[i] += x * f[i];
    return g[77] + g[143];
}

int main(void) {
    printf("%.6f %.4f\n", trace(), saxpy(0.3f));
    return 0;
}
