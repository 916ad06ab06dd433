#include "barrio/rankmap/record/record.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "barrio/rankmap/record/find.h"

struct barrio_recorder barrio_recorder;
static struct barrio_recorder* const recorder = &barrio_recorder;

void barrio_wait_for_lock(void) {
  while (__atomic_exchange_n(&recorder->is_locked, 1, __ATOMIC_ACQUIRE)) sched_yield();
}

int barrio_begin(void) {
  static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&once);
  if (recorder->state == 0) {
    const char* const path = getenv("BARRIO_RECORD");
    if (path == NULL || *path == '\0') {
      recorder->state = 2;
    } else {
      BARRIO_REAL_OF(MPI_Comm_group);
      BARRIO_REAL_OF(MPI_Comm_rank);
      BARRIO_REAL_OF(MPI_Comm_size);
      BARRIO_REAL_OF(MPI_Query_thread);
      BARRIO_REAL_OF(MPI_Wtime);
      int level = MPI_THREAD_SINGLE;
      BARRIO_REAL(MPI_Query_thread)(&level);
      recorder->is_threaded = level == MPI_THREAD_MULTIPLE;
      recorder->world = BARRIO_WORLD;
      BARRIO_REAL(MPI_Comm_rank)(recorder->world, &recorder->rank);
      BARRIO_REAL(MPI_Comm_size)(recorder->world, &recorder->size);
      BARRIO_REAL(MPI_Comm_group)(recorder->world, &recorder->world_group);
      recorder->started = BARRIO_REAL(MPI_Wtime)();
      barrio_begin_to_keep();
      recorder->state = 1;
      barrio_start_clock();
    }
  }
  pthread_mutex_unlock(&once);
  return recorder->state == 1;
}

void barrio_pause(int level) {
  if (recorder->state == 0) barrio_begin();
  if (level == 0 && recorder->state == 1) recorder->state = 3;
  if (level != 0 && recorder->state == 3 && !(recorder->recorded_seconds > 0.0)) recorder->state = 1;
}

uint64_t barrio_look_up_size(barrio_key type) {
  /* Sizes are stored plus one: null means that the type is unknown. */
  uint64_t stored = (uint64_t)(uintptr_t)barrio_look_up(&recorder->types, type);
  if (stored == 0) {
    BARRIO_REAL_OF(MPI_Type_size_x);
    MPI_Count size = 0;
    BARRIO_REAL(MPI_Type_size_x)(barrio_type_of(type), &size);
    stored = size < 0 ? 1 : (uint64_t)size + 1;
    barrio_insert(&recorder->types, type, (void*)(uintptr_t)stored);
  }
  recorder->last_type = type;
  recorder->last_size = stored - 1;
  return recorder->last_size;
}

void barrio_forget_type(barrio_key type) {
  barrio_lock();
  barrio_remove(&recorder->types, type);
  if (recorder->last_type == type) recorder->last_type = 0;
  barrio_unlock();
}

static struct barrio_members* new_members(barrio_key key) {
  struct barrio_members* const members = barrio_allocate(1, sizeof *members);
  members->n_out = -1;
  barrio_insert(&recorder->members, key, members);
  return members;
}

struct barrio_members* barrio_look_up_members(barrio_key key) {
  struct barrio_members* members = barrio_look_up(&recorder->members, key);
  if (members == NULL) {
    BARRIO_REAL_OF(MPI_Comm_group);
    BARRIO_REAL_OF(MPI_Comm_rank);
    BARRIO_REAL_OF(MPI_Comm_remote_group);
    BARRIO_REAL_OF(MPI_Comm_test_inter);
    BARRIO_REAL_OF(MPI_Group_size);
    const MPI_Comm comm = barrio_comm_of(key);
    members = new_members(key);
    BARRIO_REAL(MPI_Comm_test_inter)(comm, &members->is_inter);
    BARRIO_REAL(MPI_Comm_rank)(comm, &members->rank);
    if (members->is_inter)
      BARRIO_REAL(MPI_Comm_remote_group)(comm, &members->group);
    else
      BARRIO_REAL(MPI_Comm_group)(comm, &members->group);
    BARRIO_REAL(MPI_Group_size)(members->group, &members->size);
  }
  recorder->last_comm = key;
  recorder->last_members = members;
  return members;
}

struct barrio_members* barrio_members_of_window(MPI_Win window) {
  const barrio_key key = BARRIO_KEY(window) ^ UINT64_C(1) << 63;
  struct barrio_members* members = barrio_look_up(&recorder->members, key);
  if (members == NULL) {
    BARRIO_REAL_OF(MPI_Win_get_group);
    members = new_members(key);
    BARRIO_REAL_OF(MPI_Group_size);
    BARRIO_REAL(MPI_Win_get_group)(window, &members->group);
    BARRIO_REAL(MPI_Group_size)(members->group, &members->size);
  }
  return members;
}

void barrio_forget_comm(barrio_key comm) {
  barrio_lock();
  struct barrio_members* const members = barrio_remove(&recorder->members, comm);
  if (recorder->last_comm == comm) recorder->last_comm = 0;
  if (members != NULL) {
    BARRIO_REAL_OF(MPI_Group_free);
    barrio_spread_collectives(members);
    BARRIO_REAL(MPI_Group_free)(&members->group);
    barrio_free_table(&members->links);
    barrio_free_table(&members->collectives);
    free(members->out);
    free(members);
  }
  barrio_unlock();
}

