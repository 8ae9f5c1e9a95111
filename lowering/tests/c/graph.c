// Graphs: breadth first with a queue, shortest paths of all pairs, a union of sets.
#include <stdio.h>

#define N 20
static int adjacent[N][N], parent[N];

static int edge(int i, int j) { return (i * 7 + j * 13) % 11 == 0 || j == i + 1; }

int reach(int from) {
    int queue[N], seen[N] = {0}, head = 0, tail = 0, sum = 0;
    queue[tail++] = from;
    seen[from] = 1;
    while (head < tail) {
        int at = queue[head++];
        sum = sum * 3 % 10007 + at;
        for (int to = 0; to < N; to++)
            if (edge(at, to) && !seen[to])
                seen[to] = 1, queue[tail++] = to;
    }
    return sum ^ tail;
}

int shortest(void) {
    int s = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            adjacent[i][j] = i == j ? 0 : edge(i, j) ? 1 + (i + j) % 4 : 1000;
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (adjacent[i][k] + adjacent[k][j] < adjacent[i][j])
                    adjacent[i][j] = adjacent[i][k] + adjacent[k][j];
    for (int i = 0; i < N; i++)
        s += adjacent[i][(i * 3) % N] * i;
    return s;
}

static int find(int x) {
    while (parent[x] != x)
        x = parent[x] = parent[parent[x]];
    return x;
}

int sets(void) {
    int n = N;
    for (int i = 0; i < N; i++)
        parent[i] = i;
    for (int i = 0; i + 6 < N; i += 2) {
        int a = find(i), b = find(i + 6);
        if (a != b)
            parent[a] = b, n--;
    }
    return n;
}

int main(void) {
    printf("%d %d %d %d\n", reach(0), reach(11), shortest(), sets());
    return 0;
}
