#define _GNU_SOURCE
#include "barrio/mpi/wait/give_way.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
  slice_ns = 1000000, /* longer than a yield among waiting ranks, shorter than a slice of Linux */
  nap_ns = 20000,     /* the kernel adds its slack of 50 us */
  fewest_naps = 64,
  max_naps = 4096,
};

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/* The system's own yield: where yield_shim.c is preloaded, sched_yield is this function. */
static void yield(void) { syscall(SYS_sched_yield); }

void barrio_give_way(void) {
  static __thread int naps_left;
  static __thread int naps = fewest_naps; /* before it tries again whether a yield is enough */
  if (naps_left > 0) {
    --naps_left;
    const struct timespec nap = {.tv_sec = 0, .tv_nsec = nap_ns};
    nanosleep(&nap, NULL);
    return;
  }
  const long long before = now_ns();
  yield();
  if (now_ns() - before < slice_ns) {
    naps = fewest_naps;
    return;
  }
  naps_left = naps;
  if (naps < max_naps) naps *= 2;
}
