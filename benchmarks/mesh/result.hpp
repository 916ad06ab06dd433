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

/// All measurements of a run.
struct MeshFigures {
  std::vector<LoadFigures> loads;
  std::optional<JoinFigures> join;
  std::vector<StructuredFigures> structured;
  std::optional<BoxesFigures> boxes;
};

/// Make the document of a run: figures and goals. Collective.
Json make_document(mpi::Context& context, const MeshOptions& options, const MeshFigures& figures);

/// Format a document as readable tables.
std::string to_text(const Json& document);

}  // namespace barrio::bench
