// What the compiler has instructions for: counts of bits, byte order, overflow, saturation, minima.
#include <stdint.h>
#include <stdio.h>

int counts(unsigned x) { return __builtin_popcount(x) * 10000 + (x ? __builtin_clz(x) * 100 + __builtin_ctz(x) : 3299); }
uint64_t swap(uint64_t x) { return __builtin_bswap64(x) ^ __builtin_bswap32((uint32_t)x) ^ __builtin_bitreverse16((uint16_t)x); }

int checked(int a, int b) {
    int s = 0, overflows = 0;
    for (int i = 0; i < 40; i++) {
        overflows += __builtin_add_overflow(a, b, &a);
        overflows += __builtin_mul_overflow(b, 3, &b) << 8;
        s ^= a;
    }
    unsigned u;
    return s + overflows + __builtin_sub_overflow((unsigned)a, (unsigned)b, &u);
}

int saturate(int a, int b) {
    int16_t r = 0;
    for (int i = 0; i < 20; i++)
        r = __builtin_elementwise_add_sat(r, (int16_t)(a + i * b));
    return r;
}

int limits(int n) {
    int low = 0, high = 0;
    for (int i = 0; i < n; i++) {
        int x = i * i % 37 - 18;
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    return low * 100 + high + __builtin_abs(low);
}

int main(void) {
    for (unsigned x = 0; x < 100000; x = x * 7 + 5)
        printf("%d %lx\n", counts(x), (unsigned long)swap(x * 0x9e3779b97f4a7c15));
    printf("%d %d %d\n", checked(100, 77), saturate(1000, 300), limits(50));
    return 0;
}
