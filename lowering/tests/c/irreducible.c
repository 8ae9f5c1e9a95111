// `goto` into loops: cycles with two entries, and one inside another.
#include <stdio.h>

int two_entries(int n, int which) {
    int s = 0, i = 0;
    if (which)
        goto middle;
top:
    s += i * 3;
    if (i >= n)
        goto done;
middle:
    s ^= i++;
    if (s < 100000)
        goto top;
done:
    return s;
}

int nested_entries(int n, int where) {
    int i = 0, j = 0, s = 1;
    switch (where) {
    case 1: goto inner;
    case 2: goto tail;
    }
    for (i = 0; i < n; i++) {
        s = s * 5 % 65521 + 1;
        for (j = 0; j < i; j++) {
        inner:
            s += j;
            if (s % 11 == 0)
                goto tail;
        }
    tail:
        s ^= i << 2;
    }
    return s;
}

int main(void) {
    for (int n = 0; n < 25; n += 4)
        for (int w = 0; w < 3; w++)
            printf("%d %d\n", two_entries(n, w), nested_entries(n, w));
    return 0;
}
