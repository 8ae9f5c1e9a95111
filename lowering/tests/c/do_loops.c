// `do`: bodies that run at least once, nested in each other.
#include <stdio.h>

unsigned reverse(unsigned n) {
    unsigned r = 0;
    do {
        r = r * 10 + n % 10;
        n /= 10;
    } while (n);
    return r;
}

int count(int n, int m) {
    int c = 0, i = 0;
    do {
        int j = i;
        do {
            c += (i ^ j) & 3;
        } while (++j < m);
    } while (++i < n);
    return c;
}

int main(void) {
    for (unsigned i = 0; i < 5000; i = i * 3 + 7)
        printf("%u %u %d\n", i, reverse(i), count((int)(i % 13), (int)(i % 7)));
    return 0;
}
