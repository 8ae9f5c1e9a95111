// `_Float16` and `__bf16`: kept short, computed wide.
#include <stdio.h>

static const _Float16 table[4] = {1.5f16, -0.25f16, 65504.0f16, 0.1f16};
static __bf16 narrow = 3.0;

float accumulate(int n) {
    _Float16 s = 0;
    for (int i = 0; i < n; i++)
        s = s * (_Float16)0.5 + table[i & 3] / (_Float16)(i + 1);
    return (float)s;
}

int main(void) {
    for (int n = 0; n < 12; n += 3)
        printf("%.4f ", (double)accumulate(n));
    printf("%.4f %d\n", (double)((float)narrow * 1.25f), table[3] < (_Float16)0.1);
    return 0;
}
