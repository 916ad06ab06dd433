! Heat in a long, flat channel, cut into blocks that are much longer than high. It does not use barrio: it stands for
! the legacy code that nobody wants to change.
!
! mpirun -n 16 ./halo [columns of blocks] [steps]
program halo
  use mpi
  implicit none
  integer, parameter :: nx = 2048, ny = 16       ! points of a block
  integer :: rank, n_ranks, n_columns, n_rows, column, row, n_steps, step, code
  integer :: left, right, below, above, requests(8)
  double precision, allocatable :: now(:, :), next(:, :)
  double precision :: west(ny), east(ny), west_in(ny), east_in(ny), mine, total, started, seconds
  character(len=16) :: word

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, n_ranks, code)
  n_columns = nint(sqrt(dble(n_ranks)))
  n_steps = 200
  if (command_argument_count() >= 1) then
    call get_command_argument(1, word)
    read (word, *) n_columns
  end if
  if (command_argument_count() >= 2) then
    call get_command_argument(2, word)
    read (word, *) n_steps
  end if
  n_rows = n_ranks / n_columns
  if (n_rows * n_columns /= n_ranks) then
    if (rank == 0) print *, 'halo: ', n_ranks, ' ranks are no rows of ', n_columns, ' blocks'
    call MPI_Abort(MPI_COMM_WORLD, 2, code)
  end if

  ! Ranks are numbered along the channel, where blocks share short sides. Blocks above and below share long sides.
  column = mod(rank, n_columns)
  row = rank / n_columns
  left = merge(rank - 1, MPI_PROC_NULL, column > 0)
  right = merge(rank + 1, MPI_PROC_NULL, column < n_columns - 1)
  below = merge(rank - n_columns, MPI_PROC_NULL, row > 0)
  above = merge(rank + n_columns, MPI_PROC_NULL, row < n_rows - 1)

  allocate (now(0:nx + 1, 0:ny + 1), next(0:nx + 1, 0:ny + 1))
  now = 0
  if (rank == 0) now(1:64, 1:8) = 100
  call MPI_Barrier(MPI_COMM_WORLD, code)
  started = MPI_Wtime()
  do step = 1, n_steps
    west = now(1, 1:ny)
    east = now(nx, 1:ny)
    call MPI_Irecv(now(1, 0), nx, MPI_DOUBLE_PRECISION, below, 1, MPI_COMM_WORLD, requests(1), code)
    call MPI_Irecv(now(1, ny + 1), nx, MPI_DOUBLE_PRECISION, above, 2, MPI_COMM_WORLD, requests(2), code)
    call MPI_Irecv(west_in, ny, MPI_DOUBLE_PRECISION, left, 3, MPI_COMM_WORLD, requests(3), code)
    call MPI_Irecv(east_in, ny, MPI_DOUBLE_PRECISION, right, 4, MPI_COMM_WORLD, requests(4), code)
    call MPI_Isend(now(1, ny), nx, MPI_DOUBLE_PRECISION, above, 1, MPI_COMM_WORLD, requests(5), code)
    call MPI_Isend(now(1, 1), nx, MPI_DOUBLE_PRECISION, below, 2, MPI_COMM_WORLD, requests(6), code)
    call MPI_Isend(east, ny, MPI_DOUBLE_PRECISION, right, 3, MPI_COMM_WORLD, requests(7), code)
    call MPI_Isend(west, ny, MPI_DOUBLE_PRECISION, left, 4, MPI_COMM_WORLD, requests(8), code)
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE, code)
    ! Walls are insulated.
    if (below == MPI_PROC_NULL) now(:, 0) = now(:, 1)
    if (above == MPI_PROC_NULL) now(:, ny + 1) = now(:, ny)
    now(0, 1:ny) = merge(west_in, west, left /= MPI_PROC_NULL)
    now(nx + 1, 1:ny) = merge(east_in, east, right /= MPI_PROC_NULL)
    next(1:nx, 1:ny) = now(1:nx, 1:ny) + 0.2d0 * (now(0:nx - 1, 1:ny) + now(2:nx + 1, 1:ny) + now(1:nx, 0:ny - 1) &
                                                  + now(1:nx, 2:ny + 1) - 4 * now(1:nx, 1:ny))
    now(1:nx, 1:ny) = next(1:nx, 1:ny)
  end do
  seconds = MPI_Wtime() - started
  mine = sum(now(1:nx, 1:ny))
  call MPI_Reduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, code)
  if (rank == 0) print '(a,i0,a,f10.3,a,f9.3,a)', 'halo: ', n_ranks, ' ranks, heat ', total, ', ', &
    1d6 * seconds / n_steps, ' us a step'
  call MPI_Finalize(code)
end program halo
