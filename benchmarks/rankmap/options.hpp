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
  double best_seconds = 0.0;  ///< of an extra long search, the reference for the goal of one second; 0: none
  double qaplib_seconds = 10.0;
  std::string qaplib_folder;
  std::string python = "python3";
  std::uint64_t seed = 1;
};

/// Parse the command line. @return nothing after printing help
std::optional<RankmapOptions> parse_rankmap_options(mpi::Context& context, int argc, char** argv);

}  // namespace barrio::bench
