// `switch`: dense, sparse, ranges of cases, falling through, a default in the middle, 64 bits wide.
#include <stdio.h>

int dense(int x) {
    switch (x) {
    case 0: return 11;
    case 1: return 7;
    case 2: return 5;
    case 3: return 13;
    case 4: return 2;
    case 5: return 3;
    default: return -1;
    }
}

int fallthrough(int x) {
    int s = 0;
    switch (x & 7) {
    case 1: s += 1;
    case 2: s += 20; break;
    default: s += 5000;
    case 3 ... 5: s += 300;
    case 6: s = -s; break;
    }
    return s;
}

int sparse(long long x) {
    switch (x) {
    case -9000000000: return 1;
    case 'a' ... 'z': return 2;
    case 4000000000: return 3;
    case 0x7fffffffffffffff: return 4;
    }
    return 0;
}

int in_a_loop(int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        switch (i % 5) {
        case 0: continue;
        case 1: s += i; break;
        case 2: s ^= i;
        case 3: s <<= 1; break;
        case 4: if (s > 5000) return s;
        }
        s++;
    }
    return s;
}

int main(void) {
    for (int x = -1; x < 10; x++)
        printf("%d %d %d\n", dense(x), fallthrough(x), in_a_loop(x * 4));
    printf("%d%d%d%d%d\n", sparse(-9000000000), sparse('q'), sparse(4000000000), sparse(0x7fffffffffffffff), sparse(0));
    return 0;
}
