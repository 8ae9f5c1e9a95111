// Integers of each width and sign: wrapping, shifts, division, conversion.
#include <stdint.h>
#include <stdio.h>

uint8_t byte(uint8_t x, int n) {
    for (int i = 0; i < n; i++)
        x = (uint8_t)(x * 5 + 3) ^ (uint8_t)(x >> 3);
    return x;
}

int16_t half(int16_t x, int n) {
    for (int i = 0; i < n; i++)
        x = (int16_t)(x * 31 - (x >> 2));
    return x;
}

int divide(int a, int b) { return b ? a / b * 1000 + a % b : -1; }
unsigned divide_unsigned(unsigned a, unsigned b) { return b ? a / b * 7 + a % b : 0; }
int by_constants(int a) { return a / 7 + a % 10 + a / -3 + (a >> 4) + a / 8 + a % 16; }
uint64_t rotate(uint64_t x, unsigned r) { return x << (r & 63) | x >> (-r & 63); }
int extend(signed char c, unsigned char u) { return c * 1000 + u; }

int main(void) {
    for (int i = -3; i < 20; i += 4)
        printf("%d %d %d %u %d\n", byte((uint8_t)i, 9), half((int16_t)i, 7), divide(i * 1001, i - 1), divide_unsigned((unsigned)i, 13), by_constants(i * 12345));
    printf("%lx %d\n", (unsigned long)rotate(0x123456789abcdef, 77), extend(-100, 200));
    return 0;
}
