#pragma once

#include <optional>
#include <string>
#include <vector>

#include "barrio/rankmap/assignment.hpp"

namespace barrio::bench {

/// A machine for peers: a tree of equal branches.
struct EvenTree {
  std::vector<int> arities;       ///< from the inside out
  std::vector<double> distances;  ///< one per level
};

/// Result of a peer.
struct PeerResult {
  rankmap::Placement placement;
  double seconds = 0.0;  ///< processor time
};

enum class ScotchStrategy { standard, quality };

/// Map with Scotch's graphMap on a tree, without imbalance. Local.
/// @return nothing if this build lacks Scotch, or if Scotch did not place one rank on each core
std::optional<PeerResult> map_by_scotch(const rankmap::CommunicationGraph& graph, const EvenTree& tree,
                                        ScotchStrategy strategy);

struct NamedResult {
  std::string name;
  PeerResult result;
};

/// Tell whether this Python can run SharedMap.
bool has_sharedmap(const std::string& python);
/// Map with SharedMap in a Python process, in the modes fast, eco and strong. Local.
std::vector<NamedResult> map_by_sharedmap(const rankmap::CommunicationGraph& graph, const EvenTree& tree,
                                          const std::string& python, const std::vector<std::string>& modes);

/// Return the processor time of this process, in seconds.
double processor_seconds();

}  // namespace barrio::bench
