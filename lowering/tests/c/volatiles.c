// `volatile`: accesses that stay, of scalars, parts of structs and through pointers.
#include <stdio.h>
#include <string.h>

static volatile int port;
static volatile struct { int a; char b[4]; } device;

int poll(int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        port = i;
        port += 2;
        s += port * port;
        device.b[i & 3] = (char)i;
        device.a ^= device.b[0];
    }
    return s + device.a;
}

int main(void) {
    volatile char local[6] = "abcde";
    char *volatile p = "pointer";
    local[2]++;
    printf("%d %c %zu\n", poll(9), local[2], strlen(p));
    return 0;
}
