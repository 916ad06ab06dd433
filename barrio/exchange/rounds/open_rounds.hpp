#pragma once

#include <mpi.h>

#include <vector>

namespace barrio::exchange::detail {

class PacketCore;

/// Return the rounds that this rank has open on one communicator. A rank that waits in one of them takes packets in for
/// all: a neighbour may wait in another one for this rank to make room.
/// Kept as an attribute of the communicator and freed with it. Local.
std::vector<PacketCore*>& open_rounds(MPI_Comm comm);

/// Return the number of open rounds of this process, over all Contexts. It helps to explain why one of them waits.
int& n_open_rounds();

}  // namespace barrio::exchange::detail
