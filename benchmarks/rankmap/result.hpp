#pragma once

#include <string>

#include "barrio/base/json.hpp"
#include "barrio/mpi/context.hpp"
#include "benchmarks/rankmap/options.hpp"

namespace barrio::bench {

/// Run all methods on all cases of the chosen parts, and judge the goals. Every placement is checked, and its cost is
/// recomputed from the traffic.
Json make_rankmap_document(mpi::Context& context, const RankmapOptions& options);
std::string rankmap_text(const Json& document);

}  // namespace barrio::bench
