// The sieve of Eratosthenes, in bytes and in bits.
#include <stdio.h>

static unsigned char composite[2000];
static unsigned long words[32];

int count(int n) {
    int c = 0;
    for (int i = 2; i < n; i++) {
        if (composite[i])
            continue;
        c++;
        for (int j = i * i; j < n; j += i)
            composite[j] = 1;
    }
    return c;
}

int count_bits(unsigned n) {
    for (unsigned i = 2; i * i < n; i++)
        if (!(words[i >> 6] >> (i & 63) & 1))
            for (unsigned j = i * i; j < n; j += i)
                words[j >> 6] |= 1ul << (j & 63);
    int c = 0;
    for (unsigned i = 2; i < n; i++)
        c += !(words[i / 64] & 1ul << i % 64);
    return c;
}

int main(void) {
    printf("%d %d\n", count(2000), count_bits(2000));
    return 0;
}
