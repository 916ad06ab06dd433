#include "benchmarks/exchange/mpi_calls.hpp"

#include <mpi.h>

#include <algorithm>
#include <vector>

namespace barrio::bench {
namespace {
MpiCalls calls;
}

MpiCalls mpi_calls() { return calls; }

bool counts_mpi_calls() {
#ifdef BARRIO_MPI_SMPI
  return false;
#else
  return true;
#endif
}

}  // namespace barrio::bench

#ifndef BARRIO_MPI_SMPI
namespace barrio::bench {
namespace {

std::vector<MPI_Request> persistent_sends;  // sorted

void remember(MPI_Request request) {
  persistent_sends.insert(std::ranges::upper_bound(persistent_sends, request), request);
}

void forget(MPI_Request request) {
  const auto [first, last] = std::ranges::equal_range(persistent_sends, request);
  persistent_sends.erase(first, last);
}

void count_start(MPI_Request request) {
  if (std::ranges::binary_search(persistent_sends, request)) calls.messages += 1;
}

}  // namespace
}  // namespace barrio::bench

#define BARRIO_COUNT(counter, name, parameters, arguments) \
  extern "C" int MPI_##name parameters {                   \
    barrio::bench::calls.counter += 1;                     \
    return PMPI_##name arguments;                          \
  }
#define BARRIO_LIST(...) __VA_ARGS__
// A blocking call and its non-blocking variant; the lists are without the request.
#define BARRIO_COUNT_BOTH(counter, name, iname, parameters, arguments)           \
  BARRIO_COUNT(counter, name, (BARRIO_LIST parameters), (BARRIO_LIST arguments)) \
  BARRIO_COUNT(counter, iname, (BARRIO_LIST parameters, MPI_Request * r), (BARRIO_LIST arguments, r))
#define BARRIO_COUNT_SEND(name, iname)                                                                          \
  BARRIO_COUNT_BOTH(messages, name, iname, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), \
                    (b, n, t, to, tag, c))
#define BARRIO_COUNT_SEND_INIT(name)                                                                             \
  extern "C" int MPI_##name(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) { \
    const int code = PMPI_##name(b, n, t, to, tag, c, r);                                                        \
    if (code == MPI_SUCCESS) barrio::bench::remember(*r);                                                        \
    return code;                                                                                                 \
  }

BARRIO_COUNT_SEND(Send, Isend)
BARRIO_COUNT_SEND(Ssend, Issend)
BARRIO_COUNT_SEND(Bsend, Ibsend)
BARRIO_COUNT_SEND(Rsend, Irsend)
BARRIO_COUNT(messages, Sendrecv,
             (const void* s, int n, MPI_Datatype t, int to, int tag, void* b, int m, MPI_Datatype u, int from,
              int tag_in, MPI_Comm c, MPI_Status* status),
             (s, n, t, to, tag, b, m, u, from, tag_in, c, status))
BARRIO_COUNT_SEND_INIT(Send_init)
BARRIO_COUNT_SEND_INIT(Ssend_init)
BARRIO_COUNT_SEND_INIT(Bsend_init)
BARRIO_COUNT_SEND_INIT(Rsend_init)
extern "C" int MPI_Start(MPI_Request* request) {
  barrio::bench::count_start(*request);
  return PMPI_Start(request);
}
extern "C" int MPI_Startall(int n, MPI_Request requests[]) {
  for (int i = 0; i < n; ++i) barrio::bench::count_start(requests[i]);
  return PMPI_Startall(n, requests);
}
extern "C" int MPI_Request_free(MPI_Request* request) {
  barrio::bench::forget(*request);
  return PMPI_Request_free(request);
}

#define BARRIO_COUNT_COLLECTIVE(name, iname, parameters, arguments) \
  BARRIO_COUNT_BOTH(collectives, name, iname, parameters, arguments)

