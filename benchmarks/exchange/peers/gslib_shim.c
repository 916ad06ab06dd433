#include "benchmarks/exchange/peers/gslib_shim.h"

#include <gslib.h>
#include <stdlib.h>
#include <string.h>

struct gather {
  struct comm comm;
  struct gs_data* handle;
  buffer scratch;
};

void* gslib_shim_make_gather(const long long* ids, size_t n, MPI_Comm comm) {
  struct gather* const made = calloc(1, sizeof *made);
  comm_init(&made->comm, comm);
  made->handle = gs_setup((const slong*)ids, (uint)n, &made->comm, 0, gs_auto, 0);
  return made;
}

void gslib_shim_add(void* gather, double* values, int n_components) {
  struct gather* const made = gather;
  if (n_components == 1) {
    gs(values, gs_double, gs_add, 0, made->handle, &made->scratch);
  } else {
    gs_vec(values, (unsigned)n_components, gs_double, gs_add, 0, made->handle, &made->scratch);
  }
}

void gslib_shim_free_gather(void* gather) {
  struct gather* const made = gather;
  gs_free(made->handle);
  buffer_free(&made->scratch);
  comm_free(&made->comm);
  free(made);
}

struct row {
  uint rank;
  int number;
  unsigned long long a, b, c;
};

struct transfer {
  struct comm comm;
  struct crystal crystal;
  struct array rows;
};

void* gslib_shim_make_transfer(MPI_Comm comm) {
  struct transfer* const made = calloc(1, sizeof *made);
  comm_init(&made->comm, comm);
  crystal_init(&made->crystal, &made->comm);
  return made;
}

void gslib_shim_set_rows(void* transfer, const void* rows, size_t n) {
  struct transfer* const made = transfer;
  array_reserve(struct row, &made->rows, n);
  memcpy(made->rows.ptr, rows, n * sizeof(struct row));
  made->rows.n = n;
}

void gslib_shim_transfer(void* transfer) {
  struct transfer* const made = transfer;
  sarray_transfer(struct row, &made->rows, rank, 1, &made->crystal);
}

const void* gslib_shim_rows(void* transfer, size_t* n) {
  struct transfer* const made = transfer;
  *n = made->rows.n;
  return made->rows.ptr;
}

void gslib_shim_free_transfer(void* transfer) {
  struct transfer* const made = transfer;
  array_free(&made->rows);
  crystal_free(&made->crystal);
  comm_free(&made->comm);
  free(made);
}
