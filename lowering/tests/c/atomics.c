// Atomics: loads, stores, exchanges, each operation, fences; by one thread, so that the result is known.
#include <stdatomic.h>
#include <stdio.h>

static atomic_int counter;
static _Atomic unsigned long mask = ATOMIC_VAR_INIT(255);
static atomic_flag flag = ATOMIC_FLAG_INIT;
static _Atomic(int *) pointer;
static _Atomic double real;

int count(int n) {
    atomic_store(&counter, 3);
    for (int i = 0; i < n; i++) {
        atomic_fetch_add(&counter, i);
        atomic_fetch_sub_explicit(&counter, 1, memory_order_relaxed);
        atomic_fetch_or_explicit(&mask, 1ul << (i & 31), memory_order_acq_rel);
        atomic_fetch_and(&mask, ~(4ul << (i & 7)));
        atomic_fetch_xor_explicit(&mask, (unsigned long)i, memory_order_release);
    }
    return atomic_load(&counter);
}

int exchange(int n) {
    int expected = 0, tries = 0;
    for (int i = 0; i < n; i++)
        while (!atomic_compare_exchange_weak(&counter, &expected, expected * 2 + i))
            tries++;
    return atomic_exchange(&counter, 7) + (tries > 0);
}

int main(void) {
    int x = 5;
    atomic_init(&pointer, &x);
    real += 1.5;
    real *= 2;
    atomic_thread_fence(memory_order_seq_cst);
    atomic_signal_fence(memory_order_acquire);
    printf("%d %lu ", count(20), atomic_load_explicit(&mask, memory_order_relaxed));
    printf("%d %d %d %d %g\n", exchange(5), *atomic_load(&pointer), atomic_flag_test_and_set(&flag), atomic_flag_test_and_set(&flag), (double)real);
    return 0;
}
