#pragma once

#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "benchmarks/exchange/measure.hpp"
#include "benchmarks/exchange/work.hpp"

namespace barrio::bench {

/// The document of a run: its cases, whom this build lacks, and what was aimed at. Collective.
Json make_document(mpi::Context& context, const Options& options, const Pattern& pattern,
                   const std::vector<Case>& cases);

/// The same of another work than rounds.
Json make_document(mpi::Context& context, const Options& options, const WorkTraits& work,
                   const std::vector<Case>& cases);

/// A document as a table for people.
std::string to_text(const Json& document);

}  // namespace barrio::bench
