#pragma once

#include <mpi.h>

#include <vector>

namespace barrio::exchange::detail {

class PacketCore;

/// The rounds that this rank has open on one communicator. A rank that waits in one of them takes packets in for all
/// of them: its neighbour may stand in another one, waiting for this rank to make room.
/// Kept as an attribute of the communicator and freed with it. Local.
std::vector<PacketCore*>& open_rounds(MPI_Comm comm);

/// How many rounds this process has open, of all Contexts: to tell why one of them waits.
int& n_open_rounds();

}  // namespace barrio::exchange::detail
