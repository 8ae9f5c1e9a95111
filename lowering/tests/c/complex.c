// Complex numbers, and the set of Mandelbrot.
#include <complex.h>
#include <stdio.h>

double complex power(double complex z, int n) {
    double complex r = 1;
    for (int i = 0; i < n; i++)
        r *= z;
    return r;
}

int escape(double x, double y) {
    double a = x, b = y;
    int n = 0;
    while (a * a + b * b <= 4 && n < 60) {
        double t = a * a - b * b + x;
        b = 2 * a * b + y;
        a = t;
        n++;
    }
    return n;
}

float _Complex divide(float _Complex a, float _Complex b) { return a / b; }

int main(void) {
    double complex z = power(0.5 + 0.25 * I, 5);
    float _Complex q = divide(1.0f + 2.0f * I, 3.0f - 1.0f * I);
    printf("%.8f %.8f %.4f %.4f\n", creal(z), cimag(z), (double)crealf(q), (double)cimagf(q));
    for (double y = -1; y <= 1; y += 0.5)
        for (double x = -2; x <= 0.5; x += 0.5)
            printf("%d ", escape(x, y));
    printf("\n");
    return 0;
}
