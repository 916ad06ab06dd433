#pragma once

#include <cstdint>
#include <span>

#include "barrio/adapt/sizes.hpp"
#include "barrio/base/json.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::bench {

/// What a mesh of tets is worth, by formulas that no adaptation code has: quality is the mean ratio, the length of an
/// edge (la - lb) / ln(la / lb), where la and lb are its lengths in the sizes at its ends.
struct MeshWorth {
  std::int64_t n_cells = 0;
  double volume = 0.0;
  double min_quality = 0.0;
  double mean_quality = 0.0;
  double part_in_range = 0.0;  ///< of edges: 1 / sqrt(2) to sqrt(2)
  double shortest = 0.0;
  double longest = 0.0;
  double imbalance_of_cells = 0.0;     ///< most of a rank / mean
  double imbalance_of_vertices = 0.0;  ///< owned
};

/// Collective.
MeshWorth evaluate(const mesh::Mesh& mesh, const adapt::SizeFunction& size);

Json to_json(const MeshWorth& worth);

}  // namespace barrio::bench
