/* Traffic of collective calls: neighbourhoods by their topology, others by the algorithms that MPIs use for them, since
 * no call shows its messages inside. */
#include <stdlib.h>

#include "barrio/rankmap/record/find.h"
#include "barrio/rankmap/record/record.h"

static struct barrio_recorder* const recorder = &barrio_recorder;

static void ask_cartesian(struct barrio_members* members, MPI_Comm comm) {
  BARRIO_REAL_OF(MPI_Cartdim_get);
  BARRIO_REAL_OF(MPI_Cart_shift);
  int n_dimensions = 0;
  BARRIO_REAL(MPI_Cartdim_get)(comm, &n_dimensions);
  members->n_out = 2 * n_dimensions;
  members->out = barrio_allocate((size_t)members->n_out + 1, sizeof *members->out);
  for (int dimension = 0; dimension < n_dimensions; ++dimension) {
    int sides[2] = {MPI_PROC_NULL, MPI_PROC_NULL};
    BARRIO_REAL(MPI_Cart_shift)(comm, dimension, 1, &sides[0], &sides[1]);
    for (int side = 0; side < 2; ++side)
      if (sides[side] >= 0) members->out[2 * dimension + side] = barrio_link_to(members, sides[side]);
  }
}

void barrio_ask_topology(struct barrio_members* members, MPI_Comm comm) {
  BARRIO_REAL_OF(MPI_Topo_test);
  BARRIO_REAL_OF(MPI_Dist_graph_neighbors);
  BARRIO_REAL_OF(MPI_Dist_graph_neighbors_count);
  BARRIO_REAL_OF(MPI_Graph_neighbors);
  BARRIO_REAL_OF(MPI_Graph_neighbors_count);
  int kind = MPI_UNDEFINED;
  BARRIO_REAL(MPI_Topo_test)(comm, &kind);
  if (kind == MPI_CART) {
    ask_cartesian(members, comm);
    return;
  }
  int n_in = 0, n_out = 0, is_weighted = 0;
  if (kind == MPI_DIST_GRAPH) BARRIO_REAL(MPI_Dist_graph_neighbors_count)(comm, &n_in, &n_out, &is_weighted);
  if (kind == MPI_GRAPH) BARRIO_REAL(MPI_Graph_neighbors_count)(comm, members->rank, &n_out);
  const size_t room = (size_t)(n_in > n_out ? n_in : n_out) + 1;
  int* const ranks = barrio_allocate(4 * room, sizeof *ranks); /* in, its weights, out, its weights */
  if (kind == MPI_DIST_GRAPH) BARRIO_REAL(MPI_Dist_graph_neighbors)
  (comm, n_in, ranks + room, ranks + 2 * room, n_out, ranks, ranks + 3 * room);
  if (kind == MPI_GRAPH) BARRIO_REAL(MPI_Graph_neighbors)(comm, members->rank, n_out, ranks);
  members->n_out = n_out;
  members->out = barrio_allocate((size_t)n_out + 1, sizeof *members->out);
  for (int i = 0; i < n_out; ++i)
    if (ranks[i] >= 0) members->out[i] = barrio_link_to(members, ranks[i]);
  free(ranks);
}

/* The targets of one collective, in the order in which they are found; null: they are only counted. */
struct target_list {
  struct barrio_target* targets;
  uint64_t n;
};

/* Add a target: a rank of the group, with messages per call and a fraction of the bytes of all calls. */
static void send_to(struct target_list* list, const struct barrio_members* members, int to, uint64_t messages,
                    uint64_t times, uint64_t divided_by) {
  if (to < 0 || to >= members->size || to == members->rank) return;
  if (list->targets != NULL)
    list->targets[list->n] =
        (struct barrio_target){barrio_world_rank(members, to), (uint32_t)messages, times, divided_by};
  ++list->n;
}

/* Add the targets in the binomial tree over ranks counted from the root: the parent of i is i without its lowest bit.
 */
static void send_over_tree(struct target_list* list, const struct barrio_members* members, int root, int is_upwards) {
  const int size = members->size, place = (members->rank - root + size) % size;
  for (int bit = 1; bit < size; bit <<= 1) {
    if (place & bit) {
      if (is_upwards) send_to(list, members, (place - bit + root) % size, 1, 1, 1);
      break;
    }
    if (!is_upwards && place + bit < size) send_to(list, members, (place + bit + root) % size, 1, 1, 1);
  }
}

static void find_targets(struct target_list* list, const struct barrio_members* members, enum barrio_collective kind,
                         int root) {
  const int size = members->size, rank = members->rank;
  switch (kind) {
    case barrio_barrier:
      for (int step = 1; step < size; step <<= 1) send_to(list, members, (rank + step) % size, 1, 0, 1);
      break;
    case barrio_allreduce:
      for (int bit = 1; bit < size; bit <<= 1) send_to(list, members, rank ^ bit, 1, 1, 1);
      break;
    case barrio_reduce_scatter: /* by halves: half of the data to the rank at half the distance, and so on */
      for (int bit = 1; bit < size; bit <<= 1) send_to(list, members, rank ^ bit, 1, (uint64_t)bit, (uint64_t)size);
      break;
    case barrio_allgather:
      if (size > 1) send_to(list, members, (rank + 1) % size, (uint64_t)size - 1, (uint64_t)size - 1, 1);
      break;
    case barrio_alltoall:
      /* Uniform traffic between all ranks is the same for each placement, and would be size^2 entries. */
      for (int to = 0; size < recorder->size && to < size; ++to) send_to(list, members, to, 1, 1, 1);
      break;
    case barrio_scatter:
      for (int to = 0; rank == root && to < size; ++to) send_to(list, members, to, 1, 1, 1);
      break;
    case barrio_gather: send_to(list, members, root, 1, 1, 1); break;
    case barrio_bcast: send_over_tree(list, members, root, 0); break;
    case barrio_reduce: send_over_tree(list, members, root, 1); break;
    case barrio_n_collectives: break;
  }
}

