/* gslib in a few calls, for gslib.cpp: its own header is C. */
#ifndef BARRIO_BENCHMARKS_EXCHANGE_GSLIB_SHIM_H
#define BARRIO_BENCHMARKS_EXCHANGE_GSLIB_SHIM_H
#include <mpi.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Sums over all positions with the same id, ids >= 1. */
void* gslib_shim_make_gather(const long long* ids, size_t n, MPI_Comm comm);
void gslib_shim_add(void* gather, double* values, int n_components);
void gslib_shim_free_gather(void* gather);

/* Rows of 32 bytes, the first four of them the rank. `rows` is an array that gslib owns. */
void* gslib_shim_make_transfer(MPI_Comm comm);
void gslib_shim_set_rows(void* transfer, const void* rows, size_t n);
void gslib_shim_transfer(void* transfer);
const void* gslib_shim_rows(void* transfer, size_t* n);
void gslib_shim_free_transfer(void* transfer);

#ifdef __cplusplus
}
#endif
#endif
