#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/rankmap/traffic.hpp"

namespace barrio::bench {

/// Halo points sent to or received from another rank.
struct HaloPartner {
  Rank rank = 0;
  std::int32_t n_points = 0;
};

/// Points and partners of one rank on a level.
struct RankHalo {
  std::int32_t n_points = 0;         ///< of this rank
  double mean_points = 0.0;          ///< over all ranks
  std::vector<HaloPartner> to = {};  ///< ascending, like those it receives from
  std::vector<HaloPartner> from = {};
};

/// Return the file of a level in the folder of a plan.
std::string level_path(const std::string& folder, int level);

/// Write a level: the points of each rank, and the traffic between ranks. Local. The file has native 32-bit integers:
/// many simulated ranks read it, and parsing text would take longer than the simulation. @throws Error{failed}
void write_level(const std::string& path, std::span<const std::int32_t> part, const rankmap::TrafficMatrix& traffic);

/// Read the data of one rank. Local. @throws Error{bad_input} if the file is not for n_ranks ranks
RankHalo read_level(const std::string& path, Rank rank, int n_ranks);

}  // namespace barrio::bench
