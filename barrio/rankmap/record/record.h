/* State of the recorder while a program runs: to whom this rank sends, how often and how much. One shared object for
 * one MPI, loaded with LD_PRELOAD by `barrio record`. It needs no symbol of MPI before the program has called MPI, so
 * launchers and shells that inherit the variable are unaffected.
 *
 * Cost per message: a check of the communicator and the type used last, and one look-up of the partner. */
#ifndef BARRIO_RANKMAP_RECORD_H
#define BARRIO_RANKMAP_RECORD_H

#include <mpi.h>
#include <stdint.h>

#include "barrio/rankmap/record/keep.h"
#include "barrio/rankmap/record/table.h"

/* A handle of MPI as a number. Handles of Fortran are odd, which pointers are not. */
typedef uint64_t barrio_key;
#define BARRIO_KEY(handle) ((barrio_key)(uintptr_t)(handle))
#define BARRIO_FORTRAN_KEY(handle) ((barrio_key)(uint32_t)(handle) << 1 | 1)

#define BARRIO_RARELY(condition) __builtin_expect(!!(condition), 0)

/* Traffic of one pair of ranks of the world. */
struct barrio_link {
  int32_t from, to;
  uint64_t bytes, messages;
};

/* Traffic of one start of a persistent request. */
struct barrio_parcel {
  struct barrio_link* link;
  uint64_t bytes;
};
struct barrio_start {
  int n;
  struct barrio_parcel parcels[];
};

/* Collectives by the pairs for which they count; the order is that of the names in write.c. */
enum barrio_collective {
  barrio_barrier,
  barrio_allreduce, /* and scans */
  barrio_reduce_scatter,
  barrio_allgather,
  barrio_alltoall,
  barrio_bcast,
  barrio_reduce,
  barrio_gather,
  barrio_scatter,
  barrio_n_collectives
};

struct barrio_collective_total {
  uint64_t calls, bytes;
};

/* The recorder's view of a communicator or window. */
struct barrio_members {
  MPI_Group group; /* remote group of an intercommunicator */
  int size, rank;
  int is_inter;
  struct barrio_table links;       /* rank in the group -> barrio_link, of single messages */
  struct barrio_table collectives; /* kind and root -> barrio_total */
  struct barrio_link** out;        /* targets of neighbourhood collectives; null: nobody */
  int n_out;                       /* -1: not asked yet */
};

/* Everything below `state` is accessed under barrio_lock. */
struct barrio_recorder {
  int state;       /* 0: MPI was not called yet, 1: counting, 2: not asked to record, 3: paused by MPI_Pcontrol(0) */
  int is_threaded; /* several threads may call MPI */
  int is_locked;
  int rank, size;
  double started;
  double recorded_seconds; /* > 0: the recording time has passed, and counting does not restart */
  MPI_Comm world;
  MPI_Group world_group;
  barrio_key last_comm, last_type; /* 0, which is not a handle: none */
  struct barrio_members* last_members;
  uint64_t last_size;
  struct barrio_table members, types, starts;
  struct barrio_table messages;    /* from and to -> barrio_link: point-to-point, neighbourhood, one-sided */
  struct barrio_table collectives; /* from and to -> barrio_link */
  struct barrio_link outside;      /* to ranks of other jobs */
  struct barrio_collective_total totals[barrio_n_collectives];
  struct barrio_table spent; /* targets + 1 -> barrio_total of a communicator that is gone */
};
extern struct barrio_recorder barrio_recorder;

/* Find a function of MPI by its name; end the program with a message if it is missing. */
void* barrio_find(const char* name);
/* MPI's own function, found on the first call: BARRIO_REAL_OF(MPI_Send); ... BARRIO_REAL(MPI_Send)(...) */
#define BARRIO_REAL_OF(name) static void* real_##name
#define BARRIO_REAL(name) ((__typeof__(&P##name))barrio_find_once(&real_##name, "P" #name))
static inline void* barrio_find_once(void** symbol, const char* name) {
  if (*symbol == NULL) *symbol = barrio_find(name);
  return *symbol;
}

/* Read the environment and check MPI, once. @return whether to count */
int barrio_begin(void);
static inline int barrio_is_counting(void) {
  return !BARRIO_RARELY(barrio_recorder.state != 1) || (barrio_recorder.state == 0 && barrio_begin());
}
/* The lock is held for tens of nanoseconds: a mutex would double the cost of a message. */
void barrio_wait_for_lock(void);
static inline void barrio_lock(void) {
  if (BARRIO_RARELY(barrio_recorder.is_threaded) &&
      __atomic_exchange_n(&barrio_recorder.is_locked, 1, __ATOMIC_ACQUIRE))
    barrio_wait_for_lock();
}
static inline void barrio_unlock(void) {
  if (BARRIO_RARELY(barrio_recorder.is_threaded)) __atomic_store_n(&barrio_recorder.is_locked, 0, __ATOMIC_RELEASE);
}

