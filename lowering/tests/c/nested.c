// Nests: rectangular, triangular, three deep, imperfect.
#include <stdio.h>

int triangle(int n) {
    int s = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            s += i * j - (s >> 3);
    return s;
}

int cube(int n, int m, int k) {
    int s = 0;
    for (int i = 0; i < n; i++) {
        int row = s;
        for (int j = 0; j < m; j++) {
            for (int l = 0; l < k; l++)
                s += (i + 1) * (j + 2) ^ l;
            s -= row;
        }
    }
    return s;
}

int main(void) {
    for (int n = 0; n < 12; n++)
        printf("%d %d\n", triangle(n), cube(n, n / 2, 5));
    return 0;
}
