// Aliases of functions and variables, weak ones too; a resolver.
#include <stdio.h>

int counter = 4;
extern int same_counter __attribute__((alias("counter")));
int real(int x) { return x * counter; }
int other(int x) __attribute__((alias("real")));
static int own(int x) __attribute__((weakref("real")));
int weak_other(int x) __attribute__((weak, alias("real")));
static int fast(int x) { return x + 100; }
static int (*resolve(void))(int) { return fast; }
int chosen(int x) __attribute__((ifunc("resolve")));

int main(void) {
    same_counter++;
    printf("%d %d %d %d %d\n", counter, other(3), own(5), weak_other(7), chosen(1));
    return 0;
}
