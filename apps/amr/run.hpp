#pragma once

#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/base/progress.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::apps {

/// What to run.
struct AmrJob {
  std::string case_file;
  std::vector<std::string> settings;  ///< laid over the file, in the words of TOML: "grid.levels=2"
  std::string restart;                ///< a checkpoint to go on from; or empty
};

/// Run a case to its end. Collective. @param progress  or null
/// @return a result document; its `is_met` says whether all errors are as small as wanted
/// @throws AgreedError{bad_input} for a case that cannot be, {failed} for a file that cannot be read or written, and as
/// amr::Simulation; what was written until then stays. {failed} where barrio was built without what case files need
[[nodiscard]] Json run_amr(mpi::Context& context, const AmrJob& job, Progress* progress);

}  // namespace barrio::apps
