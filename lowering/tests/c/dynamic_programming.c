// Tables filled by recurrences: distance of words, a knapsack, paths.
#include <stdio.h>
#include <string.h>

static int least(int a, int b, int c) { return a < b ? (a < c ? a : c) : (b < c ? b : c); }

int distance(const char *a, const char *b) {
    int row[32], n = (int)strlen(b);
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int up = row[j];
            row[j] = least(up + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = up;
        }
    }
    return row[n];
}

int knapsack(int capacity) {
    static const int weight[] = {3, 4, 5, 9, 14}, value[] = {3, 4, 4, 10, 15};
    int best[64] = {0};
    for (int i = 0; i < 5; i++)
        for (int c = capacity; c >= weight[i]; c--)
            if (best[c - weight[i]] + value[i] > best[c])
                best[c] = best[c - weight[i]] + value[i];
    return best[capacity];
}

unsigned long paths(int n) {
    unsigned long grid[12][12];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            grid[i][j] = i && j ? grid[i - 1][j] + grid[i][j - 1] : 1;
    return grid[n - 1][n - 1];
}

int main(void) {
    printf("%d %d %d %lu\n", distance("kitten", "sitting"), distance("", "abc"), knapsack(21), paths(12));
    return 0;
}
