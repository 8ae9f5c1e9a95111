// `break`, `continue` and `return` out of nests: loops with several exits.
#include <stdio.h>

int first_multiple(int n, int of) {
    for (int i = 1; i < n; i++) {
        if (i % of)
            continue;
        if (i > 10)
            return i;
        for (int j = i; j < n; j++) {
            if (j * i == 56)
                return -j;
            if (j - i > of)
                break;
        }
    }
    return 0;
}

int prime_gap(int limit) {
    int last = 2, gap = 0;
    for (int i = 3;; i += 2) {
        if (i > limit)
            break;
        int composite = 0;
        for (int d = 3; d * d <= i; d += 2)
            if (i % d == 0) {
                composite = 1;
                break;
            }
        if (composite)
            continue;
        if (i - last > gap)
            gap = i - last;
        last = i;
    }
    return gap * 10000 + last;
}

int main(void) {
    for (int i = 1; i < 20; i++)
        printf("%d %d\n", first_multiple(60, i), prime_gap(i * 17));
    return 0;
}
