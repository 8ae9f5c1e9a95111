// Calls functions before and after promotion with buffers between pages that nobody may touch.
//
// Each buffer ends exactly at such a page, and in a second run begins there. The program as it was
// shows which buffers it writes: all of them are read-only at first, and the handler of faults
// opens what is written. A call that touches anything else is undefined and skipped. The promoted
// program gets memory that is writable only where the other one wrote. It must not fault, and leave
// the same memory and result.
//
// `cases.h` holds the functions and the calls.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { I32, I64, F32, F64 };
typedef struct { const char *name; int type; void *before, *after; } function;
typedef struct { int function; long n, m, k; int c; long sizes[3]; int shared; long offsets[3]; } call;

#include "cases.h"

enum { PAGE = 4096, GUARDS = 64, COLUMNS = 8 };
typedef struct { char *page; long bytes; int written; } region;
static region regions[3];
static int is_open;
static sigjmp_buf outside;

static void on_fault(int signal, siginfo_t *info, void *context) {
  char *at = info->si_addr;
  for (int i = 0; i < 3; i++) {
    region *own = &regions[i];
    int is_inside = at >= own->page && at < own->page + PAGE && own->bytes > 0;
    if (is_inside && is_open && !own->written) {
      own->written = 1;
      mprotect(own->page, PAGE, PROT_READ | PROT_WRITE);
      return;
    }
  }
  siglongjmp(outside, 1);
}

static char *start_of(int i, int at_end) {
  return regions[i].page + (at_end ? PAGE - regions[i].bytes : 0);
}

// Fills all memory, and makes writable what was seen to be written.
static void begin(int type, int at_end) {
  long state = 12345;
  for (int i = 0; i < 3; i++) {
    region *own = &regions[i];
    mprotect(own->page, PAGE, PROT_READ | PROT_WRITE);
    char *start = start_of(i, at_end);
    long width = type == I32 || type == F32 ? 4 : 8;
    for (long e = 0; e < own->bytes / width; e++) {
      state = state * 6364136223846793005 + 1442695040888963407;
      long number = (state >> 40) % 9;
      switch (type) {
      case I32: ((int *)start)[e] = number; break;
      case I64: ((long *)start)[e] = number; break;
      case F32: ((float *)start)[e] = number * 0.5f; break;
      case F64: ((double *)start)[e] = number * 0.5; break;
      }
    }
    int access = own->bytes == 0 ? PROT_NONE : own->written ? PROT_READ | PROT_WRITE : PROT_READ;
    mprotect(own->page, PAGE, access);
  }
}

static unsigned long run(void *target, const call *own, int at_end) {
  int type = functions[own->function].type;
  long width = type == I32 || type == F32 ? 4 : 8;
  char *at[3];
  for (int i = 0, first = -1; i < 3; i++) {
    int is_shared = own->shared >> i & 1;
    if (is_shared && first < 0) first = i;
    at[i] = start_of(is_shared ? first : i, at_end) + own->offsets[i] * width;
  }
  const long *s = own->sizes;
  unsigned long bits = 0;
#define CALL(T) { \
    typedef T shape(void *, void *, long, long, long, void *, void *, long, long, long, long, long, \
                    void *, void *, long, long, long, long, long, long, _Bool); \
    T result = ((shape *)target)(at[0], at[0], 0, s[0], 1, at[1], at[1], 0, s[1], COLUMNS, COLUMNS, 1, \
                                 at[2], at[2], 0, s[2], 1, own->n, own->m, own->k, own->c); \
    memcpy(&bits, &result, sizeof result); break; }
  switch (type) {
  case I32: CALL(int)
  case I64: CALL(long)
  case F32: CALL(float)
  case F64: CALL(double)
  }
  return bits;
}

// Sets the sizes of the regions that the buffers are in.
static void lay_out(const call *own) {
  int type = functions[own->function].type;
  long width = type == I32 || type == F32 ? 4 : 8;
  for (int i = 0; i < 3; i++) regions[i].bytes = 0, regions[i].written = 0;
  for (int i = 0, first = -1; i < 3; i++) {
    int is_shared = own->shared >> i & 1;
    if (is_shared && first < 0) first = i;
    region *in = &regions[is_shared ? first : i];
    long elements = own->sizes[i] * (i == 1 ? COLUMNS : 1);
    long bytes = (own->offsets[i] + elements) * width;
    if (bytes > in->bytes) in->bytes = bytes;
  }
}

typedef struct { unsigned long result; char memory[3][PAGE]; } outcome;

// Returns 0 if the call touched what it may not touch.
static int runs(void *target, const call *own, int at_end, outcome *end) {
  begin(functions[own->function].type, at_end);
  if (sigsetjmp(outside, 1)) return 0;
  end->result = run(target, own, at_end);
  for (int i = 0; i < 3; i++) {
    memset(end->memory[i], 0, PAGE);
    if (regions[i].bytes) memcpy(end->memory[i], start_of(i, at_end), regions[i].bytes);
  }
  return 1;
}

int main(void) {
  for (int i = 0; i < 3; i++) {
    char *all = mmap(0, (2 * GUARDS + 1) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) return perror("mmap"), 2;
    regions[i].page = all + GUARDS * PAGE;
  }
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGSEGV, &action, 0);
  sigaction(SIGBUS, &action, 0);
  long defined = 0, undefined = 0, read_only = 0;
  static outcome expected[2], actual;
  for (long i = 0; i < (long)(sizeof calls / sizeof *calls); i++) {
    const call *own = &calls[i];
    const function *f = &functions[own->function];
    lay_out(own);
    is_open = 1;
    int is_defined = runs(f->before, own, 1, &expected[1]) && runs(f->before, own, 0, &expected[0]);
    is_open = 0;
    if (!is_defined) { undefined++; continue; }
    defined++;
    for (int b = 0; b < 3; b++) read_only += regions[b].bytes && !regions[b].written;
    for (int at_end = 0; at_end < 2; at_end++) {
      const char *wrong = 0;
      if (!runs(f->after, own, at_end, &actual)) wrong = "touches memory that it must not touch";
      else if (actual.result != expected[at_end].result) wrong = "returns something else";
      else if (memcmp(actual.memory, expected[at_end].memory, sizeof actual.memory)) wrong = "leaves other memory";
      if (!wrong) continue;
      printf("%s %s: n=%ld m=%ld k=%ld c=%d sizes=%ld,%ld,%ld shared=%d offsets=%ld,%ld,%ld at_end=%d\n",
             f->name, wrong, own->n, own->m, own->k, own->c, own->sizes[0], own->sizes[1], own->sizes[2],
             own->shared, own->offsets[0], own->offsets[1], own->offsets[2], at_end);
      return 1;
    }
  }
  printf("%ld %ld %ld\n", defined, undefined, read_only);
  return 0;
}
