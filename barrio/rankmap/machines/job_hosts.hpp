#pragma once

#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"
#include "barrio/rankmap/hosts.hpp"

namespace barrio::rankmap {

/// The name of the host that this rank runs on, as MPI tells it. Local.
std::string host_name();

/// Where ranks are, in their order, as runs of ranks on one host. Collective. Memory on each rank: the runs.
/// Cost: O(log P) messages deep.
std::vector<HostRun> find_hosts(mpi::Context& context);

/// Whether two names may be of one host: the same, or one is the other without its domain.
bool is_same_host(std::string_view a, std::string_view b) noexcept;

}  // namespace barrio::rankmap
