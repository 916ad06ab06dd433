#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/mpi/context.hpp"
#include "benchmarks/goals.hpp"

namespace barrio::bench {

/// Options of the parts of `bench delaunay`.
struct MesherOptions {
  std::vector<double> millions{1};
  std::vector<double> angles{20, 25, 30, 33};  ///< degrees, where only they decide
  std::vector<std::string> files;              ///< .poly files that are added to the coasts
  std::int32_t n_parts = 64;                   ///< of domains that are refined in parts
  std::string scratch = {};                    ///< folder on a disk, to refine parts out of core as well; or empty
  int repeats = 9;
  bool has_peers = true;
};

/// Times of interleaved runs.
struct Times {
  std::vector<double> seconds;
  [[nodiscard]] double least() const { return *std::ranges::min_element(seconds); }
  [[nodiscard]] double median() const {
    std::vector<double> sorted = seconds;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
};

/// Runs of barrio on one graph.
struct Ours {
  Times times;
  std::int64_t n_triangles = 0;
  double bytes = 0.0;  ///< peak, per triangle

  /// Run once, and audit the first result. @param refining  null: a triangulation of points
  void run(const delaunay::PlanarGraph& graph, const delaunay::RefineOptions* refining);
};

[[nodiscard]] Json to_json(const Times& times, std::int64_t n_triangles);

/// Refine where area bounds decide. @param name  pipe, square or square400
[[nodiscard]] Json measure_dense(const std::string& name, double millions, const MesherOptions& options, Goals& goals);
/// Refine coasts, where the angle decides.
[[nodiscard]] Json measure_coasts(const MesherOptions& options, Goals& goals);
/// Refine polygons with narrow teeth, slits and fans: small angles of the outside and of the domain.
[[nodiscard]] Json measure_saws(const MesherOptions& options, Goals& goals);
/// Triangulate points of all kinds.
[[nodiscard]] Json measure_points(double millions, const MesherOptions& options, Goals& goals);

/// Refine in parts, on all ranks, and compare with one rank and with the whole. Collective. @return on rank 0
[[nodiscard]] Json measure_parted(mpi::Context& context, double millions, const MesherOptions& options, Goals& goals);

}  // namespace barrio::bench
