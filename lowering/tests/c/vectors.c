// Vectors of the language: arithmetic, comparison, shuffles, elements, conversion.
#include <stdio.h>

typedef int v4i __attribute__((vector_size(16)));
typedef float v4f __attribute__((vector_size(16)));
typedef unsigned char v16b __attribute__((vector_size(16)));
typedef long v2l __attribute__((vector_size(16)));

static int across(v4i v) {
    v &= 0xffff;
    return v[0] + 2 * v[1] + 3 * v[2] + 4 * v[3];
}

int iterate(int n) {
    v4i a = {1, 2, 3, 4}, b = {n, -n, n * 2, 7};
    for (int i = 0; i < n; i++) {
        a = a * b + (v4i){i, i, i, i};
        b ^= a >> 2;
        v4i less = a < b;
        a = (a & less) | ((b - 1) & ~less);
        b = __builtin_shufflevector(b, a, 3, 4, 1, 6);
        a[i & 3] += i;
    }
    return across(a) ^ across(b);
}

float floats(float x) {
    v4f a = {x, x * 2, x * 3, 1}, s = {0};
    for (int i = 0; i < 10; i++) {
        s += a / (a * a + (float)(i + 1));
        a = -a;
    }
    return s[0] + s[1] + s[2] + s[3];
}

int bytes(int n) {
    v16b v = {0};
    for (int i = 0; i < n; i++)
        v = v * 3 + (unsigned char)i;
    v2l l = (v2l)v;
    v4i w = __builtin_convertvector((v4f){1.5f, -2.5f, 1e3f, 0.f}, v4i);
    return (int)(l[0] ^ l[1]) + across(w);
}

int main(void) {
    for (int n = 0; n < 12; n += 3)
        printf("%d %.5f %d\n", iterate(n), floats((float)n + 0.5f), bytes(n));
    return 0;
}
