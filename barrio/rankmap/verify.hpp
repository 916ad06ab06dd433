#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::rankmap {

/// How the ranks of a job sit compared with a plan.
struct Verification {
  int n_ranks = 0;
  int n_nodes = 0;
  std::int64_t n_elsewhere = 0;  ///< ranks that are on another host than the plan's
  /// Ranks that share memory with other ranks than those of their node in the plan, though they are on its host: MPI
  /// takes the host for several nodes.
  std::int64_t n_torn = 0;
  bool names_are_known = true;           ///< the plan names hosts; else ranks were compared by who is with whom
  std::vector<std::string> faults = {};  ///< the first of them, in words
  [[nodiscard]] bool is_as_planned() const noexcept { return n_elsewhere == 0 && n_torn == 0; }
};

/// Check under the launcher that each rank sits where a plan has it: on its host, and sharing memory with the ranks of
/// its node. Collective; the document is read by rank 0. The result is the same on all ranks.
/// @param[in] path  the barrio.map document of the plan
/// @throws AgreedError{bad_input} if it is no plan, or of another number of ranks; {failed} if it cannot be read
Verification verify_placement(mpi::Context& context, const std::string& path);

/// A document of schema barrio.verification, version 1.
Json to_json(const Verification& verification);

}  // namespace barrio::rankmap
