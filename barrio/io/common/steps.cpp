#include "barrio/io/common/steps.hpp"

#include <fmt/format.h>

#include "barrio/base/error.hpp"
#include "barrio/mpi/agree.hpp"

namespace barrio::io::detail {

std::int64_t chosen_step(mpi::Context& context, const std::string& path, int step, std::int64_t n_steps) {
  if (step < 0 || step > n_steps)
    throw AgreedError(ErrorCode::usage,
                      {.subject = fmt::format("step {} of {}", step, path),
                       .cause = n_steps == 0 ? "does not exist: the file has no time steps"
                                             : fmt::format("does not exist: the file has steps 1 to {}", n_steps),
                       .remedy = "0 reads the last one"});
  if (step > 0) return step - 1;
  if (n_steps > 1)
    context.log().notice(fmt::format("{}: the last of {} time steps is read; --step chooses another", path, n_steps));
  return n_steps - 1;
}

}  // namespace barrio::io::detail
