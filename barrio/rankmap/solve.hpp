#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "barrio/rankmap/assignment.hpp"

namespace barrio::rankmap {

/// Let `map` choose: all pairs in one block up to 1 024 cores, blocks of 64 (the paper's size) on larger machines.
inline constexpr int automatic_block = 0;

struct MapOptions {
  Weight weight = Weight::bytes;
  int block = automatic_block;  ///< cores per block of the pair exchange; as many as cores or more: all pairs
  std::uint64_t seed = 0;       ///< not 0: also search in a random order; never worse than seed 0, without a time limit
  std::optional<Placement> given = {};  ///< the order to beat; empty: rank i on core i
  double time_limit_seconds = std::numeric_limits<double>::infinity();
};

struct MapResult {
  Placement given;      ///< the order that was to be beaten
  Placement placement;  ///< the best found; `given` itself if nothing is better
  Weight weight = Weight::bytes;
  std::string method;              ///< what found it, in words
  double cost_before = 0.0;        ///< Z of `given`
  double cost_construction = 0.0;  ///< Z after the construction method alone; may exceed cost_before
  double cost_after = 0.0;         ///< Z of `placement`, <= cost_before
  double lower_bound = 0.0;        ///< no placement has a Z below this
  PlacementFigures before;
  PlacementFigures after;
  bool is_complete = true;  ///< false: the time limit ended the search, the result may vary with the machine
  double seconds = 0.0;     ///< time spent searching
};

/// Find a placement of ranks on cores with a small cost Z = sum of w_ij * distance, never worse than the order given.
/// It starts from the construction method and from the given order, improves both by pair exchange - and, where blocks
/// leave pairs out, by exchanges between ranks near each other in the communication graph - and takes the better.
/// Local. Deterministic for given options unless the time limit strikes (see `MapResult::is_complete`).
/// Ranks may be fewer than cores; the graph may be empty or fall apart.
/// @throws Error{usage} if there are more ranks than cores, if the weight is zero in all entries though another is not,
///         if the block is negative, if the time limit is NaN or negative, or if `given` is not of this size
/// Cost: all pairs: O(cores^2 * partners) per sweep; in blocks: O(cores * block * partners). Memory O(edges + cores).
/// Source: Brandfass, Alrutz, Gerhold 2012, section 5.2, with both starts and sparse differences.
MapResult map(const TrafficMatrix& traffic, const Machine& machine, const MapOptions& options = {});

}  // namespace barrio::rankmap