int barrio_world_rank(const struct barrio_members* members, int rank) {
  if (rank >= members->size) return -1; /* MPI reports the error */
  BARRIO_REAL_OF(MPI_Group_translate_ranks);
  int in_world = MPI_UNDEFINED;
  BARRIO_REAL(MPI_Group_translate_ranks)(members->group, 1, &rank, recorder->world_group, &in_world);
  return in_world == MPI_UNDEFINED ? -1 : in_world;
}

struct barrio_link* barrio_world_link(struct barrio_table* links, int from, int to) {
  if (from < 0 || to < 0) return &recorder->outside;
  const uint64_t key = (uint64_t)(uint32_t)from << 32 | (uint32_t)to;
  struct barrio_link* link = barrio_look_up(links, key);
  if (link == NULL) {
    link = barrio_keep(links == &recorder->messages ? barrio_kept_messages : barrio_kept_collectives, sizeof *link);
    link->from = from;
    link->to = to;
    barrio_insert(links, key, link);
  }
  return link;
}

struct barrio_link* barrio_new_link(struct barrio_members* members, int to) {
  struct barrio_link* const link =
      barrio_world_link(&recorder->messages, recorder->rank, barrio_world_rank(members, to));
  barrio_insert(&members->links, (uint64_t)to, link);
  return link;
}

static inline void add(struct barrio_link* link, uint64_t bytes) {
  link->bytes += bytes;
  ++link->messages;
}

void barrio_sent(barrio_key comm, int to, uint64_t count, barrio_key type) {
  if (to < 0 || !barrio_is_counting()) return; /* MPI_PROC_NULL is negative */
  barrio_lock();
  add(barrio_link_to(barrio_members_of(comm), to), count * barrio_type_size(type));
  barrio_unlock();
}

void barrio_sent_to_all(barrio_key comm, const int* counts, barrio_key type, const MPI_Datatype* types,
                        const MPI_Fint* fortran_types) {
  if (counts == NULL || !barrio_is_counting()) return;
  barrio_lock();
  struct barrio_members* const members = barrio_members_of(comm);
  uint64_t bytes = 0;
  for (int i = 0; i < members->size; ++i) {
    if (counts[i] <= 0 || (i == members->rank && !members->is_inter)) continue;
    const barrio_key its = types != NULL           ? BARRIO_KEY(types[i])
                           : fortran_types != NULL ? BARRIO_FORTRAN_KEY(fortran_types[i])
                                                   : type;
    const uint64_t sent = (uint64_t)counts[i] * barrio_type_size(its);
    add(barrio_world_link(&recorder->collectives, recorder->rank, barrio_world_rank(members, i)), sent);
    bytes += sent;
  }
  recorder->totals[barrio_alltoall].bytes += bytes;
  ++recorder->totals[barrio_alltoall].calls;
  barrio_unlock();
}

void barrio_sent_to_neighbours(barrio_key comm, const int* counts, uint64_t count, barrio_key type,
                               const MPI_Datatype* types, const MPI_Fint* fortran_types) {
  if (!barrio_is_counting()) return;
  barrio_lock();
  struct barrio_members* const members = barrio_members_of(comm);
  if (members->n_out < 0) barrio_ask_topology(members, barrio_comm_of(comm));
  for (int i = 0; i < members->n_out; ++i) {
    const uint64_t n = counts != NULL ? (uint64_t)counts[i] : count;
    if (members->out[i] == NULL) continue;
    if (n == 0) { /* its type may be none */
      add(members->out[i], 0);
      continue;
    }
    const barrio_key its = types != NULL           ? BARRIO_KEY(types[i])
                           : fortran_types != NULL ? BARRIO_FORTRAN_KEY(fortran_types[i])
                                                   : type;
    add(members->out[i], n * barrio_type_size(its));
  }
  barrio_unlock();
}

void barrio_one_sided(MPI_Win window, int target, uint64_t count, barrio_key type, int is_fetched) {
  if (target < 0 || !barrio_is_counting()) return;
  barrio_lock();
  const int there = barrio_world_rank(barrio_members_of_window(window), target), here = recorder->rank;
  add(barrio_world_link(&recorder->messages, is_fetched ? there : here, is_fetched ? here : there),
      count * barrio_type_size(type));
  barrio_unlock();
}

static void keep_start(barrio_key request, struct barrio_start* start) {
  free(barrio_remove(&recorder->starts, request));
  barrio_insert(&recorder->starts, request, start);
}

void barrio_persistent(barrio_key request, barrio_key comm, int to, uint64_t count, barrio_key type) {
  if (to < 0 || (!barrio_is_counting() && recorder->state != 3)) return;
  barrio_lock();
  struct barrio_start* const start = barrio_allocate(1, sizeof *start + sizeof(struct barrio_parcel));
  start->n = 1;
  start->parcels[0].link = barrio_link_to(barrio_members_of(comm), to);
  start->parcels[0].bytes = count * barrio_type_size(type);
  keep_start(request, start);
  barrio_unlock();
}

void barrio_started(barrio_key request) {
  if (!barrio_is_counting()) return;
  barrio_lock();
  const struct barrio_start* const start = barrio_look_up(&recorder->starts, request);
  for (int i = 0; start != NULL && i < start->n; ++i) add(start->parcels[i].link, start->parcels[i].bytes);
  barrio_unlock();
}

void barrio_forget_request(barrio_key request) {
  barrio_lock();
  free(barrio_remove(&recorder->starts, request));
  barrio_unlock();
}