BARRIO_COUNT_COLLECTIVE(Barrier, Ibarrier, (MPI_Comm c), (c))
BARRIO_COUNT_COLLECTIVE(Bcast, Ibcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
BARRIO_COUNT_COLLECTIVE(Reduce, Ireduce,
                        (const void* s, void* b, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),
                        (s, b, n, t, o, root, c))
BARRIO_COUNT_COLLECTIVE(Allreduce, Iallreduce, (const void* s, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
                        (s, b, n, t, o, c))
BARRIO_COUNT_COLLECTIVE(Reduce_scatter, Ireduce_scatter,
                        (const void* s, void* b, const int* n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
                        (s, b, n, t, o, c))
BARRIO_COUNT_COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block,
                        (const void* s, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c), (s, b, n, t, o, c))
BARRIO_COUNT_COLLECTIVE(Scan, Iscan, (const void* s, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
                        (s, b, n, t, o, c))
BARRIO_COUNT_COLLECTIVE(Exscan, Iexscan, (const void* s, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
                        (s, b, n, t, o, c))
BARRIO_COUNT_COLLECTIVE(Gather, Igather,
                        (const void* s, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, int root, MPI_Comm c),
                        (s, n, t, b, m, u, root, c))
BARRIO_COUNT_COLLECTIVE(Gatherv, Igatherv,
                        (const void* s, int n, MPI_Datatype t, void* b, const int* m, const int* d, MPI_Datatype u,
                         int root, MPI_Comm c),
                        (s, n, t, b, m, d, u, root, c))
BARRIO_COUNT_COLLECTIVE(Scatter, Iscatter,
                        (const void* s, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, int root, MPI_Comm c),
                        (s, n, t, b, m, u, root, c))
BARRIO_COUNT_COLLECTIVE(Scatterv, Iscatterv,
                        (const void* s, const int* n, const int* d, MPI_Datatype t, void* b, int m, MPI_Datatype u,
                         int root, MPI_Comm c),
                        (s, n, d, t, b, m, u, root, c))

// All-to-alls, on all ranks and on the neighbours of a graph: the parameters are the same.
#define BARRIO_COUNT_ALL(name, iname, graph_name, graph_iname, parameters, arguments) \
  BARRIO_COUNT_COLLECTIVE(name, iname, parameters, arguments)                         \
  BARRIO_COUNT_COLLECTIVE(graph_name, graph_iname, parameters, arguments)

BARRIO_COUNT_ALL(Allgather, Iallgather, Neighbor_allgather, Ineighbor_allgather,
                 (const void* s, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),
                 (s, n, t, b, m, u, c))
BARRIO_COUNT_ALL(Allgatherv, Iallgatherv, Neighbor_allgatherv, Ineighbor_allgatherv,
                 (const void* s, int n, MPI_Datatype t, void* b, const int* m, const int* d, MPI_Datatype u,
                  MPI_Comm c),
                 (s, n, t, b, m, d, u, c))
BARRIO_COUNT_ALL(Alltoall, Ialltoall, Neighbor_alltoall, Ineighbor_alltoall,
                 (const void* s, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),
                 (s, n, t, b, m, u, c))
BARRIO_COUNT_ALL(Alltoallv, Ialltoallv, Neighbor_alltoallv, Ineighbor_alltoallv,
                 (const void* s, const int* n, const int* e, MPI_Datatype t, void* b, const int* m, const int* d,
                  MPI_Datatype u, MPI_Comm c),
                 (s, n, e, t, b, m, d, u, c))
BARRIO_COUNT_COLLECTIVE(Alltoallw, Ialltoallw,
                        (const void* s, const int* n, const int* e, const MPI_Datatype* t, void* b, const int* m,
                         const int* d, const MPI_Datatype* u, MPI_Comm c),
                        (s, n, e, t, b, m, d, u, c))
BARRIO_COUNT_COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw,
                        (const void* s, const int* n, const MPI_Aint* e, const MPI_Datatype* t, void* b, const int* m,
                         const MPI_Aint* d, const MPI_Datatype* u, MPI_Comm c),
                        (s, n, e, t, b, m, d, u, c))

BARRIO_COUNT(collectives, Comm_dup, (MPI_Comm c, MPI_Comm* made), (c, made))
BARRIO_COUNT(collectives, Comm_idup, (MPI_Comm c, MPI_Comm* made, MPI_Request* r), (c, made, r))
BARRIO_COUNT(collectives, Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm* made), (c, g, made))
BARRIO_COUNT(collectives, Comm_split, (MPI_Comm c, int colour, int key, MPI_Comm* made), (c, colour, key, made))
BARRIO_COUNT(collectives, Dist_graph_create_adjacent,
             (MPI_Comm c, int n, const int* from, const int* w, int m, const int* to, const int* v, MPI_Info i,
              int reorder, MPI_Comm* made),
             (c, n, from, w, m, to, v, i, reorder, made))
#endif
