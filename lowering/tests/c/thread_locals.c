// Variables of each thread, in each model of storage.
#include <stdio.h>

_Thread_local int general = 3;
static _Thread_local int local = 4;
__attribute__((tls_model("local-exec"))) static _Thread_local long exec[4] = {1, 2};
__attribute__((tls_model("initial-exec"))) _Thread_local int initial;
__attribute__((tls_model("local-dynamic"))) static _Thread_local short dynamic = 9;

int step(int n) {
    for (int i = 0; i < n; i++) {
        general += local++;
        exec[i & 3] += general;
        initial ^= (int)exec[1];
        dynamic = (short)(dynamic * 3);
    }
    return initial;
}

int main(void) {
    printf("%d %d ", step(5), step(4));
    printf("%d %d %ld %d\n", general, local, exec[3], dynamic);
    return 0;
}
