#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"
#include "benchmarks/output.hpp"

namespace barrio::bench {

struct Options {
  Output output = {};
  std::string work = "rounds";  ///< "rounds", or one of all_works()
  std::string pattern = "ring";
  std::vector<std::uint64_t> iterations{1024};  ///< numbers to each neighbour in a round; a case for each
  std::vector<std::string> contenders = {};     ///< empty: all for the pattern
  std::uint32_t packet_bytes = 0;               ///< of barrio; 0: automatic
  bool is_sweep = false;                        ///< barrio with packets of many sizes
  int n_repeats = 7;
  int n_back_to_back = 0;            ///< consecutive rounds of a contender without barriers; 0: barriers around each
  int ranks_per_node = 0;            ///< for barrio-node; 0: ranks that share memory
  double max_seconds = 5.0;          ///< a contender whose round took longer is skipped afterwards
  std::uint64_t raw_limit = 70'000;  ///< `raw` is skipped with more messages per rank and round
  std::uint64_t seed = 1;
};

/// Parse the command line. @return nothing after printing help
/// @throws AgreedError{usage} for a wrong command line
std::optional<Options> parse_options(mpi::Context& context, int argc, char** argv);

}  // namespace barrio::bench
