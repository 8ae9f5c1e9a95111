// Loops inside and outside of `try`, in handlers, and around both. The result is a checksum.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

typedef unsigned int word;

struct Counts {
  word *total;
  ~Counts() { *total += 1; }
};

__attribute__((noinline)) word checked(word x) {
  if (x % 7 == 5) throw std::runtime_error("five");
  if (x % 11 == 10) throw x;
  return x * 3;
}

__attribute__((noinline)) void before_and_behind(word *__restrict a, word *__restrict b, word n, word *total) {
  Counts counts{total};
  for (word i = 0; i < n; i++) a[i] = b[i] * 2;
  for (word i = 0; i < n; i++) b[i] = a[i] + 1;
  a[0] += checked(n);
  for (word i = 0; i < n; i++) a[i] += b[i];
  for (word i = 0; i < n; i++) b[i] = a[i] ^ i;
}

__attribute__((noinline)) word in_a_loop(word *a, word n) {
  word caught = 0;
  for (word i = 0; i < n; i++) {
    try {
      a[i] = checked(i);
      for (word j = 0; j < 4; j++) a[i] += j;
      for (word j = 0; j < 4; j++) a[i] ^= j;
    } catch (const std::runtime_error &) {
      caught++;
      for (word j = 0; j < n; j++) a[j] += 1;
      for (word j = 0; j < n; j++) a[j] ^= 2;
    } catch (word x) {
      caught += x;
      a[i] = caught;
    }
  }
  return caught;
}

// The handler sees the last store before the call.
__attribute__((noinline)) word seen_by_the_handler(word *a, word n) {
  word last = 0;
  try {
    for (word i = 0; i < n; i++) {
      a[0] = i;
      last += checked(i);
      a[0] = 99;
    }
  } catch (...) {
    last += 1000 * a[0];
  }
  return last;
}

// The result of the call leaves the loop on the edge of its test.
__attribute__((noinline)) word result_behind(word n) {
  word x = 1;
  try {
    do x = checked(x + 1);
    while (x < n);
  } catch (word y) {
    return y;
  }
  return x;
}

__attribute__((noinline)) word nested(word n) {
  word sum = 0;
  for (word i = 0; i < n; i++) {
    try {
      try {
        for (word j = 0; j < n; j++) sum += checked(i + j) & 3;
      } catch (const std::runtime_error &error) {
        sum += std::string(error.what()).size();
        throw i;
      }
    } catch (word k) {
      sum += k;
      if (k > 9) break;
    }
  }
  return sum;
}

__attribute__((noinline)) word with_vectors(word n) {
  std::vector<word> all;
  for (word i = 0; i < n; i++) all.push_back(i * i);
  word sum = 0;
  for (word x : all) sum += x;
  for (word &x : all) x ^= sum;
  try {
    sum += all.at(n);
  } catch (const std::out_of_range &) {
    for (word x : all) sum = sum * 31 + x;
  }
  return sum;
}

int main() {
  word a[64], b[64], total = 0, hash = 0;
  for (word i = 0; i < 64; i++) {
    a[i] = i;
    b[i] = 63 - i;
  }
  for (word n = 0; n < 64; n++) {
    try {
      before_and_behind(a, b, n, &total);
    } catch (std::exception &) {
      total += 100;
    } catch (word x) {
      total += x;
    }
  }
  hash = hash * 31 + in_a_loop(a, 40);
  for (word n = 0; n < 20; n++) {
    hash = hash * 31 + seen_by_the_handler(a, n);
    try {
      hash = hash * 31 + result_behind(n);
    } catch (std::runtime_error &) {
      hash += 7;
    }
    hash = hash * 31 + nested(n);
    hash = hash * 31 + with_vectors(n);
  }
  for (word i = 0; i < 64; i++) hash = hash * 31 + a[i] * 7 + b[i];
  printf("%u %u\n", total, hash);
}
