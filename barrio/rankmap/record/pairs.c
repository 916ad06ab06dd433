/* Who sends to whom in collective calls: neighbourhoods by their topology, others by the algorithms that MPIs use for
 * them, as no call says what is sent inside. */
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

void barrio_add_collective(barrio_key comm, enum barrio_collective kind, int root, uint64_t bytes) {
  struct barrio_members* const members = barrio_members_of(comm);
  if (members->is_inter) return;
  const uint64_t key = (uint64_t)kind << 32 | (uint32_t)root;
  struct barrio_collective_total* total = barrio_look_up(&members->collectives, key);
  if (total == NULL) {
    total = barrio_allocate(1, sizeof *total);
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
  /* What others pass as count and type need not be valid. */
  const struct barrio_members* const members = barrio_members_of(comm);
  if (!members->is_inter && members->rank == root)
    barrio_add_collective(comm, barrio_scatter, root, count * barrio_type_size(type));
  barrio_unlock();
}

/* Count messages of so many calls from this rank to another of the group. */
static uint64_t spread(const struct barrio_members* members, int to, uint64_t messages, uint64_t bytes) {
  if (to < 0 || to >= members->size || to == members->rank) return 0;
  struct barrio_link* const link =
      barrio_world_link(&recorder->collectives, recorder->rank, barrio_world_rank(members, to));
  link->messages += messages;
  link->bytes += bytes;
  return bytes;
}

/* The binomial tree over ranks counted from the root: the parent of i is i without its lowest bit. */
static uint64_t spread_over_tree(const struct barrio_members* members, int root, int is_upwards,
                                 const struct barrio_collective_total* total) {
  const int size = members->size, place = (members->rank - root + size) % size;
  uint64_t bytes = 0;
  for (int bit = 1; bit < size; bit <<= 1) {
    if (place & bit) {
      if (is_upwards) bytes += spread(members, (place - bit + root) % size, total->calls, total->bytes);
      break;
    }
    if (!is_upwards && place + bit < size)
      bytes += spread(members, (place + bit + root) % size, total->calls, total->bytes);
  }
  return bytes;
}

static uint64_t spread_one(const struct barrio_members* members, enum barrio_collective kind, int root,
                           const struct barrio_collective_total* total) {
  const int size = members->size, rank = members->rank;
  uint64_t bytes = 0;
  switch (kind) {
    case barrio_barrier:
      for (int step = 1; step < size; step <<= 1) bytes += spread(members, (rank + step) % size, total->calls, 0);
      break;
    case barrio_allreduce:
      for (int bit = 1; bit < size; bit <<= 1) bytes += spread(members, rank ^ bit, total->calls, total->bytes);
      break;
    case barrio_reduce_scatter: /* by halves: half of everything to the rank half of all away, and so on */
      for (int bit = 1; bit < size; bit <<= 1)
        bytes += spread(members, rank ^ bit, total->calls, total->bytes * (uint64_t)bit / (uint64_t)size);
      break;
    case barrio_allgather: {
      const uint64_t steps = (uint64_t)size - 1;
      if (size > 1) bytes = spread(members, (rank + 1) % size, steps * total->calls, steps * total->bytes);
      break;
    }
    case barrio_alltoall:
      /* Between all ranks alike, which is the same for each placement, and would be size^2 entries. */
      if (size == recorder->size) return total->bytes * ((uint64_t)size - 1);
      for (int to = 0; to < size; ++to) bytes += spread(members, to, total->calls, total->bytes);
      break;
    case barrio_scatter:
      for (int to = 0; rank == root && to < size; ++to) bytes += spread(members, to, total->calls, total->bytes);
      break;
    case barrio_gather: bytes = spread(members, root, total->calls, total->bytes); break;
    case barrio_bcast: bytes = spread_over_tree(members, root, 0, total); break;
    case barrio_reduce: bytes = spread_over_tree(members, root, 1, total); break;
    case barrio_n_collectives: break;
  }
  return bytes;
}

void barrio_spread_collectives(struct barrio_members* members) {
  const struct barrio_table* const table = &members->collectives;
  const size_t capacity = barrio_capacity(table);
  for (size_t i = 0; i < capacity; ++i) {
    struct barrio_collective_total* const total = table->slots[i].value;
    if (total == NULL) continue;
    const enum barrio_collective kind = (enum barrio_collective)(table->slots[i].key >> 32);
    recorder->totals[kind].calls += total->calls;
    recorder->totals[kind].bytes += spread_one(members, kind, (int)(uint32_t)table->slots[i].key, total);
    free(total);
  }
  barrio_free_table(&members->collectives);
}
