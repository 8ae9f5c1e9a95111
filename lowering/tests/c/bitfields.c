// Bit-fields, signed and not, across units, packed; a union to look at them.
#include <stdio.h>

struct fields { unsigned a : 3; int b : 5; unsigned c : 11; int : 0; unsigned long d : 37; signed char e : 2; };
struct __attribute__((packed)) tight { unsigned a : 7; unsigned b : 17; unsigned c : 8; };

union view { struct tight t; unsigned word; };

int main(void) {
    struct fields f = {0};
    unsigned long s = 0;
    for (int i = 0; i < 50; i++) {
        f.a += 3;
        f.b -= (int)f.a;
        f.c = f.c * 5 + f.a;
        f.d += (unsigned long)f.c << 20;
        f.e ^= f.b;
        s = s * 31 + f.a + f.b + f.c + f.d + f.e;
    }
    union view v = {.t = {100, 70000, 200}};
    printf("%lx %x\n", s, v.word);
    v.word += 0x01020304;
    printf("%u %u %u\n", v.t.a, v.t.b, v.t.c);
    return 0;
}
