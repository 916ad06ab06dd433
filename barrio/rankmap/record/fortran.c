/* The calls of Fortran programs that do not reach those of C. Arguments are passed by reference.
 * Open MPI: all calls, since its Fortran bypasses the wrapped C; under each name that compilers make of a procedure,
 * and under the one that the module mpi_f08 calls. MPICH: few, see below. */
#include "barrio/rankmap/record/find.h"
#include "barrio/rankmap/record/record.h"

#ifdef OPEN_MPI

#pragma GCC visibility push(default)

#define KEY(handle) BARRIO_FORTRAN_KEY(*(handle))
#define ALL(...) __VA_ARGS__
#define ALIAS(name, other, parameters) void other parameters __attribute__((alias("mpi_" #name "_")));
#define COUNTED_AROUND(name, NAME, parameters, before, arguments, after)      \
  void mpi_##name##_ parameters;                                              \
  void mpi_##name##_ parameters {                                             \
    static void(*real) parameters;                                            \
    if (real == 0) real = (void(*) parameters)barrio_find("pmpi_" #name "_"); \
    before;                                                                   \
    real arguments;                                                           \
    after;                                                                    \
  }                                                                           \
  ALIAS(name, mpi_##name, parameters)                                         \
  ALIAS(name, mpi_##name##__, parameters)                                     \
  ALIAS(name, MPI_##NAME, parameters)                                         \
  ALIAS(name, ompi_##name##_f, parameters)
#define COUNTED(name, NAME, parameters, note, arguments) COUNTED_AROUND(name, NAME, parameters, note, arguments, )

typedef MPI_Fint integer;
typedef MPI_Aint address;

#define PLAIN (char* buffer, integer* count, integer* type, integer* to, integer* tag, integer* comm, integer* code)
#define ASYNC                                                                                               \
  (char* buffer, integer* count, integer* type, integer* to, integer* tag, integer* comm, integer* request, \
   integer* code)
#define NOTE_SENT barrio_sent(KEY(comm), *to, (uint64_t)*count, KEY(type))
#define SEND(name, NAME) COUNTED(name, NAME, PLAIN, NOTE_SENT, (buffer, count, type, to, tag, comm, code))
#define ISEND(name, NAME) COUNTED(name, NAME, ASYNC, NOTE_SENT, (buffer, count, type, to, tag, comm, request, code))
#define SEND_INIT(name, NAME)                                                              \
  COUNTED_AROUND(name, NAME, ASYNC, , (buffer, count, type, to, tag, comm, request, code), \
                 barrio_persistent(KEY(request), KEY(comm), *to, (uint64_t)*count, KEY(type)))

static void forget_comm(const integer* comm) {
  BARRIO_REAL_OF(MPI_Comm_f2c);
  barrio_forget_comm(KEY(comm));
  barrio_forget_comm(BARRIO_KEY(BARRIO_REAL(MPI_Comm_f2c)(*comm)));
}

static void forget_type(const integer* type) {
  BARRIO_REAL_OF(MPI_Type_f2c);
  barrio_forget_type(KEY(type));
  barrio_forget_type(BARRIO_KEY(BARRIO_REAL(MPI_Type_f2c)(*type)));
}

static void start_all(integer n, const integer* requests) {
  for (integer i = 0; i < n; ++i) barrio_started(KEY(requests + i));
}

/* MPI_IN_PLACE of Fortran is the address of a common block. */
static int is_in_place(const void* buffer) {
  static const char* const names[] = {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__",
                                      "MPI_FORTRAN_IN_PLACE"};
  static const void* places[4];
  static int is_known;
  if (!is_known) {
    for (int i = 0; i < 4; ++i) places[i] = barrio_find_constant(names[i]);
    is_known = 1;
  }
  for (int i = 0; i < 4; ++i)
    if (places[i] != 0 && places[i] == buffer) return 1;
  return 0;
}

COUNTED_AROUND(init, INIT, (integer * code), barrio_check_mpi(), (code), barrio_begin())
COUNTED_AROUND(init_thread, INIT_THREAD, (integer * required, integer* provided, integer* code), barrio_check_mpi(),
               (required, provided, code), barrio_begin())
COUNTED(finalize, FINALIZE, (integer * code), barrio_write(), (code))
COUNTED(pcontrol, PCONTROL, (integer * level), barrio_pause(*level), (level))
COUNTED(comm_free, COMM_FREE, (integer * comm, integer* code), forget_comm(comm), (comm, code))
COUNTED(comm_disconnect, COMM_DISCONNECT, (integer * comm, integer* code), forget_comm(comm), (comm, code))
COUNTED(type_free, TYPE_FREE, (integer * type, integer* code), forget_type(type), (type, code))
COUNTED(request_free, REQUEST_FREE, (integer * request, integer* code), barrio_forget_request(KEY(request)),
        (request, code))

SEND(send, SEND)
SEND(bsend, BSEND)
SEND(ssend, SSEND)
SEND(rsend, RSEND)
ISEND(isend, ISEND)
ISEND(ibsend, IBSEND)
ISEND(issend, ISSEND)
ISEND(irsend, IRSEND)
SEND_INIT(send_init, SEND_INIT)
SEND_INIT(bsend_init, BSEND_INIT)
SEND_INIT(ssend_init, SSEND_INIT)
SEND_INIT(rsend_init, RSEND_INIT)
COUNTED(start, START, (integer * request, integer* code), barrio_started(KEY(request)), (request, code))
COUNTED(startall, STARTALL, (integer * n, integer* requests, integer* code), start_all(*n, requests),
        (n, requests, code))
COUNTED(sendrecv, SENDRECV,
        (char* sent, integer* count, integer* type, integer* to, integer* send_tag, char* received, integer* most,
         integer* received_type, integer* from, integer* receive_tag, integer* comm, integer* status, integer* code),
        NOTE_SENT,
        (sent, count, type, to, send_tag, received, most, received_type, from, receive_tag, comm, status, code))
COUNTED(sendrecv_replace, SENDRECV_REPLACE,
        (char* buffer, integer* count, integer* type, integer* to, integer* send_tag, integer* from,
         integer* receive_tag, integer* comm, integer* status, integer* code),
        NOTE_SENT, (buffer, count, type, to, send_tag, from, receive_tag, comm, status, code))

/* A collective and its non-blocking form. */
#define COLLECTIVE(name, NAME, parameters, note, arguments)                          \
  COUNTED(name, NAME, (ALL parameters, integer * code), note, (ALL arguments, code)) \
  COUNTED(i##name, I##NAME, (ALL parameters, integer * request, integer * code), note, (ALL arguments, request, code))
#define NOTE(kind, root, count, type) barrio_collective(KEY(comm), barrio_##kind, root, (uint64_t)(count), KEY(type))
#define FORM \
  (char* sent, integer* count, integer* type, char* received, integer* most, integer* received_type, integer* comm)
#define FORM_ARGUMENTS (sent, count, type, received, most, received_type, comm)
#define ROOTED                                                                                                      \
  (char* sent, integer* count, integer* type, char* received, integer* most, integer* received_type, integer* root, \
   integer* comm)
#define ROOTED_ARGUMENTS (sent, count, type, received, most, received_type, root, comm)
#define REDUCED (char* sent, char* received, integer* count, integer* type, integer* op, integer* comm)
#define REDUCED_ARGUMENTS (sent, received, count, type, op, comm)
#define COUNT_SENT (is_in_place(sent) ? *most : *count)
#define TYPE_SENT (is_in_place(sent) ? received_type : type)

COLLECTIVE(barrier, BARRIER, (integer * comm), barrio_collective(KEY(comm), barrio_barrier, 0, 0, 0), (comm))
COLLECTIVE(bcast, BCAST, (char* buffer, integer* count, integer* type, integer* root, integer* comm),
           NOTE(bcast, *root, *count, type), (buffer, count, type, root, comm))
COLLECTIVE(reduce, REDUCE,
           (char* sent, char* received, integer* count, integer* type, integer* op, integer* root, integer* comm),
           NOTE(reduce, *root, *count, type), (sent, received, count, type, op, root, comm))
COLLECTIVE(allreduce, ALLREDUCE, REDUCED, NOTE(allreduce, 0, *count, type), REDUCED_ARGUMENTS)
COLLECTIVE(scan, SCAN, REDUCED, NOTE(allreduce, 0, *count, type), REDUCED_ARGUMENTS)
COLLECTIVE(exscan, EXSCAN, REDUCED, NOTE(allreduce, 0, *count, type), REDUCED_ARGUMENTS)
COLLECTIVE(reduce_scatter, REDUCE_SCATTER, REDUCED, barrio_reduce_scattered(KEY(comm), count, 0, KEY(type)),
           REDUCED_ARGUMENTS)
COLLECTIVE(reduce_scatter_block, REDUCE_SCATTER_BLOCK, REDUCED,
           barrio_reduce_scattered(KEY(comm), 0, (uint64_t)*count, KEY(type)), REDUCED_ARGUMENTS)
COLLECTIVE(gather, GATHER, ROOTED, NOTE(gather, *root, is_in_place(sent) ? 0 : *count, TYPE_SENT), ROOTED_ARGUMENTS)
COLLECTIVE(gatherv, GATHERV,
           (char* sent, integer* count, integer* type, char* received, integer* counts, integer* places,
            integer* received_type, integer* root, integer* comm),
           NOTE(gather, *root, is_in_place(sent) ? 0 : *count, TYPE_SENT),
           (sent, count, type, received, counts, places, received_type, root, comm))
COLLECTIVE(scatter, SCATTER, ROOTED, barrio_scattered_evenly(KEY(comm), *root, (uint64_t)*count, KEY(type)),
           ROOTED_ARGUMENTS)
COLLECTIVE(scatterv, SCATTERV,
           (char* sent, integer* counts, integer* places, integer* type, char* received, integer* most,
            integer* received_type, integer* root, integer* comm),
           barrio_scattered(KEY(comm), *root, counts, KEY(type)),
           (sent, counts, places, type, received, most, received_type, root, comm))
COLLECTIVE(allgather, ALLGATHER, FORM, NOTE(allgather, 0, COUNT_SENT, TYPE_SENT), FORM_ARGUMENTS)
COLLECTIVE(allgatherv, ALLGATHERV,
           (char* sent, integer* count, integer* type, char* received, integer* most, integer* places,
            integer* received_type, integer* comm),
           NOTE(allgather, 0, is_in_place(sent) ? barrio_own_count(KEY(comm), most) : (uint64_t)*count, TYPE_SENT),
           (sent, count, type, received, most, places, received_type, comm))
COLLECTIVE(alltoall, ALLTOALL, FORM, NOTE(alltoall, 0, COUNT_SENT, TYPE_SENT), FORM_ARGUMENTS)
#define VARYING                                                                                 \
  (char* sent, integer* counts, integer* places, integer* type, char* received, integer* mosts, \
   integer* received_places, integer* received_type, integer* comm)
#define VARYING_ARGUMENTS (sent, counts, places, type, received, mosts, received_places, received_type, comm)
COLLECTIVE(alltoallv, ALLTOALLV, VARYING,
           barrio_sent_to_all(KEY(comm), is_in_place(sent) ? mosts : counts, KEY(TYPE_SENT), 0, 0), VARYING_ARGUMENTS)
COLLECTIVE(alltoallw, ALLTOALLW, VARYING,
           barrio_sent_to_all(KEY(comm), is_in_place(sent) ? mosts : counts, 0, 0, TYPE_SENT), VARYING_ARGUMENTS)

#define TO_NEIGHBOURS(counts, count, type, types) \
  barrio_sent_to_neighbours(KEY(comm), counts, (uint64_t)(count), type, 0, types)
COLLECTIVE(neighbor_allgather, NEIGHBOR_ALLGATHER, FORM, TO_NEIGHBOURS(0, *count, KEY(type), 0), FORM_ARGUMENTS)
COLLECTIVE(neighbor_allgatherv, NEIGHBOR_ALLGATHERV,
           (char* sent, integer* count, integer* type, char* received, integer* mosts, integer* places,
            integer* received_type, integer* comm),
           TO_NEIGHBOURS(0, *count, KEY(type), 0), (sent, count, type, received, mosts, places, received_type, comm))
COLLECTIVE(neighbor_alltoall, NEIGHBOR_ALLTOALL, FORM, TO_NEIGHBOURS(0, *count, KEY(type), 0), FORM_ARGUMENTS)
COLLECTIVE(neighbor_alltoallv, NEIGHBOR_ALLTOALLV, VARYING, TO_NEIGHBOURS(counts, 0, KEY(type), 0), VARYING_ARGUMENTS)
COLLECTIVE(neighbor_alltoallw, NEIGHBOR_ALLTOALLW,
           (char* sent, integer* counts, address* places, integer* types, char* received, integer* mosts,
            address* received_places, integer* received_types, integer* comm),
           TO_NEIGHBOURS(counts, 0, 0, types),
           (sent, counts, places, types, received, mosts, received_places, received_types, comm))

#define TARGET integer *target, address *place, integer *target_count, integer *target_type
static void one_sided(const integer* window, const integer* target, const integer* count, const integer* type,
                      int is_fetched) {
  BARRIO_REAL_OF(MPI_Win_f2c);
  barrio_one_sided(BARRIO_REAL(MPI_Win_f2c)(*window), *target, (uint64_t)*count, KEY(type), is_fetched);
}
static void forget_window(const integer* window) {
  BARRIO_REAL_OF(MPI_Win_f2c);
  barrio_forget_comm(BARRIO_KEY(BARRIO_REAL(MPI_Win_f2c)(*window)) ^ UINT64_C(1) << 63);
}
COUNTED(put, PUT, (char* sent, integer* count, integer* type, TARGET, integer* window, integer* code),
        one_sided(window, target, count, type, 0),
        (sent, count, type, target, place, target_count, target_type, window, code))
COUNTED(get, GET, (char* received, integer* count, integer* type, TARGET, integer* window, integer* code),
        one_sided(window, target, count, type, 1),
        (received, count, type, target, place, target_count, target_type, window, code))
COUNTED(accumulate, ACCUMULATE,
        (char* sent, integer* count, integer* type, TARGET, integer* op, integer* window, integer* code),
        one_sided(window, target, count, type, 0),
        (sent, count, type, target, place, target_count, target_type, op, window, code))
COUNTED(win_free, WIN_FREE, (integer * window, integer* code), forget_window(window), (window, code))

#else

/* MPICH's Fortran calls its wrapped C, except for calls without a buffer in the module mpi_f08. */
#pragma GCC visibility push(default)

#define KEY(handle) BARRIO_KEY(*(handle))
#define COUNTED_AROUND(name, parameters, before, arguments, after)               \
  void mpi_##name##_f08_ parameters;                                             \
  void mpi_##name##_f08_ parameters {                                            \
    static void(*real) parameters;                                               \
    if (real == 0) real = (void(*) parameters)barrio_find("mpi_" #name "_f08_"); \
    before;                                                                      \
    real arguments;                                                              \
    after;                                                                       \
  }
#define COUNTED(name, parameters, note, arguments) COUNTED_AROUND(name, parameters, note, arguments, )

static void start_all(int n, const MPI_Request* requests) {
  for (int i = 0; i < n; ++i) barrio_started(KEY(requests + i));
}

COUNTED_AROUND(init, (int* code), barrio_check_mpi(), (code), barrio_begin())
COUNTED_AROUND(init_thread, (int* required, int* provided, int* code), barrio_check_mpi(), (required, provided, code),
               barrio_begin())
COUNTED(finalize, (int* code), barrio_write(), (code))
COUNTED(pcontrol, (int* level), barrio_pause(*level), (level))
COUNTED(comm_free, (MPI_Comm * comm, int* code), barrio_forget_comm(KEY(comm)), (comm, code))
COUNTED(comm_disconnect, (MPI_Comm * comm, int* code), barrio_forget_comm(KEY(comm)), (comm, code))
COUNTED(type_free, (MPI_Datatype * type, int* code), barrio_forget_type(KEY(type)), (type, code))
COUNTED(request_free, (MPI_Request * request, int* code), barrio_forget_request(KEY(request)), (request, code))
COUNTED(start, (MPI_Request * request, int* code), barrio_started(KEY(request)), (request, code))
COUNTED(startall, (int* n, MPI_Request* requests, int* code), start_all(*n, requests), (n, requests, code))
COUNTED(barrier, (MPI_Comm * comm, int* code), barrio_collective(KEY(comm), barrio_barrier, 0, 0, 0), (comm, code))

#endif
