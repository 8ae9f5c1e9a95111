// Static locals, `extern`, tentative definitions, hidden and weak symbols, sections.
#include <stdio.h>

int tentative;
extern int declared_later;
__attribute__((weak)) int weak_one(void) { return 17; }
__attribute__((visibility("hidden"))) int hidden_one = 5;
__attribute__((section(".data.special"), aligned(64))) int placed = 9;
extern int missing(void) __attribute__((weak));

int next(void) {
    static int state = 1;
    static int calls[2];
    calls[state & 1]++;
    state = state * 5 % 1021;
    return state + calls[0] * 10000;
}

static __attribute__((noinline, cold)) int cold(int x) { return x - 1; }

int declared_later = 12;

int main(void) {
    for (int i = 0; i < 6; i++)
        printf("%d ", next());
    tentative = cold(declared_later);
    printf("%d %d %d %d %d\n", tentative, weak_one(), hidden_one, placed, missing ? missing() : -1);
    return 0;
}
