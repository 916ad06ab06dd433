// A halo exchange as in many solvers: receive, send, compute the interior, wait, compute the edges. It looks as if
// messages travel while the interior is computed. docs/howto/overlap.md shows that they do not, and what helps.
//
//   mpiexec -n 2 halo
//   mpiexec -n 2 halo --tests 8
//
// With more ranks than cores, MPICH's waits take the cores from ranks that compute, so times mean little.
#include "strip.h"

enum { tag = 1 };

// One step of the original code. Returns the seconds spent in the wait.
static double advance_as_found(struct Strip* strip, double late) {
  const int n = strip->n_rows;
  const int nx = strip->nx;
  MPI_Request requests[4];
  MPI_Irecv(row_of(strip->now, strip, 0), nx, MPI_DOUBLE, strip->above, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(row_of(strip->now, strip, n + 1), nx, MPI_DOUBLE, strip->below, tag, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(row_of(strip->now, strip, 1), nx, MPI_DOUBLE, strip->above, tag, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(row_of(strip->now, strip, n), nx, MPI_DOUBLE, strip->below, tag, MPI_COMM_WORLD, &requests[3]);

  for (int row = 2; row < n; ++row) {  // the interior
    sweep_row(strip, row);
    work_for(late);
  }
  const double begin = MPI_Wtime();
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  const double end = MPI_Wtime();

  sweep_row(strip, 1);  // the edges
  if (n > 1) sweep_row(strip, n);
  swap_fields(strip);
  return end - begin;
}

static MPI_Request earlier_sends[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};

// The same with two changes, one for each option.
static double advance_changed(struct Strip* strip, const struct Options* options, double late) {
  const int n = strip->n_rows;
  const int nx = strip->nx;
  MPI_Request requests[4];
  MPI_Irecv(row_of(strip->now, strip, 0), nx, MPI_DOUBLE, strip->above, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(row_of(strip->now, strip, n + 1), nx, MPI_DOUBLE, strip->below, tag, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(row_of(strip->now, strip, 1), nx, MPI_DOUBLE, strip->above, tag, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(row_of(strip->now, strip, n), nx, MPI_DOUBLE, strip->below, tag, MPI_COMM_WORLD, &requests[3]);

  for (int row = 2; row < n; ++row) {
    sweep_row(strip, row);
    work_for(late);
    if (is_test_due(strip, row, options->tests)) {  // --tests: let MPI make progress
      int done = 0;
      MPI_Testall(4, requests, &done, MPI_STATUSES_IGNORE);
    }
  }
  const double begin = MPI_Wtime();
  if (options->receives_first) {
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);       // the edges need the received rows
    MPI_Waitall(2, earlier_sends, MPI_STATUSES_IGNORE);  // and overwrite the rows sent a step ago
    earlier_sends[0] = requests[2];
    earlier_sends[1] = requests[3];
  } else {
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }
  const double end = MPI_Wtime();

  sweep_row(strip, 1);
  if (n > 1) sweep_row(strip, n);
  swap_fields(strip);
  return end - begin;
}

static void solve(const struct Options* options) {
  struct Strip strip = make_strip(options);
  struct Times blocks[n_blocks];
  const int is_changed = options->tests > 0 || options->receives_first;
  for (int block = 0; block < n_blocks; ++block) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    double waiting = 0.0;
    for (int step = 0; step < options->steps; ++step) {
      const double late = late_row_seconds(&strip, options, step);
      waiting += is_changed ? advance_changed(&strip, options, late) : advance_as_found(&strip, late);
    }
    const double last = MPI_Wtime();
    MPI_Waitall(2, earlier_sends, MPI_STATUSES_IGNORE);
    const double end = MPI_Wtime();
    blocks[block].all = end - begin;
    blocks[block].waiting = waiting + (end - last);
  }
  report(&strip, options, blocks);
  free_strip(&strip);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  struct Options options = {.nx = 65536, .ny = 64, .steps = 20};
  int code = parse(argc, argv, "halo", &options);
  if (code < 0 && options.thread) code = complain("halo", "--thread", "is for overlap only");
  if (code < 0) {
    solve(&options);
    code = 0;
  }
  MPI_Finalize();
  return code;
}
