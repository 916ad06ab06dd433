#pragma once

#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/base/progress.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::apps {

/// Job of `barrio amr`.
struct AmrJob {
  std::string case_file;
  std::vector<std::string> settings;  ///< replace values of the file, in TOML: "grid.levels=2"
  std::string restart;                ///< checkpoint to continue from; or empty
};

/// Run a case to its end. Collective. @param progress  or null
/// @return a result document; its `is_met` says whether all errors are within their limits
/// @throws AgreedError{bad_input} for an invalid case, {failed} for a file that cannot be read or written, or if barrio
/// was built without the libraries that case files need, and as amr::Simulation. Files written until then stay
[[nodiscard]] Json run_amr(mpi::Context& context, const AmrJob& job, Progress* progress);

}  // namespace barrio::apps
