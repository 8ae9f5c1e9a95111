// `long double`: of 80 bits here.
#include <stdio.h>

long double series(int n) {
    long double s = 0, term = 1;
    for (int i = 1; i <= n; i++) {
        s += term;
        term /= i;
    }
    return s;
}

int main(void) {
    static const long double table[] = {1.0L, -0.1L, 1e4000L};
    printf("%.18Lf\n", series(25));
    printf("%.10Lf %Lg %d\n", table[1], table[2], table[0] < (long double)2);
    printf("%d %.6f %ld\n", (int)(table[0] * 3.9L), (double)series(5), (long)series(9));
    return 0;
}
