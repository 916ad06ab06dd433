/* Preload for MPICH (ch4:ucx) jobs with more ranks than cores. MPICH polls its transport without ever giving the
 * core away, so each blocking call of one rank burns the time slice the sending rank needs. This wrapper gives the
 * core away whenever a poll of the transport found nothing to do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

unsigned ucp_worker_progress(void* worker);
void barrio_mpich_hold_yield(int change);

/* Who holds it back, counted. */
static int n_holding_back = 0;

/* Called where several threads of a rank call MPI: a poll then holds the lock that all of them need, and whoever gives
 * the core away with it starves them, for minutes. */
void barrio_mpich_hold_yield(int change) { __atomic_add_fetch(&n_holding_back, change, __ATOMIC_RELAXED); }

unsigned ucp_worker_progress(void* worker) {
  static unsigned (*progress)(void*) = NULL;
  if (progress == NULL) *(void**)(&progress) = dlsym(RTLD_NEXT, "ucp_worker_progress");
  if (progress == NULL) { /* UCX came with a library loaded at run time, as under Python */
    void* ucp = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
    if (ucp != NULL) *(void**)(&progress) = dlsym(ucp, "ucp_worker_progress");
  }
  const unsigned n_events = progress(worker);
  if (n_events == 0 && __atomic_load_n(&n_holding_back, __ATOMIC_RELAXED) == 0) sched_yield();
  return n_events;
}
