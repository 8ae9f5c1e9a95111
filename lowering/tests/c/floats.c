// Arithmetic of float and double: conversions, comparisons with NaN, remainders, library functions.
#include <math.h>
#include <stdio.h>

double newton(double x) {
    double r = x;
    for (int i = 0; i < 20; i++)
        r = 0.5 * (r + x / r);
    return r;
}

float horner(float x) {
    static const float c[] = {0.5f, -1.25f, 3.0f, 0.1f};
    float r = 0;
    for (int i = 0; i < 4; i++)
        r = r * x + c[i];
    return r;
}

int order(double a, double b) { return (a < b) + 2 * (a == b) + 4 * (a > b) + 8 * (a != b) + 16 * !(a <= b) + 32 * !!(a >= b); }

int truncations(double x) { return (int)x + (int)(unsigned char)(unsigned)x + (int)(long)(x * 1000) % 97; }

int main(void) {
    double nan = __builtin_nan(""), inf = __builtin_inf();
    printf("%.12f %.6f\n", newton(2), horner(1.5f));
    printf("%d %d %d %d %d\n", order(1, 2), order(2, 2), order(3, 2), order(nan, 1), order(inf, -inf));
    printf("%d %d\n", truncations(77.9), truncations(-0.0));
    printf("%.6f %.6f %.6f %.6f\n", sqrt(2.0), floor(-2.5), fabs(-3.25), fmod(10.5, 3.0));
    printf("%.6f %.6f %.6f %g\n", copysign(2.0, -0.0), fmin(1.0, nan), trunc(-1.75), (double)(float)0.1);
    return 0;
}
