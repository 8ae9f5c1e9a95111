// Sorting and searching.
#include <stddef.h>
#include <stdint.h>

void bubble_sort(int *a, int n) {
  for (int i = 0; i < n - 1; i++)
    for (int j = 0; j < n - 1 - i; j++)
      if (a[j] > a[j + 1]) {
        int t = a[j];
        a[j] = a[j + 1];
        a[j + 1] = t;
      }
}

void bubble_sort_early(int *a, int n) {
  int changed;
  do {
    changed = 0;
    for (int j = 0; j + 1 < n; j++)
      if (a[j] > a[j + 1]) {
        int t = a[j];
        a[j] = a[j + 1];
        a[j + 1] = t;
        changed = 1;
      }
  } while (changed);
}

void insertion_sort(double *a, int n) {
  for (int i = 1; i < n; i++) {
    double v = a[i];
    int j = i;
    for (; j > 0 && a[j - 1] > v; j--)
      a[j] = a[j - 1];
    a[j] = v;
  }
}

void selection_sort(unsigned *a, unsigned n) {
  for (unsigned i = 0; i + 1 < n; i++) {
    unsigned best = i;
    for (unsigned j = i + 1; j < n; j++)
      if (a[j] < a[best])
        best = j;
    unsigned t = a[i];
    a[i] = a[best];
    a[best] = t;
  }
}

void shell_sort(long *a, long n) {
  for (long gap = n / 2; gap > 0; gap /= 2)
    for (long i = gap; i < n; i++) {
      long v = a[i], j = i;
      for (; j >= gap && a[j - gap] > v; j -= gap)
        a[j] = a[j - gap];
      a[j] = v;
    }
}

void counting_sort(uint8_t *a, int n) {
  int counts[256];
  for (int i = 0; i < 256; i++)
    counts[i] = 0;
  for (int i = 0; i < n; i++)
    counts[a[i]]++;
  int at = 0;
  for (int v = 0; v < 256; v++)
    for (int k = 0; k < counts[v]; k++)
      a[at++] = (uint8_t)v;
}

void radix_pass(uint32_t *restrict to, const uint32_t *from, int n, int shift) {
  int starts[256] = {0};
  for (int i = 0; i < n; i++)
    starts[(from[i] >> shift) & 255]++;
  int total = 0;
  for (int v = 0; v < 256; v++) {
    int own = starts[v];
    starts[v] = total;
    total += own;
  }
  for (int i = 0; i < n; i++)
    to[starts[(from[i] >> shift) & 255]++] = from[i];
}

void merge(int *restrict to, const int *a, int n, const int *b, int m) {
  int i = 0, j = 0, k = 0;
  while (i < n && j < m)
    to[k++] = a[i] <= b[j] ? a[i++] : b[j++];
  while (i < n)
    to[k++] = a[i++];
  while (j < m)
    to[k++] = b[j++];
}

int partition(int *a, int low, int high) {
  int pivot = a[high], i = low;
  for (int j = low; j < high; j++)
    if (a[j] < pivot) {
      int t = a[i];
      a[i++] = a[j];
      a[j] = t;
    }
  a[high] = a[i];
  a[i] = pivot;
  return i;
}

int binary_search(const int *a, int n, int wanted) {
  int low = 0, high = n;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (a[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

int is_sorted(const float *a, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (a[i - 1] > a[i])
      return 0;
  return 1;
}

void sift_down(int *a, int i, int n) {
  while (2 * i + 1 < n) {
    int c = 2 * i + 1;
    if (c + 1 < n && a[c + 1] > a[c])
      c++;
    if (a[i] >= a[c])
      return;
    int t = a[i];
    a[i] = a[c];
    a[c] = t;
    i = c;
  }
}

int unique(int *a, int n) {
  int kept = 0;
  for (int i = 0; i < n; i++)
    if (i == 0 || a[i] != a[i - 1])
      a[kept++] = a[i];
  return kept;
}

void odd_even_sort(int *a, int n) {
  for (int round = 0; round < n; round++)
    for (int i = round % 2; i + 1 < n; i += 2)
      if (a[i] > a[i + 1]) {
        int t = a[i];
        a[i] = a[i + 1];
        a[i + 1] = t;
      }
}

void ranks(int *restrict rank, const double *a, int n) {
  for (int i = 0; i < n; i++) {
    rank[i] = 0;
    for (int j = 0; j < n; j++)
      rank[i] += a[j] < a[i] || (a[j] == a[i] && j < i);
  }
}
