#include "barrio/mpi/agree.hpp"

#include <fmt/format.h>

#include <array>

#include "barrio/base/abort.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mpi {
namespace {

/// Find the lowest rank that failed, or end the job after the limit. Meanwhile do the context's idle work.
void wait_for_lowest(Context& context, Rank& first, const Status& status) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, context.comm(), &request), "MPI_Iallreduce");
  context.counters().collectives += 1;
  // Not MPI_Wait, even where the policy is to block: it has no time limit.
  if (wait_for(request, context.wait_policy(), context.agree_limit_seconds(), context.idle_work())) return;
  abort_job(ErrorCode::failed,
            fmt::format("waited {:.0f} s for the other ranks to agree on the outcome of a phase, and at "
                        "least one never arrived{}",
                        context.agree_limit_seconds(),
                        status ? fmt::format("; this rank had failed: {}", status->what()) : ""));
}

}  // namespace

void agree(Context& context, const Status& status) {
  Rank first = status ? context.rank() : context.size();
#ifdef BARRIO_MPI_SMPI
  // A simulated rank cannot stay away, and polls cost simulated time.
  const bool polls = static_cast<bool>(context.idle_work());
#else
  const bool polls = true;
#endif
  if (polls) {
    wait_for_lowest(context, first, status);
  } else {
    first = min(context, first);
  }
  if (first == context.size()) return;

  std::array<std::string, 3> text;
  int code = 0;
  if (context.rank() == first) {
    code = exit_code(status->code());
    text = {status->subject(), status->cause(), status->remedy()};
  }
  broadcast(context, std::span(&code, 1), first);
  for (std::string& part : text) broadcast(context, part, first);
  const Error error(static_cast<ErrorCode>(code), {.subject = text[0], .cause = text[1], .remedy = text[2]});
  throw AgreedError(error, first);
}

}  // namespace barrio::mpi
