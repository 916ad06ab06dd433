#include "tests/exchange/mpi_calls.hpp"

#include <mpi.h>

namespace barrio::test {
namespace {
MpiCalls calls;
}
MpiCalls mpi_calls() { return calls; }
}  // namespace barrio::test

#ifndef BARRIO_MPI_SMPI
// A definition here replaces the one in the MPI library, for every room in this program.
#define BARRIO_TEST_COUNT(counter, name, parameters, arguments) \
  extern "C" int MPI_##name parameters {                        \
    barrio::test::calls.counter += 1;                           \
    return PMPI_##name arguments;                               \
  }

BARRIO_TEST_COUNT(sends, Send, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
                  (b, n, t, to, tag, c))
BARRIO_TEST_COUNT(sends, Isend, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),
                  (b, n, t, to, tag, c, r))
BARRIO_TEST_COUNT(sends, Issend, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r),
                  (b, n, t, to, tag, c, r))

BARRIO_TEST_COUNT(collectives, Barrier, (MPI_Comm c), (c))
BARRIO_TEST_COUNT(collectives, Ibarrier, (MPI_Comm c, MPI_Request* r), (c, r))
BARRIO_TEST_COUNT(collectives, Bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
BARRIO_TEST_COUNT(collectives, Ibcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* r),
                  (b, n, t, root, c, r))
BARRIO_TEST_COUNT(collectives, Reduce, (const void* s, void* b, int n, MPI_Datatype t, MPI_Op o, int root, MPI_Comm c),
                  (s, b, n, t, o, root, c))
BARRIO_TEST_COUNT(collectives, Allreduce, (const void* s, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
                  (s, b, n, t, o, c))
BARRIO_TEST_COUNT(collectives, Iallreduce,
                  (const void* s, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r),
                  (s, b, n, t, o, c, r))
BARRIO_TEST_COUNT(collectives, Exscan, (const void* s, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
                  (s, b, n, t, o, c))
BARRIO_TEST_COUNT(collectives, Iexscan,
                  (const void* s, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c, MPI_Request* r),
                  (s, b, n, t, o, c, r))
BARRIO_TEST_COUNT(collectives, Gather,
                  (const void* s, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, int root, MPI_Comm c),
                  (s, n, t, b, m, u, root, c))
BARRIO_TEST_COUNT(collectives, Gatherv,
                  (const void* s, int n, MPI_Datatype t, void* b, const int* m, const int* d, MPI_Datatype u, int root,
                   MPI_Comm c),
                  (s, n, t, b, m, d, u, root, c))
BARRIO_TEST_COUNT(collectives, Allgather,
                  (const void* s, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),
                  (s, n, t, b, m, u, c))
BARRIO_TEST_COUNT(collectives, Iallgather,
                  (const void* s, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c, MPI_Request* r),
                  (s, n, t, b, m, u, c, r))
BARRIO_TEST_COUNT(collectives, Allgatherv,
                  (const void* s, int n, MPI_Datatype t, void* b, const int* m, const int* d, MPI_Datatype u,
                   MPI_Comm c),
                  (s, n, t, b, m, d, u, c))
BARRIO_TEST_COUNT(collectives, Alltoall,
                  (const void* s, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),
                  (s, n, t, b, m, u, c))
BARRIO_TEST_COUNT(collectives, Alltoallv,
                  (const void* s, const int* n, const int* e, MPI_Datatype t, void* b, const int* m, const int* d,
                   MPI_Datatype u, MPI_Comm c),
                  (s, n, e, t, b, m, d, u, c))
#endif
