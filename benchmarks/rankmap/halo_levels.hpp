#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "benchmarks/rankmap/instances.hpp"

namespace barrio::bench {

/// The multigrid cycles of the paper's table 3. A number is that of levels, `v` and `w` are the two usual cycles.
enum class Cycle {
  none,     ///< the finest level only
  three_v,  ///< "3v": down from level 0 to level 2 and up again: 0 1 2 1
  four_w,   ///< "4w": levels 1 and 2 go down twice before they go up: 0 1 2 3 2 3 2 1 2 3 2 3 2 1
};

/// The word for a cycle: "none", "3v", "4w".
std::string_view name_of(Cycle cycle) noexcept;
/// Read a cycle from its word. @throws Error{usage} naming the choices
Cycle parse_cycle(std::string_view word);

/// The levels that an iteration visits, one after the other. Each visit smooths and exchanges a halo. The end on level
/// 0 is left to the next iteration, which begins there.
std::vector<int> visits_of(Cycle cycle);
int n_levels_of(Cycle cycle);

/// One level of a multigrid hierarchy, cut into parts.
struct Level {
  PointGrid grid;
  std::vector<std::int32_t> part;  ///< by point
};

/// Make the next coarser level: every second point in each direction, or the first eighth of a cloud. A point is in the
/// part that it is in on the finer level, so coarse halos are those of a solver. A structured one has no coordinates.
Level coarsen(const Level& fine);

}  // namespace barrio::bench
