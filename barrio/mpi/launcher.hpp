#pragma once

#include <optional>

#include "barrio/base/error.hpp"

namespace barrio::mpi {

/// Find out whether the launcher that started this process belongs to another MPI than the one it was built for. Then
/// MPI runs each process as a job of one rank, and all of them would do the whole work and write the same files.
/// Local, after MPI_Init. What the launcher says is read of OMPI_COMM_WORLD_SIZE and PMI_SIZE; a PMIx server tells no
/// size. BARRIO_SINGLETON=1 in the environment allows it: a serial program in a script that a launcher has started.
/// @return why not to go on; nothing if all is well, and in processes that MPI_Comm_spawn has made
std::optional<Error> find_launcher_fault();

/// Whether the launcher calls this process its first one; true without a launcher. Local, before MPI_Init too.
[[nodiscard]] bool is_first_of_launcher();

}  // namespace barrio::mpi
