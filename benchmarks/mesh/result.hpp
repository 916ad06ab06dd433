#pragma once

#include <optional>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "benchmarks/mesh/joining.hpp"
#include "benchmarks/mesh/load.hpp"

namespace barrio::bench {

/// The document of a run: figures by mesh, and what was aimed at. Collective.
Json make_document(mpi::Context& context, const MeshOptions& options, const std::vector<LoadFigures>& all,
                   const std::optional<JoinFigures>& join);

/// A document as tables for people.
std::string to_text(const Json& document);

}  // namespace barrio::bench
