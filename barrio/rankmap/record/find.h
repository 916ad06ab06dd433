/* Functions and constants of the program's MPI, found at run time. */
#ifndef BARRIO_RANKMAP_RECORD_FIND_H
#define BARRIO_RANKMAP_RECORD_FIND_H

#include "barrio/rankmap/record/record.h"

/* MPI_COMM_WORLD: a constant in MPICH, a variable in Open MPI, which the recorder must not link to. */
#ifdef OPEN_MPI
#define BARRIO_WORLD ((MPI_Comm)barrio_find_constant("ompi_mpi_comm_world"))
#define BARRIO_BYTE ((MPI_Datatype)barrio_find_constant("ompi_mpi_byte"))
#define BARRIO_INT64 ((MPI_Datatype)barrio_find_constant("ompi_mpi_int64_t"))
#define BARRIO_UINT64 ((MPI_Datatype)barrio_find_constant("ompi_mpi_uint64_t"))
#define BARRIO_SUM ((MPI_Op)barrio_find_constant("ompi_mpi_op_sum"))
#else
#define BARRIO_WORLD MPI_COMM_WORLD
#define BARRIO_BYTE MPI_BYTE
#define BARRIO_INT64 MPI_INT64_T
#define BARRIO_UINT64 MPI_UINT64_T
#define BARRIO_SUM MPI_SUM
#endif

/* End the program with a message if its MPI belongs to another family than the one the recorder was built for: handles
 * have other sizes. May be called before MPI is initialised. */
void barrio_check_mpi(void);
/* @return a variable, or null. Programs may hold copies of a library's variables, which the library then uses too. */
void* barrio_find_constant(const char* name);
/* @return the handle of a key. @pre the key is of a handle of this kind */
MPI_Comm barrio_comm_of(barrio_key key);
MPI_Datatype barrio_type_of(barrio_key key);

#endif
