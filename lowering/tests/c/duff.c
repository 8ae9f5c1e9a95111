// Duff's device: a `switch` whose cases are inside a loop.
#include <stdio.h>

int copy(short *to, const short *from, int count) {
    int n = (count + 7) / 8, moved = 0;
    switch (count % 8) {
    case 0: do { *to++ = *from++; moved++;
    case 7:      *to++ = *from++; moved++;
    case 6:      *to++ = *from++; moved++;
    case 5:      *to++ = *from++; moved++;
    case 4:      *to++ = *from++; moved++;
    case 3:      *to++ = *from++; moved++;
    case 2:      *to++ = *from++; moved++;
    case 1:      *to++ = *from++; moved++;
            } while (--n > 0);
    }
    return moved;
}

int main(void) {
    short a[40], b[40] = {0};
    for (int i = 0; i < 40; i++)
        a[i] = (short)(i * i - 7);
    int moved = copy(b, a, 37);
    unsigned s = 0;
    for (int i = 0; i < 40; i++)
        s = s * 3 + (unsigned)b[i];
    printf("%d %x\n", moved, s);
    return 0;
}
