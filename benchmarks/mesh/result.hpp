#pragma once

#include <optional>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "benchmarks/mesh/boxes.hpp"
#include "benchmarks/mesh/joining.hpp"
#include "benchmarks/mesh/load.hpp"
#include "benchmarks/mesh/structured.hpp"

namespace barrio::bench {

/// All that a run has measured.
struct MeshFigures {
  std::vector<LoadFigures> loads;
  std::optional<JoinFigures> join;
  std::vector<StructuredFigures> structured;
  std::optional<BoxesFigures> boxes;
};

/// The document of a run: figures, and what was aimed at. Collective.
Json make_document(mpi::Context& context, const MeshOptions& options, const MeshFigures& figures);

/// A document as tables for people.
std::string to_text(const Json& document);

}  // namespace barrio::bench
