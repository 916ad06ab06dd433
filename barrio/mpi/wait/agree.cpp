#include "barrio/mpi/agree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "barrio/base/abort.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mpi {
namespace {

/// Reduce to the lowest rank. Meanwhile do the context's idle work. @return false once the limit has passed
bool reduce_to_lowest(Context& context, Rank& first) {
  context.counters().collectives += 1;
  // Not MPI_Wait, even where the policy is to block: it has no time limit.
  const auto complete = [&](MPI_Request& request) {
    return wait_for(request, context.wait_policy(), context.agree_limit_seconds(), context.idle_work());
  };
#ifdef BARRIO_MPI_SMPI
  // The simulator's MPI_Iallreduce sends to every rank one by one. This one doubles the distance: after the step of
  // distance d a rank knows the lowest of itself and the 2d - 1 ranks before it.
  constexpr int tag = 2;
  const Rank size = context.size();
  for (Rank distance = 1; distance < size; distance *= 2) {
    Rank other = 0;
    const Rank mine = first;
    std::array<MPI_Request, 2> requests{};
    check(MPI_Irecv(&other, 1, MPI_INT, (context.rank() + size - distance) % size, tag, context.comm(), &requests[0]),
          "MPI_Irecv");
    check(MPI_Isend(&mine, 1, MPI_INT, (context.rank() + distance) % size, tag, context.comm(), &requests[1]),
          "MPI_Isend");
    if (!complete(requests[0]) || !complete(requests[1])) return false;
    first = std::min(first, other);
  }
  return true;
#else
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, context.comm(), &request), "MPI_Iallreduce");
  return complete(request);
#endif
}

/// Find the lowest rank that failed, or end the job after the limit.
void wait_for_lowest(Context& context, Rank& first, const Status& status) {
  if (reduce_to_lowest(context, first)) return;
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
