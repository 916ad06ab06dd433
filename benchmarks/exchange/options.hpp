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
  std::string work = "rounds";  ///< or one of all_works()
  std::string pattern = "ring";
  std::vector<std::uint64_t> iterations{1024};  ///< numbers to each neighbour in a round; a case for each
  std::vector<std::string> contenders = {};     ///< empty: all that the pattern has
  std::uint32_t packet_bytes = 0;               ///< of barrio; 0: its own choice
  bool is_sweep = false;                        ///< barrio with packets of many sizes
  int n_repeats = 7;
  int n_back_to_back = 0;            ///< rounds of one contender without barriers between; 0: each between two barriers
  int ranks_per_node = 0;            ///< of barrio-node; 0: those that share memory
  double max_seconds = 5.0;          ///< a contender whose round took longer is left out of the rounds that follow
  std::uint64_t raw_limit = 70'000;  ///< messages of one rank in a round above which `raw` is left out
  std::uint64_t seed = 1;
};

/// Nothing if the command line asked for help, which is printed then.
/// @throws AgreedError{usage} for a command line that is wrong
std::optional<Options> parse_options(mpi::Context& context, int argc, char** argv);

}  // namespace barrio::bench
