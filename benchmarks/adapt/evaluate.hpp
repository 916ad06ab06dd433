#pragma once

#include <cstdint>
#include <span>

#include "barrio/adapt/sizes.hpp"
#include "barrio/base/json.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::bench {

/// Quality of a mesh of tets, by formulas independent of the adaptation code: quality is the mean ratio; the length of
/// an edge is (la - lb) / ln(la / lb), where la and lb are its lengths in the sizes at its ends.
struct MeshWorth {
  std::int64_t n_cells = 0;
  double volume = 0.0;
  double min_quality = 0.0;
  double mean_quality = 0.0;
  double part_in_range = 0.0;  ///< share of edges with lengths 1 / sqrt(2) to sqrt(2)
  double shortest = 0.0;
  double longest = 0.0;
  double imbalance_of_cells = 0.0;     ///< max / mean over ranks
  double imbalance_of_vertices = 0.0;  ///< owned
};

/// Evaluate a mesh. Collective.
MeshWorth evaluate(const mesh::Mesh& mesh, const adapt::SizeFunction& size);

Json to_json(const MeshWorth& worth);

}  // namespace barrio::bench
