#pragma once

#include <optional>
#include <string>
#include <vector>

#include "barrio/rankmap/assignment.hpp"

namespace barrio::bench {

/// A machine as peers know it: a tree of equal branches.
struct EvenTree {
  std::vector<int> arities;       ///< from the inside out
  std::vector<double> distances;  ///< one per level
};

/// What a peer found.
struct PeerResult {
  rankmap::Placement placement;
  double seconds = 0.0;  ///< processor time
};

enum class ScotchStrategy { standard, quality };

/// Map by Scotch's graphMap on a tree of leaves, without imbalance. Local.
/// @return nothing if this build has no Scotch, or if it did not place one rank on each core
std::optional<PeerResult> map_by_scotch(const rankmap::CommunicationGraph& graph, const EvenTree& tree,
                                        ScotchStrategy strategy);

struct NamedResult {
  std::string name;
  PeerResult result;
};

/// Whether SharedMap can be run by this Python.
bool has_sharedmap(const std::string& python);
/// Map by SharedMap in a Python of its own, in each of these modes: fast, eco, strong. Local.
std::vector<NamedResult> map_by_sharedmap(const rankmap::CommunicationGraph& graph, const EvenTree& tree,
                                          const std::string& python, const std::vector<std::string>& modes);

/// Processor time of this process, in seconds.
double processor_seconds();

}  // namespace barrio::bench
