#pragma once

/// @file Cores of a node: how many its ranks may use, which are spare, and pinning threads to them.

#include <thread>
#include <vector>

#include "barrio/mpi/context.hpp"

namespace barrio::mpi {

/// Cores of a node that its ranks may use.
struct NodeCores {
  int mine = 1;             ///< of this rank, by its affinity mask and its cgroup's CPU quota
  int all = 1;              ///< of all ranks of the node together
  int n_computing = 0;      ///< threads that compute on this node
  int n_ranks_compute = 0;  ///< ranks of this node that have such threads
  /// Cores of this rank, by number, that remain when each computing thread has one. Ranks that may use the same cores
  /// have the same spare ones. At least one, unless the system does not tell the cores.
  std::vector<int> spare = {};
  std::vector<int> busy = {};  ///< the other cores of this rank; may be empty
};

/// Find the cores that the ranks of this node have together. Collective. Cost: one communicator split, two reductions.
/// @param n_computing  threads of this rank that compute
NodeCores find_node_cores(Context& context, int n_computing);

/// Bind the calling thread to these cores. Local. @return false if the system does not allow it
bool run_on_cores(const std::vector<int>& cores) noexcept;

/// Scope in which a thread, and the threads that it starts, run only on some cores. Does nothing for an empty list.
class CoresScope {
 public:
  /// Bind the calling thread to these cores, by number. If the system does not allow it, the thread stays as it is.
  explicit CoresScope(const std::vector<int>& cores);
  CoresScope(const CoresScope&) = delete;
  CoresScope& operator=(const CoresScope&) = delete;
  /// End the scope. The last scope of its thread restores the cores of before, if that thread ends it.
  ~CoresScope();

 private:
  bool is_held_ = false;
  std::thread::id thread_;
};

/// Return the cores that a CPU quota of a container or batch system leaves; 0 without a quota. Local.
double processor_time_limit();

}  // namespace barrio::mpi
