#pragma once

#include <thread>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::mpi {

/// The cores of a node as its ranks may use them.
struct NodeCores {
  int mine = 1;             ///< of this rank, by its affinity mask and its group's share of processor time
  int all = 1;              ///< of all ranks of the node together
  int n_computing = 0;      ///< threads that compute on this node
  int n_ranks_compute = 0;  ///< ranks of this node that have such
  /// Cores of this rank that are left when each thread that computes has one, by number; ranks that may use the same
  /// cores have the same. One at least, unless the system does not say which cores there are.
  std::vector<int> spare = {};
  std::vector<int> busy = {};  ///< the others of this rank; may be none
};

/// Find out what cores the ranks of this node have between them. Collective. Cost: one communicator split, two
/// reductions.
/// @param n_computing  threads of this rank that compute
NodeCores find_node_cores(Context& context, int n_computing);

/// Let the calling thread run on these cores only. Local. @return false if the system does not allow it
bool run_on_cores(const std::vector<int>& cores) noexcept;

/// Keep a thread, and those that it starts, on some cores for a while. Does nothing for an empty list.
class CoresScope {
 public:
  explicit CoresScope(const std::vector<int>& cores);
  CoresScope(const CoresScope&) = delete;
  CoresScope& operator=(const CoresScope&) = delete;
  /// With the last one of its thread, that may use again what it could before, if it is the one that ends it.
  ~CoresScope();

 private:
  bool is_held_ = false;
  std::thread::id thread_;
};

/// Cores that a limit on processor time leaves, as containers and batch systems set it; 0 if there is none. Local.
double processor_time_limit();

}  // namespace barrio::mpi
