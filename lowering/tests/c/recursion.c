// Recursion: by itself, by each other, as a tail call, deep into an array.
#include <stdio.h>

int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int even(unsigned n);
int odd(unsigned n) { return n ? even(n - 1) : 0; }
int even(unsigned n) { return n ? odd(n - 1) : 1; }
int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
long power(long base, unsigned e, long so_far) {
    if (!e)
        return so_far;
    return power(base * base, e / 2, e % 2 ? so_far * base : so_far);
}

static int place(int *queens, int row, int n) {
    if (row == n)
        return 1;
    int found = 0;
    for (int c = 0; c < n; c++) {
        int ok = 1;
        for (int r = 0; r < row && ok; r++)
            ok = queens[r] != c && queens[r] - c != r - row && queens[r] - c != row - r;
        if (ok) {
            queens[row] = c;
            found += place(queens, row + 1, n);
        }
    }
    return found;
}

int main(void) {
    int queens[8];
    printf("%d %d%d %d %ld %d\n", fib(15), even(10), odd(10), ackermann(2, 3), power(3, 13, 1), place(queens, 0, 6));
    return 0;
}
