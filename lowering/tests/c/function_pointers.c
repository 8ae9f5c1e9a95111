// Functions as values: tables of them, as arguments, compared, returned.
#include <stdio.h>

typedef int (*binary)(int, int);

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mix(int a, int b) { return a * 31 % 65521 ^ b; }

static binary const table[] = {add, sub, mix};
static struct { const char *name; binary run; } named[] = {{"add", add}, {"mix", mix}};

static int fold(binary f, int n) {
    int s = 1;
    for (int i = 0; i < n; i++)
        s = f(s, i);
    return s;
}

static binary choose(int i) { return table[i % 3]; }

int main(void) {
    for (int i = 0; i < 6; i++)
        printf("%d %d\n", fold(choose(i), 10 + i), choose(i) == add);
    for (unsigned i = 0; i < 2; i++)
        printf("%s %d\n", named[i].name, named[i].run(6, 7));
    return 0;
}
