// Assembly of the module and inside functions: outputs, inputs, both, clobbers, memory.
#include <stdio.h>

__asm__(".globl from_assembly\n.data\nfrom_assembly: .long 42\n.text");
extern int from_assembly;

static int add(int a, int b) {
    __asm__("addl %1, %0" : "+r"(a) : "r"(b) : "cc");
    return a;
}

static int swap_sum(int n) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        int lo = i, hi = n;
        __asm__ volatile("xchgl %0, %1" : "+r"(lo), "+r"(hi));
        __asm__ volatile("" ::: "memory");
        s = s * 3 + lo - hi;
    }
    return s;
}

static void increment(int *p) { __asm__ volatile("incl %0" : "+m"(*p)); }

int main(void) {
    int x = 9;
    increment(&x);
    printf("%d %d %d %d\n", from_assembly, add(30, 12), swap_sum(6), x);
    return 0;
}
