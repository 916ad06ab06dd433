! Each rank sends to its successor by the calls that test_record.py counts: 5 messages, 200 bytes in all, in the world;
! 1 of 80 bytes to the predecessor in a communicator with reversed ranks, and collectives.
program ring
#ifdef USE_F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
  double precision :: out(10), in(10)
  integer :: rank, n, next, previous, code
#ifdef USE_F08
  type(MPI_Comm) :: backwards
  type(MPI_Request) :: requests(2)
#else
  integer :: backwards, requests(2)
#endif
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, n, code)
  next = mod(rank + 1, n)
  previous = mod(rank + n - 1, n)
  out = rank
  call MPI_Irecv(in, 5, MPI_DOUBLE_PRECISION, previous, 0, MPI_COMM_WORLD, requests(1), code)
  call MPI_Isend(out, 5, MPI_DOUBLE_PRECISION, next, 0, MPI_COMM_WORLD, requests(2), code)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, code)
  call MPI_Irecv(in, 5, MPI_DOUBLE_PRECISION, previous, 0, MPI_COMM_WORLD, requests(1), code)
  call MPI_Send(out, 5, MPI_DOUBLE_PRECISION, next, 0, MPI_COMM_WORLD, code)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, code)
  call MPI_Sendrecv(out, 5, MPI_DOUBLE_PRECISION, next, 1, in, 5, MPI_DOUBLE_PRECISION, previous, 1, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
  call MPI_Recv_init(in, 5, MPI_DOUBLE_PRECISION, previous, 2, MPI_COMM_WORLD, requests(1), code)
  call MPI_Send_init(out, 5, MPI_DOUBLE_PRECISION, next, 2, MPI_COMM_WORLD, requests(2), code)
  call MPI_Startall(2, requests, code)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, code)
  call MPI_Start(requests(1), code)
  call MPI_Start(requests(2), code)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, code)
  call MPI_Request_free(requests(1), code)
  call MPI_Request_free(requests(2), code)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, backwards, code)
  call MPI_Sendrecv(out, 10, MPI_DOUBLE_PRECISION, mod(n - rank, n), 0, in, 10, MPI_DOUBLE_PRECISION, &
                    mod(2 * n - rank - 2, n), 0, backwards, MPI_STATUS_IGNORE, code)
  call MPI_Comm_free(backwards, code)
  call MPI_Allreduce(MPI_IN_PLACE, in, 10, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, code)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, code)
  call MPI_Finalize(code)
end program ring
