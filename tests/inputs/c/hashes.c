// Hashes, checksums, ciphers, histograms and bits.
#include <stddef.h>
#include <stdint.h>

uint32_t fnv(const uint8_t *p, size_t n) {
  uint32_t h = 2166136261u;
  for (size_t i = 0; i < n; i++)
    h = (h ^ p[i]) * 16777619u;
  return h;
}

uint32_t adler(const uint8_t *p, size_t n) {
  uint32_t a = 1, b = 0;
  while (n--) {
    a = (a + *p++) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

uint32_t crc_bits(const uint8_t *p, int n) {
  uint32_t c = ~0u;
  for (int i = 0; i < n; i++) {
    c ^= p[i];
    for (int k = 0; k < 8; k++)
      c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
  }
  return ~c;
}

void crc_table(uint32_t table[256]) {
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++)
      c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
    table[i] = c;
  }
}

uint32_t crc(const uint32_t table[256], const uint8_t *p, size_t n) {
  uint32_t c = ~0u;
  for (; n; n--)
    c = table[(c ^ *p++) & 255] ^ c >> 8;
  return ~c;
}

uint16_t internet_checksum(const uint16_t *p, unsigned n) {
  uint32_t s = 0;
  for (unsigned i = 0; i < n; i++)
    s += p[i];
  while (s >> 16)
    s = (s & 0xffff) + (s >> 16);
  return (uint16_t)~s;
}

void histogram(int *counts, const uint8_t *p, int n) {
  for (int i = 0; i < 256; i++)
    counts[i] = 0;
  for (int i = 0; i < n; i++)
    counts[p[i]]++;
}

void histogram_of_floats(unsigned *counts, int bins, const float *x, size_t n) {
  for (int b = 0; b < bins; b++)
    counts[b] = 0;
  for (size_t i = 0; i < n; i++)
    counts[(int)(x[i] * bins)]++;
}

void cumulative(int *restrict sums, const int *counts) {
  int s = 0;
  for (int i = 0; i < 256; i++) {
    s += counts[i];
    sums[i] = s;
  }
}

void equalize(uint8_t *p, int n, const int *sums) {
  for (int i = 0; i < n; i++)
    p[i] = (uint8_t)(sums[p[i]] * 255L / n);
}

int bits_set(const uint64_t *words, int n) {
  int count = 0;
  for (int i = 0; i < n; i++)
    for (uint64_t w = words[i]; w; w &= w - 1)
      count++;
  return count;
}

void set_bits(uint32_t *words, unsigned from, unsigned to) {
  for (unsigned i = from; i < to; i++)
    words[i / 32] |= 1u << i % 32;
}

void key_schedule(uint8_t *s, const uint8_t *key, int m) {
  for (int i = 0; i < 256; i++)
    s[i] = (uint8_t)i;
  for (int i = 0, j = 0; i < 256; i++) {
    j = (j + s[i] + key[i % m]) & 255;
    uint8_t t = s[i];
    s[i] = s[j];
    s[j] = t;
  }
}

void tea(uint32_t v[2], const uint32_t key[4]) {
  uint32_t sum = 0;
  for (int i = 0; i < 32; i++) {
    sum += 0x9e3779b9u;
    v[0] += ((v[1] << 4) + key[0]) ^ (v[1] + sum) ^ ((v[1] >> 5) + key[1]);
    v[1] += ((v[0] << 4) + key[2]) ^ (v[0] + sum) ^ ((v[0] >> 5) + key[3]);
  }
}

void message_schedule(uint32_t w[80]) {
  for (int i = 16; i < 80; i++) {
    uint32_t t = w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16];
    w[i] = t << 1 | t >> 31;
  }
}

void xor_blocks(uint8_t *restrict to, const uint8_t *from, const uint8_t pad[16], size_t blocks) {
  for (size_t b = 0; b < blocks; b++)
    for (int i = 0; i < 16; i++)
      to[16 * b + i] = from[16 * b + i] ^ pad[i];
}

int probe(const uint32_t *keys, uint32_t mask, uint32_t key) {
  uint32_t at = key * 2654435761u & mask;
  while (keys[at] && keys[at] != key)
    at = (at + 1) & mask;
  return (int)at;
}

void reverse_bits(uint8_t *p, int n) {
  for (int i = 0; i < n; i++) {
    uint8_t v = p[i], r = 0;
    for (int k = 0; k < 8; k++) {
      r = (uint8_t)(r << 1 | (v & 1));
      v >>= 1;
    }
    p[i] = r;
  }
}

uint64_t linear_congruence(uint64_t *to, int n, uint64_t seed) {
  for (int i = 0; i < n; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    to[i] = seed >> 33;
  }
  return seed;
}

int parity(const uint8_t *p, unsigned short n) {
  uint8_t x = 0;
  for (unsigned short i = 0; i < n; i++)
    x ^= p[i];
  return __builtin_parity(x);
}
