// Calls the functions of a campaign with buffers that overlap in many ways.
//
// The first program, with sanitizers that trap, says which calls are defined and what they leave:
// `U`, or how the call ended and a sum of its result, all memory and all that called functions saw.
// Other programs read these lines, make the defined calls and say which end in another way. Memory
// around the buffers may not be touched.
//
// `cases.h` holds types, functions and calls.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

typedef struct { int function; short where[3]; int by[3]; long n, m, lo, s, k; int fill, has_variables; } call;
typedef long (*wrapper)(char **p, const call *c);

#include "cases.h"

enum { BYTES = 1 << 16, WINDOW = 4096, FILLS = 4 };
static const size_t AROUND = 1ull << 40;
static char *buffer;
static char images[FILLS][BYTES];
static uint64_t seen;
static sigjmp_buf outside;

static uint64_t mix(uint64_t sum, const char *at, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 8) {
    uint64_t word;
    memcpy(&word, at + i, 8);
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 29;
  }
  return sum;
}

// What functions call.
void note(long x) {
  seen = mix(seen * 31 + x, buffer + BYTES / 2 - WINDOW, 2 * WINDOW);
}
void tell(long x) { seen = (seen ^ x) * 0x9e3779b97f4a7c15u; }
void maybe(long x) {
  tell(x);
  if ((x & 7) == 5) siglongjmp(outside, 1);
}
void leave(long x) {
  tell(x);
  siglongjmp(outside, 1);
}

static void on_signal(int signal) { siglongjmp(outside, 2); }

static void prepare(void) {
  char *all = mmap(0, AROUND, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) exit(3);
  buffer = all + AROUND / 2;
  mprotect(buffer, BYTES, PROT_READ | PROT_WRITE);
  for (int i = 0; i < BYTES; i++) {
    images[0][i] = i * 37 + (i >> 5) * 11;
    images[1][i] = i * 7 % 13;
    images[2][i] = i % 24 == 19 ? 7 : 0;
    images[3][i] = i % 3 == 1 ? -1 : i % 5;
  }
  static char stack[1 << 16];
  stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  sigaltstack(&other, 0);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER | SA_ONSTACK};
  int signals[] = {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP, SIGABRT, SIGVTALRM};
  for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &action, 0);
}

static char *place(const call *c, int i) {
  if (c->where[i] == 0) return buffer + BYTES / 2 + c->by[i];
  const variable *own = &variables[c->where[i] - 1];
  return own->at + own->bytes / 2 + c->by[i];
}

// Makes a call. Returns how it ended: returned, left, or crashed.
static char make(const call *c, long microseconds, uint64_t *sum) {
  memcpy(buffer, images[c->fill], BYTES);
  unsigned count = c->has_variables ? VARIABLES : 0;
  for (unsigned i = 0; i < count; i++) memcpy(variables[i].at, images[c->fill] + 64 * i, variables[i].bytes);
  char *pointers[3];
  for (int i = 0; i < 3; i++) pointers[i] = place(c, i);
  struct itimerval limit = {.it_value = {.tv_sec = microseconds / 1000000, .tv_usec = microseconds % 1000000}};
  seen = 1;
  volatile long result = 0;
  setitimer(ITIMER_VIRTUAL, &limit, 0);
  int how = sigsetjmp(outside, 0);
  if (how == 0) result = functions[c->function](pointers, c);
  setitimer(ITIMER_VIRTUAL, &(struct itimerval){0}, 0);
  uint64_t all = mix(seen * 31 + result, buffer, BYTES);
  for (unsigned i = 0; i < count; i++) all = mix(all, variables[i].at, variables[i].bytes);
  *sum = all;
  return "RLC"[how];
}

// How often checks of versions held and failed, a pair for each function.
static unsigned long held[sizeof functions / sizeof *functions][2];
void check_of_version(long function, _Bool holds) { held[function][holds]++; }

int main(int count, char **words) {
  int is_first = count > 1;
  unsigned calls_made = sizeof calls / sizeof *calls;
  prepare();
  for (unsigned i = 0; i < calls_made; i++) {
    uint64_t sum = 0, expected = 0;
    char how, before = 'U';
    if (is_first) {
      how = make(&calls[i], 20000, &sum);
      printf("%c %lx\n", how == 'C' ? 'U' : how, how == 'C' ? 0 : sum);
      continue;
    }
    if (scanf(" %c %lx", &before, &expected) != 2) return 4;
    if (before == 'U') continue;
    how = make(&calls[i], 4000000, &sum);
    if (how != before || sum != expected) printf("%u %d %c%c\n", i, calls[i].function, before, how);
  }
  for (unsigned i = 0; i < sizeof held / sizeof *held; i++)
    if (held[i][0] + held[i][1] > 0) printf("versions %lu %lu\n", held[i][1], held[i][0]);
  return 0;
}
