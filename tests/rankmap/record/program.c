/* A program with the messages that test_record.py expects: each rank sends to its successor by every call, in the world
 * and in communicators in which it has another number. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { n_items = 10 };
static int rank, size, next, previous;
static double out[64 * n_items], in[64 * n_items];

static int wants(int argc, char** argv, const char* word) {
  for (int i = 1; i < argc; ++i)
    if (strcmp(argv[i], word) == 0) return 1;
  return 0;
}

/* Send 12 messages of 80 bytes to the successor in `comm`. */
static void send_in_each_way(MPI_Comm comm, int to, int from) {
  MPI_Request requests[2];
  MPI_Irecv(in, n_items, MPI_DOUBLE, from, 0, comm, &requests[0]);
  MPI_Send(out, n_items, MPI_DOUBLE, to, 0, comm);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  int (*const starts[])(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) = {MPI_Isend, MPI_Issend,
                                                                                             MPI_Ibsend};
  static char room[4096];
  MPI_Buffer_attach(room, sizeof room);
  for (int i = 0; i < 3; ++i) {
    MPI_Irecv(in, n_items, MPI_DOUBLE, from, 0, comm, &requests[0]);
    starts[i](out, n_items, MPI_DOUBLE, to, 0, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < 3; ++i) {
    MPI_Irecv(in, n_items, MPI_DOUBLE, from, 0, comm, &requests[0]);
    if (i == 0) MPI_Bsend(out, n_items, MPI_DOUBLE, to, 0, comm);
    if (i == 1) MPI_Ssend(out, n_items, MPI_DOUBLE, to, 0, comm);
    if (i == 2) MPI_Rsend(out, n_items, MPI_DOUBLE, to, 0, comm); /* see below */
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD); /* so that what is sent ready finds its receive */
  }
  void* ignored;
  int n_ignored;
  MPI_Buffer_detach(&ignored, &n_ignored);
  MPI_Sendrecv(out, n_items, MPI_DOUBLE, to, 1, in, n_items, MPI_DOUBLE, from, 1, comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(out, n_items, MPI_DOUBLE, to, 1, from, 1, comm, MPI_STATUS_IGNORE);
  MPI_Request persistent[2];
  MPI_Recv_init(in, n_items, MPI_DOUBLE, from, 2, comm, &persistent[0]);
  MPI_Send_init(out, n_items, MPI_DOUBLE, to, 2, comm, &persistent[1]);
  for (int i = 0; i < 2; ++i) {
    MPI_Startall(2, persistent);
    MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
  }
  MPI_Start(&persistent[0]);
  MPI_Start(&persistent[1]);
  MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
  MPI_Request_free(&persistent[0]);
  MPI_Request_free(&persistent[1]);
}

/* Send 4 messages of 80 bytes to each neighbour on the ring. */
static void use_neighbourhoods(MPI_Comm ring, int is_graph) {
  int counts[2] = {n_items, n_items}, places[2] = {0, n_items};
  MPI_Aint addresses[2] = {0, n_items * (MPI_Aint)sizeof(double)};
  MPI_Datatype types[2] = {MPI_DOUBLE, MPI_DOUBLE};
  MPI_Neighbor_allgather(out, n_items, MPI_DOUBLE, in, n_items, MPI_DOUBLE, ring);
  MPI_Neighbor_alltoall(out, n_items, MPI_DOUBLE, in, n_items, MPI_DOUBLE, ring);
  MPI_Request request;
  MPI_Ineighbor_alltoallv(out, counts, places, MPI_DOUBLE, in, counts, places, MPI_DOUBLE, ring, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Neighbor_alltoallw(out, counts, addresses, types, in, counts, addresses, types, ring);
  (void)is_graph;
}

static void use_collectives(MPI_Comm comm) {
  int n, me;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &me);
  MPI_Bcast(out, n_items, MPI_DOUBLE, n - 1, comm);
  MPI_Reduce(out, in, n_items, MPI_DOUBLE, MPI_SUM, 0, comm);
  MPI_Allreduce(MPI_IN_PLACE, in, n_items, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allgather(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, comm);
  MPI_Gather(out, 1, MPI_DOUBLE, in, 1, MPI_DOUBLE, 0, comm);
  MPI_Scatter(out, me == 0 ? 1 : -5, me == 0 ? MPI_DOUBLE : MPI_DATATYPE_NULL, in, 1, MPI_DOUBLE, 0, comm);
  MPI_Alltoall(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, comm);
  int* const counts = calloc((size_t)n, sizeof *counts);
  int* const back = calloc((size_t)n, sizeof *back);
  int* const places = calloc((size_t)n, sizeof *places);
  counts[(me + 1) % n] = 3;
  back[(me + n - 1) % n] = 3;
  MPI_Alltoallv(out, counts, places, MPI_DOUBLE, in, back, places, MPI_DOUBLE, comm);
  free(counts);
  free(back);
  free(places);
}

int main(int argc, char** argv) {
  int provided;
  if (wants(argc, argv, "threads"))
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else
    MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  previous = (rank + size - 1) % size;
  if (wants(argc, argv, "world")) send_in_each_way(MPI_COMM_WORLD, next, previous);
  if (wants(argc, argv, "split")) { /* ranks backwards: the successor is the predecessor in the world */
    for (int again = 0; again < 2; ++again) {
      MPI_Comm backwards;
      MPI_Comm_split(MPI_COMM_WORLD, 0, again == 0 ? -rank : rank, &backwards); /* the handle may come again */
      send_in_each_way(backwards, (again == 0 ? size - rank : rank + 1) % size,
                       (again == 0 ? size - rank - 2 + size : rank - 1 + size) % size);
      MPI_Comm_free(&backwards);
    }
  }
  if (wants(argc, argv, "types")) {
    for (int n = 1; n <= 3; ++n) { /* the handle may come again with another size */
      MPI_Datatype pair;
      MPI_Type_contiguous(n, MPI_DOUBLE, &pair);
      MPI_Type_commit(&pair);
      MPI_Sendrecv(out, 1, pair, next, 0, in, 1, pair, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Type_free(&pair);
    }
  }
  if (wants(argc, argv, "neighbours") && size > 2) {
    int period = 1, ranks[2] = {previous, next};
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &ring);
    use_neighbourhoods(ring, 0);
    MPI_Comm_free(&ring);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, ranks, MPI_UNWEIGHTED, 2, ranks, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &ring);
    use_neighbourhoods(ring, 1);
    MPI_Comm_free(&ring);
  }
  if (wants(argc, argv, "collectives")) {
    use_collectives(MPI_COMM_WORLD);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    use_collectives(half);
    MPI_Comm_free(&half);
  }
  if (wants(argc, argv, "window")) {
    MPI_Win window;
    void* memory; /* allocated by MPI: Open MPI 4.1 makes windows of a program's memory over some transports only */
    MPI_Win_allocate(sizeof in, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_fence(0, window);
    MPI_Put(out, n_items, MPI_DOUBLE, next, 0, n_items, MPI_DOUBLE, window);
    MPI_Get(out + 20, 2, MPI_DOUBLE, previous, 320, 2, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
  }
  if (wants(argc, argv, "paused")) {
    MPI_Pcontrol(0);
    MPI_Sendrecv(out, 1, MPI_DOUBLE, next, 0, in, 1, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Pcontrol(1);
    MPI_Sendrecv(out, 1, MPI_DOUBLE, next, 0, in, 1, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (wants(argc, argv, "many"))
    for (int i = 0; i < 10000; ++i) {
      MPI_Request requests[2];
      MPI_Irecv(in, 1, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(out, 1, MPI_DOUBLE, next, 0, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
  if (wants(argc, argv, "lasts")) {
    sleep(3);
    MPI_Sendrecv(out, 1, MPI_DOUBLE, next, 0, in, 1, MPI_DOUBLE, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (wants(argc, argv, "aborts") || wants(argc, argv, "killed") || wants(argc, argv, "waits")) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1 && wants(argc, argv, "aborts")) MPI_Abort(MPI_COMM_WORLD, 9);
    if (rank == size - 1 && wants(argc, argv, "killed")) raise(SIGKILL);
    if (rank == 0) fputs("waiting\n", stderr);
    sleep(60);
  }
  if (wants(argc, argv, "fails")) {
    MPI_Barrier(MPI_COMM_WORLD);
    exit(7);
  }
  MPI_Finalize();
  return wants(argc, argv, "code") ? 5 : 0;
}
