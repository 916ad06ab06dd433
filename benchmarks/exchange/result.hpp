#pragma once

#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "benchmarks/exchange/measure.hpp"
#include "benchmarks/exchange/work.hpp"

namespace barrio::bench {

/// Make the document of a run: its cases, the contenders that this build lacks, and goals. Collective.
Json make_document(mpi::Context& context, const Options& options, const Pattern& pattern,
                   const std::vector<Case>& cases);

/// Make the document of a work other than rounds. Collective.
Json make_document(mpi::Context& context, const Options& options, const WorkTraits& work,
                   const std::vector<Case>& cases);

/// Format a document as a readable table.
std::string to_text(const Json& document);

}  // namespace barrio::bench
