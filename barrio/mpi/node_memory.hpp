#pragma once

/// @file Memory of a node that its ranks may use.

#include <cstdint>

#include "barrio/mpi/context.hpp"

namespace barrio::mpi {

/// Return the bytes that this node can still give out without swapping, within the limit of this process's cgroup.
/// Local; 2^63 where the system does not tell.
[[nodiscard]] std::uint64_t available_bytes();

/// Return the share of one rank in the available bytes of its node, the least of all ranks. Collective. Cost: one
/// communicator split, two reductions
[[nodiscard]] std::uint64_t available_bytes_per_rank(Context& context);

}  // namespace barrio::mpi
