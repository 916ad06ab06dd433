/* Preload for jobs with more ranks than cores: MPI's own blocking calls then give way as barrio's wait loops do
 * (give_way.h).
 *
 * Open MPI yields where it polls, which is not enough next to processes that compute. MPICH (ch4:ucx) polls its
 * transport without ever yielding, so each blocking call of one rank burns the slice that the sending rank needs. Here
 * each poll that found nothing gives way. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "barrio/mpi/wait/give_way.h"

unsigned ucp_worker_progress(void* worker);
void barrio_hold_yield(int change);

/* Number of callers that hold the naps back. */
static int n_holding_back = 0;

/* Called where several threads of a rank call MPI. Under MPICH a poll then holds the lock that all of them need; a nap
 * with that lock starves the others for minutes. Threads then yield as without this library: where some of dozens of
 * threads yield and others nap, those that nap get the core back after seconds. */
void barrio_hold_yield(int change) { __atomic_add_fetch(&n_holding_back, change, __ATOMIC_RELAXED); }

static int is_held_back(void) { return __atomic_load_n(&n_holding_back, __ATOMIC_RELAXED) > 0; }

int sched_yield(void) {
  if (is_held_back()) return (int)syscall(SYS_sched_yield);
  barrio_give_way();
  return 0;
}

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*progress)(void*) = NULL;
  if (progress == NULL) *(void**)(&progress) = dlsym(RTLD_NEXT, "ucp_worker_progress");
  if (progress == NULL) { /* UCX came with a library loaded at run time, as under Python */
    void* ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    if (ucp != NULL) *(void**)(&progress) = dlsym(ucp, "ucp_worker_progress");
  }
  const unsigned n_events = progress(worker);
  if (n_events == 0 && !is_held_back()) barrio_give_way();
  return n_events;
}
