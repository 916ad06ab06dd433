/* The counted calls of C. Each wrapper notes the traffic of the call and passes it on. Fortran programs of MPICH come
 * here too, since its Fortran calls its C; those of Open MPI go through fortran.c. */
#include "barrio/rankmap/record/find.h"
#include "barrio/rankmap/record/record.h"

#define KEY BARRIO_KEY

#pragma GCC visibility push(default)
#define COUNTED(name, parameters, note, arguments) \
  int name parameters {                            \
    BARRIO_REAL_OF(name);                          \
    note;                                          \
    return BARRIO_REAL(name) arguments;            \
  }
#define PLAIN (const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
#define ASYNC (const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request)
#define NOTE_SENT barrio_sent(KEY(comm), to, (uint64_t)count, KEY(type))
#define SEND(name) COUNTED(name, PLAIN, NOTE_SENT, (buffer, count, type, to, tag, comm))
#define ISEND(name) COUNTED(name, ASYNC, NOTE_SENT, (buffer, count, type, to, tag, comm, request))
#define SEND_INIT(name)                                                                                   \
  int name ASYNC {                                                                                        \
    BARRIO_REAL_OF(name);                                                                                 \
    const int code = BARRIO_REAL(name)(buffer, count, type, to, tag, comm, request);                      \
    if (code == MPI_SUCCESS) barrio_persistent(KEY(*request), KEY(comm), to, (uint64_t)count, KEY(type)); \
    return code;                                                                                          \
  }

int MPI_Init(int* argc, char*** argv) {
  BARRIO_REAL_OF(MPI_Init);
  barrio_check_mpi();
  const int code = BARRIO_REAL(MPI_Init)(argc, argv);
  barrio_begin();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  BARRIO_REAL_OF(MPI_Init_thread);
  barrio_check_mpi();
  const int code = BARRIO_REAL(MPI_Init_thread)(argc, argv, required, provided);
  barrio_begin();
  return code;
}

