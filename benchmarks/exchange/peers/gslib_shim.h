/* C interface to gslib for gslib.cpp, since gslib's own header is not C++. */
#ifndef BARRIO_BENCHMARKS_EXCHANGE_GSLIB_SHIM_H
#define BARRIO_BENCHMARKS_EXCHANGE_GSLIB_SHIM_H
#include <mpi.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

/* Plan for sums over all positions with the same id, ids >= 1. */
void* gslib_shim_make_gather(const long long* ids, size_t n, MPI_Comm comm);
void gslib_shim_add(void* gather, double* values, int n_components);
void gslib_shim_free_gather(void* gather);

/* Transfer of rows of 32 bytes that begin with the rank in four bytes. gslib owns the array `rows`. */
void* gslib_shim_make_transfer(MPI_Comm comm);
void gslib_shim_set_rows(void* transfer, const void* rows, size_t n);
void gslib_shim_transfer(void* transfer);
const void* gslib_shim_rows(void* transfer, size_t* n);
void gslib_shim_free_transfer(void* transfer);

#ifdef __cplusplus
}
#endif
#endif
