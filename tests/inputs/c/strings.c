// Strings and bytes.
#include <stddef.h>
#include <stdint.h>

size_t length(const char *s) {
  size_t n = 0;
  while (s[n])
    n++;
  return n;
}

char *copy_string(char *to, const char *from) {
  char *start = to;
  while ((*to++ = *from++))
    ;
  return start;
}

int compare(const char *a, const char *b) {
  while (*a && *a == *b)
    a++, b++;
  return (unsigned char)*a - (unsigned char)*b;
}

int compare_at_most(const char *a, const char *b, size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
    if (!a[i])
      return 0;
  }
  return 0;
}

void upper(char *s, int n) {
  for (int i = 0; i < n; i++)
    if (s[i] >= 'a' && s[i] <= 'z')
      s[i] -= 'a' - 'A';
}

int count_char(const char *s, int n, char c) {
  int count = 0;
  for (int i = 0; i < n; i++)
    if (s[i] == c)
      count++;
  return count;
}

void reverse_string(char *s, int n) {
  for (int i = 0; i < n / 2; i++) {
    char t = s[i];
    s[i] = s[n - 1 - i];
    s[n - 1 - i] = t;
  }
}

int is_palindrome(const char *s, int n) {
  for (int i = 0; i < n / 2; i++)
    if (s[i] != s[n - 1 - i])
      return 0;
  return 1;
}

void caesar(char *s, size_t n, int by) {
  for (size_t i = 0; i < n; i++)
    s[i] = (char)('a' + (s[i] - 'a' + by) % 26);
}

void hex(char *restrict to, const uint8_t *from, int n) {
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < n; i++) {
    to[2 * i] = digits[from[i] >> 4];
    to[2 * i + 1] = digits[from[i] & 15];
  }
}

unsigned parse_number(const char *s) {
  unsigned n = 0;
  for (; *s >= '0' && *s <= '9'; s++)
    n = n * 10 + (unsigned)(*s - '0');
  return n;
}

int write_number(char *to, unsigned n) {
  int digits = 0;
  do {
    to[digits++] = (char)('0' + n % 10);
    n /= 10;
  } while (n);
  return digits;
}

int find_substring(const char *s, int n, const char *w, int m) {
  for (int i = 0; i + m <= n; i++) {
    int j = 0;
    while (j < m && s[i + j] == w[j])
      j++;
    if (j == m)
      return i;
  }
  return -1;
}

int words(const char *s) {
  int count = 0, inside = 0;
  for (; *s; s++) {
    int space = *s == ' ' || *s == '\n' || *s == '\t';
    count += !space && !inside;
    inside = !space;
  }
  return count;
}

void pad(char *s, int from, int width, char with) {
  for (int i = from; i < width; i++)
    s[i] = with;
  s[width] = 0;
}

void run_lengths(uint8_t *restrict to, const uint8_t *from, int n) {
  for (int i = 0; i < n;) {
    int j = i;
    while (j < n && from[j] == from[i])
      j++;
    *to++ = (uint8_t)(j - i);
    *to++ = from[i];
    i = j;
  }
}

void xor_key(uint8_t *data, size_t n, const uint8_t *key, size_t m) {
  for (size_t i = 0; i < n; i++)
    data[i] ^= key[i % m];
}

void failure_table(int *f, const char *w, int m) {
  f[0] = -1;
  for (int i = 1, j = 0; i < m; i++, j++) {
    f[i] = w[i] == w[j] ? f[j] : j;
    while (j >= 0 && w[i] != w[j])
      j = f[j];
  }
}
