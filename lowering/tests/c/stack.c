// Storage on the stack that grows: variable length, `alloca`, in loops.
#include <stdio.h>
#include <string.h>

int triangle(int n) {
    int s = 0;
    for (int i = 1; i < n; i++) {
        int row[i];
        row[0] = 1;
        for (int j = 1; j < i; j++)
            row[j] = row[j - 1] * 3 + j;
        s ^= row[i - 1];
    }
    return s;
}

int chain(int n) {
    struct cell { struct cell *next; int v; } *head = 0;
    for (int i = 0; i < n; i++) {
        struct cell *c = __builtin_alloca(sizeof *c);
        c->next = head;
        c->v = i;
        head = c;
    }
    int s = 0;
    for (; head; head = head->next)
        s = s * 2 + head->v;
    return s;
}

int main(void) {
    _Alignas(64) char aligned[10];
    memset(aligned, 7, sizeof aligned);
    printf("%d %d %d %d\n", triangle(20), chain(12), aligned[9], (int)((unsigned long)aligned % 64));
    return 0;
}
