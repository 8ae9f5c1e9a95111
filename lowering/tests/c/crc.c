// Checksums: by bits, by a table made first, and of a cipher's stream.
#include <stdint.h>
#include <stdio.h>

static uint32_t table[256];

uint32_t by_bits(uint32_t crc, int n) {
    for (int i = 0; i < n; i++) {
        crc ^= (uint32_t)(i * 3 & 255);
        for (int k = 0; k < 8; k++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return crc;
}

uint32_t by_table(uint32_t crc, int n) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c >> 1 ^ (-(c & 1) & 0xedb88320u);
        table[i] = c;
    }
    for (int i = 0; i < n; i++)
        crc = table[(crc ^ (uint32_t)(i * 3)) & 255] ^ crc >> 8;
    return crc;
}

uint64_t stream(uint64_t seed, int n) {
    uint8_t s[256], i = 0, j = 0;
    for (int k = 0; k < 256; k++)
        s[k] = (uint8_t)k;
    for (int k = 0; k < 256; k++) {
        j = (uint8_t)(j + s[k] + (uint8_t)(seed >> (k % 8 * 8)));
        uint8_t t = s[k];
        s[k] = s[j];
        s[j] = t;
    }
    uint64_t out = 0;
    for (int k = 0; k < n; k++) {
        j = (uint8_t)(j + s[++i]);
        out = out << 7 ^ out >> 57 ^ s[(uint8_t)(s[i] + s[j])];
    }
    return out;
}

int main(void) {
    printf("%x %d %lx\n", by_bits(~0u, 100), by_bits(~0u, 100) == by_table(~0u, 100), (unsigned long)stream(0x0102030405060708, 50));
    return 0;
}
