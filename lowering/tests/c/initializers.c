// Globals with addresses and arithmetic on them in what they begin with; structs, unions, holes, flexible arrays.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

static int numbers[10] = {1, 2, 3, [7] = 70, 80};
static int *third = &numbers[2], *end = numbers + 10;
static const char *text = "hello" + 2;
static const ptrdiff_t apart = (char *)&numbers[8] - (char *)&numbers[3];
struct link { struct link *next; int value; union { float f; int i; } as; char tag; double weight; };
static struct link second, first = {&second, 1, {.f = 1.5f}, 'a', -0.5};
static struct link second = {&first, 2, {.i = 2}, 'b', 1e-3};
static struct { char n; int data[]; } flexible = {3, {10, 20, 30}};
static void *mixed[] = {numbers, &first.weight, (void *)&third, 0, (void *)(uintptr_t)42};
static const int *const table[2][2] = {{&numbers[1], &numbers[7]}, {0, &second.value}};
static char zeros[1000], letters[4] = {'a', 0, 'c'};
static double reals[] = {0.1, -0.0, 1e300, 5e-324};
static _Bool flags[3] = {1, 0, 1};

int main(void) {
    printf("%d %ld %s %ld\n", *third, (long)(end - third), text, (long)apart);
    printf("%d %d %g %c %g\n", first.next->value, second.next->value, (double)first.as.f, second.tag, first.weight);
    printf("%d %g %d %lu\n", flexible.data[2], *(double *)mixed[1], **(int **)mixed[2], (unsigned long)(uintptr_t)mixed[4]);
    printf("%d %d %d %d\n", *table[0][0], *table[0][1], table[1][0] == 0, *table[1][1]);
    printf("%d %c %g %g %g %d%d\n", zeros[999], letters[2], reals[0], 1 / reals[1], reals[3], flags[0], flags[1]);
    return 0;
}
