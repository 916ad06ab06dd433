#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "benchmarks/rankmap/instances.hpp"

namespace barrio::bench {

/// The multigrid cycles of the paper's table 3. The number counts levels; `v` and `w` are the two usual cycles.
enum class Cycle {
  none,     ///< the finest level only
  three_v,  ///< "3v": down from level 0 to level 2 and up again: 0 1 2 1
  four_w,   ///< "4w": levels 1 and 2 go down twice before they go up: 0 1 2 3 2 3 2 1 2 3 2 3 2 1
};

/// Return the name of a cycle: "none", "3v", "4w".
std::string_view name_of(Cycle cycle) noexcept;
/// Parse the name of a cycle. @throws Error{usage} with the choices
Cycle parse_cycle(std::string_view word);

/// Return the sequence of levels that an iteration visits. Each visit smooths and exchanges a halo. The final visit of
/// level 0 is the first one of the next iteration.
std::vector<int> visits_of(Cycle cycle);
int n_levels_of(Cycle cycle);

/// One level of a multigrid hierarchy, cut into parts.
struct Level {
  PointGrid grid;
  std::vector<std::int32_t> part;  ///< by point
};

/// Make the next coarser level: every second point in each direction, or the first eighth of a cloud. A point keeps its
/// part of the finer level, so coarse halos are those of a solver. A structured level has no coordinates.
Level coarsen(const Level& fine);

}  // namespace barrio::bench
