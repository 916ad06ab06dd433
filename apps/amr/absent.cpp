#include "apps/amr/run.hpp"

namespace barrio::apps {

Json run_amr(mpi::Context&, const AmrJob& job, Progress*) {
  refuse_together(ErrorCode::failed, job.case_file,
                  "cannot be run: this barrio was built without toml11, muParser and libpng, which cases need",
                  "tools/doctor says how to get them");
}

}  // namespace barrio::apps
