#pragma once

/// @file Detect that the launcher of another MPI started this job.

#include <optional>

#include "barrio/base/error.hpp"

namespace barrio::mpi {

/// Find out whether the launcher that started this process belongs to another MPI than the one this program was built
/// for. MPI then runs each process as a job of one rank, and all of them would do the whole work and write the same
/// files. Local, after MPI_Init. It reads OMPI_COMM_WORLD_SIZE and PMI_SIZE; a PMIx server tells no size.
/// BARRIO_SINGLETON=1 in the environment allows such a start, for a serial program in a script that a launcher has
/// started.
/// @return the reason to stop; empty if the launcher is right, and in processes made by MPI_Comm_spawn
std::optional<Error> find_launcher_fault();

/// Tell whether the launcher numbers this process first; true without a launcher. Local, also before MPI_Init.
[[nodiscard]] bool is_first_of_launcher();

}  // namespace barrio::mpi