/* Kept memory is not freed: what a communicator leaves is reused for one with as many targets. */
static struct barrio_total* new_total(const struct barrio_members* members, enum barrio_collective kind, int root) {
  struct target_list list = {NULL, 0};
  find_targets(&list, members, kind, root);
  struct barrio_total* const spent = barrio_look_up(&recorder->spent, list.n + 1);
  struct barrio_total* total = spent != NULL ? spent->next : NULL;
  if (total != NULL) {
    spent->next = total->next;
  } else if (spent != NULL) {
    total = barrio_remove(&recorder->spent, list.n + 1);
  } else {
    total = barrio_keep(barrio_kept_total, sizeof *total + list.n * sizeof *total->targets);
  }
  total->n_targets = list.n;
  list.targets = total->targets;
  list.n = 0;
  find_targets(&list, members, kind, root);
  return total;
}

void barrio_add_collective(barrio_key comm, enum barrio_collective kind, int root, uint64_t bytes) {
  struct barrio_members* const members = barrio_members_of(comm);
  if (members->is_inter) return;
  const uint64_t key = (uint64_t)kind << 32 | (uint32_t)root;
  struct barrio_total* total = barrio_look_up(&members->collectives, key);
  if (total == NULL) {
    total = new_total(members, kind, root);
    barrio_insert(&members->collectives, key, total);
  }
  ++total->calls;
  total->bytes += bytes;
}

void barrio_collective(barrio_key comm, enum barrio_collective kind, int root, uint64_t count, barrio_key type) {
  if (!barrio_is_counting()) return;
  barrio_lock();
  barrio_add_collective(comm, kind, root, count > 0 ? count * barrio_type_size(type) : 0);
  barrio_unlock();
}

void barrio_reduce_scattered(barrio_key comm, const int* counts, uint64_t count, barrio_key type) {
  if (!barrio_is_counting()) return;
  barrio_lock();
  const struct barrio_members* const members = barrio_members_of(comm);
  uint64_t sum = counts == NULL ? count * (uint64_t)members->size : 0;
  for (int i = 0; counts != NULL && i < members->size; ++i) sum += (uint64_t)counts[i];
  barrio_add_collective(comm, barrio_reduce_scatter, 0, sum > 0 ? sum * barrio_type_size(type) : 0);
  barrio_unlock();
}

uint64_t barrio_own_count(barrio_key comm, const int* counts) {
  if (!barrio_is_counting()) return 0;
  barrio_lock();
  const int count = counts[barrio_members_of(comm)->rank];
  barrio_unlock();
  return (uint64_t)count;
}

void barrio_scattered(barrio_key comm, int root, const int* counts, barrio_key type) {
  if (!barrio_is_counting()) return;
  barrio_lock();
  struct barrio_members* const members = barrio_members_of(comm);
  if (!members->is_inter && members->rank == root) {
    const uint64_t size = barrio_type_size(type);
    struct barrio_collective_total* const total = &recorder->totals[barrio_scatter];
    ++total->calls;
    for (int i = 0; i < members->size; ++i) {
      if (i == root || counts[i] <= 0) continue;
      struct barrio_link* const link =
          barrio_world_link(&recorder->collectives, recorder->rank, barrio_world_rank(members, i));
      link->bytes += (uint64_t)counts[i] * size;
      ++link->messages;
      total->bytes += (uint64_t)counts[i] * size;
    }
  }
  barrio_unlock();
}

void barrio_scattered_evenly(barrio_key comm, int root, uint64_t count, barrio_key type) {
  if (!barrio_is_counting()) return;
  barrio_lock();
  /* On other ranks, count and type need not be valid. */
  const struct barrio_members* const members = barrio_members_of(comm);
  if (!members->is_inter && members->rank == root)
    barrio_add_collective(comm, barrio_scatter, root, count * barrio_type_size(type));
  barrio_unlock();
}

void barrio_spread_collectives(struct barrio_members* members) {
  const struct barrio_table* const table = &members->collectives;
  const size_t capacity = barrio_capacity(table);
  for (size_t i = 0; i < capacity; ++i) {
    struct barrio_total* const total = table->slots[i].value;
    if (total == NULL) continue;
    const enum barrio_collective kind = (enum barrio_collective)(table->slots[i].key >> 32);
    uint64_t sent = 0;
    for (uint64_t k = 0; k < total->n_targets; ++k) {
      const struct barrio_target* const target = &total->targets[k];
      struct barrio_link* const link = barrio_world_link(&recorder->collectives, recorder->rank, target->to);
      const uint64_t bytes = total->bytes * target->times / target->divided_by;
      link->messages += total->calls * target->messages;
      link->bytes += bytes;
      sent += bytes;
    }
    if (kind == barrio_alltoall && members->size == recorder->size) sent = total->bytes * ((uint64_t)members->size - 1);
    recorder->totals[kind].calls += total->calls;
    recorder->totals[kind].bytes += sent;
    total->calls = total->bytes = 0;
    struct barrio_total* const spent = barrio_look_up(&recorder->spent, total->n_targets + 1);
    total->next = spent != NULL ? spent->next : NULL;
    if (spent != NULL)
      spent->next = total;
    else
      barrio_insert(&recorder->spent, total->n_targets + 1, total);
  }
  barrio_free_table(&members->collectives);
}
