#pragma once

#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"
#include "barrio/rankmap/hosts.hpp"

namespace barrio::rankmap {

/// Return the name of this rank's host, as MPI reports it. Local.
std::string host_name();

/// List the hosts of the ranks, in rank order, as runs of ranks on one host. Collective. Memory on each rank: the runs.
/// Cost: O(log P) messages deep.
std::vector<HostRun> find_hosts(mpi::Context& context);

/// Tell whether two names may be of one host: they are equal, or one is the other without its domain.
bool is_same_host(std::string_view a, std::string_view b) noexcept;

}  // namespace barrio::rankmap
