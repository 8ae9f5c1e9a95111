// Integers of 128 bits: constants, products, shifts, a switch, globals.
#include <stdio.h>

typedef unsigned __int128 u128;
typedef __int128 i128;

static u128 seed = ((u128)0x0123456789abcdefULL << 64) | 0xfedcba9876543210ULL;
static const i128 negative = -((i128)1 << 100);

u128 step(u128 x) { return x * (((u128)0x9e3779b97f4a7c15ULL << 64) | 0xf39cc0605cedc835ULL) + (x >> 77); }

int kind(i128 x) {
    switch (x) {
    case 0: return 1;
    case (i128)1 << 70: return 2;
    case -((i128)5 << 90): return 3;
    }
    return x < negative ? 4 : 5;
}

long mulhi(long a, long b) { return (long)(((i128)a * b) >> 64); }

int main(void) {
    for (int i = 0; i < 9; i++)
        seed = step(seed) ^ (u128)i << 64;
    printf("%lx %lx\n", (unsigned long)(seed >> 64), (unsigned long)seed);
    printf("%d%d%d%d%d\n", kind(0), kind((i128)1 << 70), kind(-((i128)5 << 90)), kind(negative * 2), kind(7));
    printf("%ld %lu %lu\n", mulhi(-123456789012345678, 987654321098765432), (unsigned long)(seed / 1000000007u), (unsigned long)(seed % 97));
    return 0;
}