COUNTED(MPI_Finalize, (void), barrio_write(), ())
COUNTED(MPI_Pcontrol, (const int level, ...), barrio_pause(level), (level))
/* A handle may also be known under its Fortran number. */
#ifdef OPEN_MPI
#define FORGET(kind, name, handle)                                             \
  do {                                                                         \
    BARRIO_REAL_OF(name##_c2f);                                                \
    barrio_forget_##kind(BARRIO_FORTRAN_KEY(BARRIO_REAL(name##_c2f)(handle))); \
    barrio_forget_##kind(KEY(handle));                                         \
  } while (0)
#else
#define FORGET(kind, name, handle) barrio_forget_##kind(KEY(handle))
#endif
COUNTED(MPI_Comm_free, (MPI_Comm * comm), FORGET(comm, MPI_Comm, *comm), (comm))
COUNTED(MPI_Comm_disconnect, (MPI_Comm * comm), FORGET(comm, MPI_Comm, *comm), (comm))
COUNTED(MPI_Type_free, (MPI_Datatype * type), FORGET(type, MPI_Type, *type), (type))
COUNTED(MPI_Request_free, (MPI_Request * request), FORGET(request, MPI_Request, *request), (request))
COUNTED(MPI_Win_free, (MPI_Win * window), barrio_forget_comm(KEY(*window) ^ UINT64_C(1) << 63), (window))

SEND(MPI_Send)
SEND(MPI_Bsend)
SEND(MPI_Ssend)
SEND(MPI_Rsend)
ISEND(MPI_Isend)
ISEND(MPI_Ibsend)
ISEND(MPI_Issend)
ISEND(MPI_Irsend)
SEND_INIT(MPI_Send_init)
SEND_INIT(MPI_Bsend_init)
SEND_INIT(MPI_Ssend_init)
SEND_INIT(MPI_Rsend_init)

COUNTED(MPI_Start, (MPI_Request * request), barrio_started(KEY(*request)), (request))

int MPI_Startall(int n, MPI_Request requests[]) {
  BARRIO_REAL_OF(MPI_Startall);
  for (int i = 0; i < n; ++i) barrio_started(KEY(requests[i]));
  return BARRIO_REAL(MPI_Startall)(n, requests);
}

COUNTED(MPI_Sendrecv,
        (const void* sent, int count, MPI_Datatype type, int to, int send_tag, void* received, int most,
         MPI_Datatype received_type, int from, int receive_tag, MPI_Comm comm, MPI_Status* status),
        NOTE_SENT, (sent, count, type, to, send_tag, received, most, received_type, from, receive_tag, comm, status))
COUNTED(MPI_Sendrecv_replace,
        (void* buffer, int count, MPI_Datatype type, int to, int send_tag, int from, int receive_tag, MPI_Comm comm,
         MPI_Status* status),
        NOTE_SENT, (buffer, count, type, to, send_tag, from, receive_tag, comm, status))

/* A collective and its non-blocking form. */
#define ALL(...) __VA_ARGS__
#define COLLECTIVE(name, iname, parameters, note, arguments) \
  COUNTED(name, (ALL parameters), note, (ALL arguments))     \
  COUNTED(iname, (ALL parameters, MPI_Request * request), note, (ALL arguments, request))
#define NOTE(kind, root, count, type) barrio_collective(KEY(comm), barrio_##kind, root, (uint64_t)(count), KEY(type))
/* In place: the sent data have the shape of the received data. */
#define IS_IN_PLACE (sent == MPI_IN_PLACE)

COLLECTIVE(MPI_Barrier, MPI_Ibarrier, (MPI_Comm comm), barrio_collective(KEY(comm), barrio_barrier, 0, 0, 0), (comm))
COLLECTIVE(MPI_Bcast, MPI_Ibcast, (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm),
           NOTE(bcast, root, count, type), (buffer, count, type, root, comm))
COLLECTIVE(MPI_Reduce, MPI_Ireduce,
           (const void* sent, void* received, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
           NOTE(reduce, root, count, type), (sent, received, count, type, op, root, comm))
COLLECTIVE(MPI_Allreduce, MPI_Iallreduce,
           (const void* sent, void* received, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           NOTE(allreduce, 0, count, type), (sent, received, count, type, op, comm))
COLLECTIVE(MPI_Scan, MPI_Iscan,
           (const void* sent, void* received, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           NOTE(allreduce, 0, count, type), (sent, received, count, type, op, comm))
COLLECTIVE(MPI_Exscan, MPI_Iexscan,
           (const void* sent, void* received, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           NOTE(allreduce, 0, count, type), (sent, received, count, type, op, comm))
COLLECTIVE(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
           (const void* sent, void* received, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           barrio_reduce_scattered(KEY(comm), 0, (uint64_t)count, KEY(type)), (sent, received, count, type, op, comm))
COLLECTIVE(MPI_Reduce_scatter, MPI_Ireduce_scatter,
           (const void* sent, void* received, const int counts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           barrio_reduce_scattered(KEY(comm), counts, 0, KEY(type)), (sent, received, counts, type, op, comm))
COLLECTIVE(MPI_Gather, MPI_Igather,
           (const void* sent, int count, MPI_Datatype type, void* received, int most, MPI_Datatype received_type,
            int root, MPI_Comm comm),
           NOTE(gather, root, IS_IN_PLACE ? 0 : count, IS_IN_PLACE ? received_type : type),
           (sent, count, type, received, most, received_type, root, comm))
COLLECTIVE(MPI_Gatherv, MPI_Igatherv,
           (const void* sent, int count, MPI_Datatype type, void* received, const int counts[], const int places[],
            MPI_Datatype received_type, int root, MPI_Comm comm),
           NOTE(gather, root, IS_IN_PLACE ? 0 : count, IS_IN_PLACE ? received_type : type),
           (sent, count, type, received, counts, places, received_type, root, comm))
COLLECTIVE(MPI_Scatter, MPI_Iscatter,
           (const void* sent, int count, MPI_Datatype type, void* received, int most, MPI_Datatype received_type,
            int root, MPI_Comm comm),
           barrio_scattered_evenly(KEY(comm), root, (uint64_t)count, KEY(type)),
           (sent, count, type, received, most, received_type, root, comm))
COLLECTIVE(MPI_Scatterv, MPI_Iscatterv,
           (const void* sent, const int counts[], const int places[], MPI_Datatype type, void* received, int most,
            MPI_Datatype received_type, int root, MPI_Comm comm),
           barrio_scattered(KEY(comm), root, counts, KEY(type)),
           (sent, counts, places, type, received, most, received_type, root, comm))
COLLECTIVE(MPI_Allgather, MPI_Iallgather,
           (const void* sent, int count, MPI_Datatype type, void* received, int most, MPI_Datatype received_type,
            MPI_Comm comm),
           NOTE(allgather, 0, IS_IN_PLACE ? most : count, IS_IN_PLACE ? received_type : type),
           (sent, count, type, received, most, received_type, comm))
COLLECTIVE(MPI_Allgatherv, MPI_Iallgatherv,
           (const void* sent, int count, MPI_Datatype type, void* received, const int counts[], const int places[],
            MPI_Datatype received_type, MPI_Comm comm),
           NOTE(allgather, 0, IS_IN_PLACE ? barrio_own_count(KEY(comm), counts) : (uint64_t)count,
                IS_IN_PLACE ? received_type : type),
           (sent, count, type, received, counts, places, received_type, comm))
COLLECTIVE(MPI_Alltoall, MPI_Ialltoall,
           (const void* sent, int count, MPI_Datatype type, void* received, int most, MPI_Datatype received_type,
            MPI_Comm comm),
           NOTE(alltoall, 0, IS_IN_PLACE ? most : count, IS_IN_PLACE ? received_type : type),
           (sent, count, type, received, most, received_type, comm))
COLLECTIVE(MPI_Alltoallv, MPI_Ialltoallv,
           (const void* sent, const int counts[], const int places[], MPI_Datatype type, void* received,
            const int mosts[], const int received_places[], MPI_Datatype received_type, MPI_Comm comm),
           barrio_sent_to_all(KEY(comm), IS_IN_PLACE ? mosts : counts, KEY(IS_IN_PLACE ? received_type : type), 0, 0),
           (sent, counts, places, type, received, mosts, received_places, received_type, comm))
COLLECTIVE(MPI_Alltoallw, MPI_Ialltoallw,
           (const void* sent, const int counts[], const int places[], const MPI_Datatype types[], void* received,
            const int mosts[], const int received_places[], const MPI_Datatype received_types[], MPI_Comm comm),
           barrio_sent_to_all(KEY(comm), IS_IN_PLACE ? mosts : counts, 0, IS_IN_PLACE ? received_types : types, 0),
           (sent, counts, places, types, received, mosts, received_places, received_types, comm))

#define TO_NEIGHBOURS(counts, count, type, types) \
  barrio_sent_to_neighbours(KEY(comm), counts, (uint64_t)(count), type, types, 0)
COLLECTIVE(MPI_Neighbor_allgather, MPI_Ineighbor_allgather,
           (const void* sent, int count, MPI_Datatype type, void* received, int most, MPI_Datatype received_type,
            MPI_Comm comm),
           TO_NEIGHBOURS(0, count, KEY(type), 0), (sent, count, type, received, most, received_type, comm))
COLLECTIVE(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv,
           (const void* sent, int count, MPI_Datatype type, void* received, const int counts[], const int places[],
            MPI_Datatype received_type, MPI_Comm comm),
           TO_NEIGHBOURS(0, count, KEY(type), 0), (sent, count, type, received, counts, places, received_type, comm))
COLLECTIVE(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall,
           (const void* sent, int count, MPI_Datatype type, void* received, int most, MPI_Datatype received_type,
            MPI_Comm comm),
           TO_NEIGHBOURS(0, count, KEY(type), 0), (sent, count, type, received, most, received_type, comm))
COLLECTIVE(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv,
           (const void* sent, const int counts[], const int places[], MPI_Datatype type, void* received,
            const int mosts[], const int received_places[], MPI_Datatype received_type, MPI_Comm comm),
           TO_NEIGHBOURS(counts, 0, KEY(type), 0),
           (sent, counts, places, type, received, mosts, received_places, received_type, comm))
COLLECTIVE(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw,
           (const void* sent, const int counts[], const MPI_Aint places[], const MPI_Datatype types[], void* received,
            const int mosts[], const MPI_Aint received_places[], const MPI_Datatype received_types[], MPI_Comm comm),
           TO_NEIGHBOURS(counts, 0, 0, types),
           (sent, counts, places, types, received, mosts, received_places, received_types, comm))

#define NOTE_PUT barrio_one_sided(window, target, (uint64_t)count, KEY(type), 0)
#define NOTE_GOT barrio_one_sided(window, target, (uint64_t)count, KEY(type), 1)
#define TARGET int target, MPI_Aint place, int target_count, MPI_Datatype target_type
COUNTED(MPI_Put, (const void* sent, int count, MPI_Datatype type, TARGET, MPI_Win window), NOTE_PUT,
        (sent, count, type, target, place, target_count, target_type, window))
COUNTED(MPI_Rput, (const void* sent, int count, MPI_Datatype type, TARGET, MPI_Win window, MPI_Request* request),
        NOTE_PUT, (sent, count, type, target, place, target_count, target_type, window, request))
COUNTED(MPI_Accumulate, (const void* sent, int count, MPI_Datatype type, TARGET, MPI_Op op, MPI_Win window), NOTE_PUT,
        (sent, count, type, target, place, target_count, target_type, op, window))
COUNTED(MPI_Raccumulate,
        (const void* sent, int count, MPI_Datatype type, TARGET, MPI_Op op, MPI_Win window, MPI_Request* request),
        NOTE_PUT, (sent, count, type, target, place, target_count, target_type, op, window, request))
COUNTED(MPI_Get, (void* received, int count, MPI_Datatype type, TARGET, MPI_Win window), NOTE_GOT,
        (received, count, type, target, place, target_count, target_type, window))
COUNTED(MPI_Rget, (void* received, int count, MPI_Datatype type, TARGET, MPI_Win window, MPI_Request* request),
        NOTE_GOT, (received, count, type, target, place, target_count, target_type, window, request))
COUNTED(MPI_Get_accumulate,
        (const void* sent, int count, MPI_Datatype type, void* received, int most, MPI_Datatype received_type, TARGET,
         MPI_Op op, MPI_Win window),
        (NOTE_PUT, barrio_one_sided(window, target, (uint64_t)most, KEY(received_type), 1)),
        (sent, count, type, received, most, received_type, target, place, target_count, target_type, op, window))
COUNTED(MPI_Rget_accumulate,
        (const void* sent, int count, MPI_Datatype type, void* received, int most, MPI_Datatype received_type, TARGET,
         MPI_Op op, MPI_Win window, MPI_Request* request),
        (NOTE_PUT, barrio_one_sided(window, target, (uint64_t)most, KEY(received_type), 1)),
        (sent, count, type, received, most, received_type, target, place, target_count, target_type, op, window,
         request))
COUNTED(MPI_Fetch_and_op,
        (const void* sent, void* received, MPI_Datatype type, int target, MPI_Aint place, MPI_Op op, MPI_Win window),
        (barrio_one_sided(window, target, 1, KEY(type), 0), barrio_one_sided(window, target, 1, KEY(type), 1)),
        (sent, received, type, target, place, op, window))
COUNTED(MPI_Compare_and_swap,
        (const void* sent, const void* compared, void* received, MPI_Datatype type, int target, MPI_Aint place,
         MPI_Win window),
        (barrio_one_sided(window, target, 1, KEY(type), 0), barrio_one_sided(window, target, 1, KEY(type), 1)),
        (sent, compared, received, type, target, place, window))

#if MPI_VERSION >= 4
COUNTED(MPI_Isendrecv,
        (const void* sent, int count, MPI_Datatype type, int to, int send_tag, void* received, int most,
         MPI_Datatype received_type, int from, int receive_tag, MPI_Comm comm, MPI_Request* request),
        NOTE_SENT, (sent, count, type, to, send_tag, received, most, received_type, from, receive_tag, comm, request))
COUNTED(MPI_Isendrecv_replace,
        (void* buffer, int count, MPI_Datatype type, int to, int send_tag, int from, int receive_tag, MPI_Comm comm,
         MPI_Request* request),
        NOTE_SENT, (buffer, count, type, to, send_tag, from, receive_tag, comm, request))
#endif
