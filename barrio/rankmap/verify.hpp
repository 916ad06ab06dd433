#pragma once

/// @file Verify under the launcher that ranks run where a barrio.map document places them.

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::rankmap {

/// Comparison of a job's ranks with a plan.
struct Verification {
  int n_ranks = 0;               ///< of the job
  int n_nodes = 0;               ///< hosts on which they run
  std::int64_t n_elsewhere = 0;  ///< ranks on another host than in the plan
  /// Ranks on the planned host that share memory with other ranks than those of their node in the plan: MPI takes the
  /// host for several nodes.
  std::int64_t n_torn = 0;
  bool names_are_known =
      true;  ///< the plan names hosts; otherwise ranks were compared by the ranks they share a node with
  std::vector<std::string> faults = {};  ///< the first of them, in words
  /// Tell whether all ranks are where the plan has them.
  [[nodiscard]] bool is_as_planned() const noexcept { return n_elsewhere == 0 && n_torn == 0; }
};

/// Check under the launcher that each rank is where a plan has it: on its host, and sharing memory with the ranks of
/// its node. Collective; rank 0 reads the document. The result is the same on all ranks.
/// @param[in] path  the barrio.map document of the plan
/// @throws AgreedError{bad_input} if it is not a plan, or has another number of ranks; {failed} if it cannot be read
Verification verify_placement(mpi::Context& context, const std::string& path);

/// Write a document of schema barrio.verification, version 1.
Json to_json(const Verification& verification);

}  // namespace barrio::rankmap
