// Arrays of arrays: local, global, as parameters; variable length too.
#include <stdio.h>

static int board[8][9];
const int weights[2][3][2] = {{{1, 2}, {3, 4}, {5, 6}}, {{-1, -2}, {-3}, {0}}};

int fill(int rows, int cols) {
    int s = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            s += board[i][j] = i * 10 + j * weights[i & 1][j % 3][0];
    return s;
}

int transpose_sum(int n, int m[n][n]) {
    int t[n][n], s = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            t[j][i] = m[i][j];
    for (int i = 0; i < n * n; i++)
        s = s * 2 + (&t[0][0])[i];
    return s;
}

int main(void) {
    int m[5][5];
    for (int i = 0; i < 25; i++)
        m[i / 5][i % 5] = i ^ 5;
    printf("%d %d %d\n", fill(8, 9), board[7][8], transpose_sum(5, m));
    return 0;
}
