#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/rankmap/traffic.hpp"

namespace barrio::bench {

/// The halo points that go to or come from another rank.
struct HaloPartner {
  Rank rank = 0;
  std::int32_t n_points = 0;
};

/// What one rank has on a level.
struct RankHalo {
  std::int32_t n_points = 0;         ///< its own
  double mean_points = 0.0;          ///< of all ranks
  std::vector<HaloPartner> to = {};  ///< ascending, as are those it receives from
  std::vector<HaloPartner> from = {};
};

/// The file of a level in the folder of a plan.
std::string level_path(const std::string& folder, int level);

/// Write a level: the points of each rank, and what ranks send each other. Local. 32-bit integers of this machine: many
/// simulated ranks read the file, and text would take longer than the simulation. @throws Error{failed}
void write_level(const std::string& path, std::span<const std::int32_t> part, const rankmap::TrafficMatrix& traffic);

/// Read what concerns one rank. Local. @throws Error{bad_input} if the file is none of so many ranks
RankHalo read_level(const std::string& path, Rank rank, int n_ranks);

}  // namespace barrio::bench
