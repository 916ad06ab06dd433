#include "barrio/base/error.hpp"
#include "barrio/cases/case_run.hpp"

// Without toml11, muParser and libpng.

namespace barrio::cases {

class CaseRun::Core {};

CaseRun::CaseRun(mpi::Context&, const CaseJob& job) {
  refuse_together(ErrorCode::failed, job.file,
                  "cannot be run: this barrio was built without toml11, muParser and libpng, which cases need",
                  "tools/doctor says how to get them");
}
CaseRun::CaseRun(CaseRun&&) noexcept = default;
CaseRun& CaseRun::operator=(CaseRun&&) noexcept = default;
CaseRun::~CaseRun() = default;
void CaseRun::run(Progress*) {}
Json CaseRun::result() { return {}; }
double CaseRun::time() const { return 0.0; }
std::int64_t CaseRun::n_steps() const { return 0; }
int CaseRun::n_levels() const { return 0; }
std::size_t CaseRun::n_axes() const { return 0; }
CaseCells CaseRun::cells() const { return {}; }
CaseBlocks CaseRun::blocks(int) const { return {}; }

}  // namespace barrio::cases