/* For threads other than the program's own. */
static inline void barrio_lock_always(void) {
  if (__atomic_exchange_n(&barrio_recorder.is_locked, 1, __ATOMIC_ACQUIRE)) barrio_wait_for_lock();
}
static inline void barrio_unlock_always(void) { __atomic_store_n(&barrio_recorder.is_locked, 0, __ATOMIC_RELEASE); }

/* Make this rank's file. */
void barrio_begin_to_keep(void);
/* Stop counting after the recording time, if there is one. */
void barrio_start_clock(void);
/* Mark that the job has its document: its files are no longer needed. */
void barrio_end_keeping(void);

/* The following functions are called between lock and unlock. */

/* @return zeroed memory that stays readable if this process is killed, of a kind in keep.h. It is never freed. */
void* barrio_keep(int kind, size_t bytes);

/* @return bytes of one item of a type */
uint64_t barrio_look_up_size(barrio_key type);
static inline uint64_t barrio_type_size(barrio_key type) {
  return type == barrio_recorder.last_type ? barrio_recorder.last_size : barrio_look_up_size(type);
}
struct barrio_members* barrio_look_up_members(barrio_key comm);
static inline struct barrio_members* barrio_members_of(barrio_key comm) {
  return comm == barrio_recorder.last_comm ? barrio_recorder.last_members : barrio_look_up_members(comm);
}
struct barrio_members* barrio_members_of_window(MPI_Win window);
/* @return the link from this rank to a rank of a group */
struct barrio_link* barrio_new_link(struct barrio_members* members, int to);
static inline struct barrio_link* barrio_link_to(struct barrio_members* members, int to) {
  struct barrio_link* const link = barrio_look_up(&members->links, (uint64_t)to);
  return BARRIO_RARELY(link == NULL) ? barrio_new_link(members, to) : link;
}
/* @return the link between two ranks of the world; made if missing */
struct barrio_link* barrio_world_link(struct barrio_table* links, int from, int to);
/* @return the world rank of a rank of a group; -1 outside of the world */
int barrio_world_rank(const struct barrio_members* members, int rank);
/* Find the targets of neighbourhood collectives. */
void barrio_ask_topology(struct barrio_members* members, MPI_Comm comm);
void barrio_add_collective(barrio_key comm, enum barrio_collective kind, int root, uint64_t bytes);
/* Turn the noted collectives of a communicator into pairs. */
void barrio_spread_collectives(struct barrio_members* members);

/* The following functions take the lock themselves. */

void barrio_sent(barrio_key comm, int to, uint64_t count, barrio_key type);
void barrio_collective(barrio_key comm, enum barrio_collective kind, int root, uint64_t count, barrio_key type);
/* Count counts[i] items to rank i; if `types` is null, `type` applies to all. */
void barrio_sent_to_all(barrio_key comm, const int* counts, barrio_key type, const MPI_Datatype* types,
                        const MPI_Fint* fortran_types);
/* Count as barrio_sent_to_all, to the neighbours; if `counts` is null, `count` applies to all. */
void barrio_sent_to_neighbours(barrio_key comm, const int* counts, uint64_t count, barrio_key type,
                               const MPI_Datatype* types, const MPI_Fint* fortran_types);
/* Count counts[i] items from the root to rank i; read on the root only, as in MPI. */
void barrio_scattered(barrio_key comm, int root, const int* counts, barrio_key type);
/* Count as barrio_scattered, the same count for each rank. */
void barrio_scattered_evenly(barrio_key comm, int root, uint64_t count, barrio_key type);
/* Count the items of all ranks' results together: counts[i] of rank i, or `count` of each. */
void barrio_reduce_scattered(barrio_key comm, const int* counts, uint64_t count, barrio_key type);
/* @return this rank's entry in a list of all ranks' counts */
uint64_t barrio_own_count(barrio_key comm, const int* counts);
void barrio_one_sided(MPI_Win window, int target, uint64_t count, barrio_key type, int is_fetched);
void barrio_persistent(barrio_key request, barrio_key comm, int to, uint64_t count, barrio_key type);
void barrio_started(barrio_key request);
void barrio_forget_request(barrio_key request);
void barrio_forget_comm(barrio_key comm);
void barrio_forget_type(barrio_key type);
void barrio_pause(int level);
/* Write the document. Collective; called before MPI is finalised. */
void barrio_write(void);

#endif
