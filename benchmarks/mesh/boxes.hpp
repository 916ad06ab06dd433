#pragma once

#include <cstdint>

#include "benchmarks/mesh/options.hpp"

namespace barrio::bench {

/// Times of a ghost exchange on boxes of cells, two layers of five variables: seconds of the slowest rank, min over
/// repetitions.
struct BoxesFigures {
  std::int64_t n_boxes = 0;         ///< on all ranks
  std::int64_t width = 0;           ///< cells of a box along each axis
  double halo_seconds = 0.0;        ///< `BoxHalo`
  double persistent_seconds = 0.0;  ///< the same messages by hand: persistent requests, copies row by row
  double layout_seconds = 0.0;      ///< construction of `BoxLayout` and `BoxHalo`
};

/// Time ghosts of boxes by barrio and by hand, interleaved. Collective. @throws AgreedError{differs} if a ghost differs
BoxesFigures measure_boxes(mpi::Context& context, const MeshOptions& options);

}  // namespace barrio::bench
