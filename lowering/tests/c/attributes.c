// What is said of functions, parameters and loops: purity, alignment, restrict, assumptions, hints.
#include <stddef.h>
#include <stdio.h>

__attribute__((const)) static int square(int x) { return x * x; }
__attribute__((pure, noinline)) static int load(const int *p) { return *p; }
__attribute__((malloc, alloc_size(1), noinline)) static void *none(size_t n) { return n ? NULL : NULL; }
__attribute__((always_inline)) static inline int inlined(int x) { return x + 1; }
__attribute__((noreturn, cold)) void stop(int code);
__attribute__((returns_nonnull, nonnull(1), noinline)) static int *same(int *p) { return p; }

void axpy(int n, int a, const int *restrict x, int *restrict y) {
    x = __builtin_assume_aligned(x, 16);
    __builtin_assume(n >= 0);
#pragma clang loop vectorize(disable) unroll_count(2)
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
#pragma clang loop unroll(disable)
    for (int i = 0; i < n; i++)
        if (__builtin_expect(y[i] > 1000, 0))
            y[i] = inlined(y[i]) % 1000;
}

int main(void) {
    _Alignas(16) int x[24], y[24];
    for (int i = 0; i < 24; i++)
        x[i] = square(i), y[i] = -i;
    axpy(24, 5, x, y);
    __builtin_prefetch(x, 0, 3);
    printf("%d %d %d %d\n", y[3], load(same(y + 20)), none(3) == NULL, (int)__builtin_object_size(x, 0));
    return 0;
}
