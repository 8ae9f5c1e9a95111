// Conversions between integers, floats and pointers of every width, and decimal text.
#include <stdint.h>
#include <stdio.h>

int print_decimal(long long n, char *to) {
    char digits[24];
    int count = 0, length = 0;
    unsigned long long u = n < 0 ? -(unsigned long long)n : (unsigned long long)n;
    do
        digits[count++] = (char)('0' + u % 10);
    while (u /= 10);
    if (n < 0)
        to[length++] = '-';
    while (count)
        to[length++] = digits[--count];
    to[length] = 0;
    return length;
}

double chain(double x) { return (double)(float)(int)(short)(unsigned char)(long)x + (double)(unsigned)x + (double)(uint64_t)x; }
int64_t round_trip(int64_t x) { return (int64_t)(double)x - (int64_t)(float)x; }
_Bool truth(double x) { return x; }

int main(void) {
    char text[32];
    int length = print_decimal(-9223372036854775807 - 1, text);
    printf("%d %s %g %ld\n", length, text, chain(300.75), (long)round_trip(123456789012345));
    printf("%d%d %d\n", truth(0.0), truth(0.5), (int)((uintptr_t)&text[9] - (uintptr_t)&text[4]));
    return 0;
}
