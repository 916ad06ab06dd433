#pragma once

#include <optional>
#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"
#include "benchmarks/output.hpp"

namespace barrio::bench {

struct RankmapOptions {
  Output output = {};
  std::vector<std::string> parts{"paper", "goals", "large", "qaplib"};
  double best_seconds = 0.0;  ///< what the best of all methods is given beside, for the goal of a second; 0: not
  double qaplib_seconds = 10.0;
  std::string qaplib_folder;
  std::string python = "python3";
  std::uint64_t seed = 1;
};

/// @return nothing if only help was wanted
std::optional<RankmapOptions> parse_rankmap_options(mpi::Context& context, int argc, char** argv);

}  // namespace barrio::bench
