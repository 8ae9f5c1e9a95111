// Integers of any width, beyond 128 bits too.
#include <stdio.h>

static const unsigned _BitInt(200) wide = 0x123456789abcdef0123456789abcdef0123456789abcdef01wb;
static _BitInt(37) odd_width = -5wb;

unsigned _BitInt(200) shuffle(unsigned _BitInt(200) x, int n) {
    for (int i = 0; i < n; i++)
        x = (x << 13) ^ (x >> 7) ^ wide;
    return x;
}

int small(int n) {
    unsigned _BitInt(5) x = 1;
    for (int i = 0; i < n; i++)
        x = (unsigned _BitInt(5))(x * 5 + i);
    return (int)x;
}

int main(void) {
    unsigned _BitInt(200) x = shuffle(wide, 9);
    for (int i = 0; i < 4; i++)
        printf("%lx ", (unsigned long)(x >> (i * 50)));
    odd_width = odd_width * 1000000007wb;
    printf("%ld %d %d\n", (long)odd_width, small(9), x == wide);
    return 0;
}
