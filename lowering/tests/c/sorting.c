// Sorting: by insertion, quickly, of a heap, and by the library through a function.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void insertion(int *a, int n) {
    for (int i = 1; i < n; i++) {
        int x = a[i], j = i - 1;
        for (; j >= 0 && a[j] > x; j--)
            a[j + 1] = a[j];
        a[j + 1] = x;
    }
}

static void quick(int *a, int low, int high) {
    while (low < high) {
        int pivot = a[(low + high) / 2], i = low, j = high;
        do {
            while (a[i] < pivot) i++;
            while (a[j] > pivot) j--;
            if (i <= j) {
                int t = a[i];
                a[i++] = a[j];
                a[j--] = t;
            }
        } while (i <= j);
        quick(a, low, j);
        low = i;
    }
}

static void heap(int *a, int n) {
    for (int size = n, start = n / 2; size > 1;) {
        if (start > 0)
            start--;
        else {
            int t = a[--size];
            a[size] = a[0];
            a[0] = t;
        }
        for (int root = start, child; (child = 2 * root + 1) < size; root = child) {
            if (child + 1 < size && a[child] < a[child + 1])
                child++;
            if (a[root] >= a[child])
                break;
            int t = a[root];
            a[root] = a[child];
            a[child] = t;
        }
    }
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(void) {
    int a[50], b[50], c[50], d[50];
    for (int i = 0; i < 50; i++)
        a[i] = b[i] = c[i] = d[i] = i * 7919 % 503;
    insertion(a, 50);
    quick(b, 0, 49);
    heap(c, 50);
    qsort(d, 50, sizeof *d, compare);
    printf("%d %d %d %d %d\n", a[0], a[49], !memcmp(a, b, sizeof a), !memcmp(a, c, sizeof a), !memcmp(a, d, sizeof a));
    return 0;
}
