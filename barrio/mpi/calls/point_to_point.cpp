#include "barrio/mpi/point_to_point.hpp"

#include <fmt/format.h>

#include "barrio/base/error.hpp"

namespace barrio::mpi {

void detail::check_whole_items(std::size_t bytes, std::size_t item_bytes, Rank from, int tag) {
  if (bytes % item_bytes != 0) {
    throw Error(ErrorCode::internal,
                {.subject = fmt::format("message from rank {} with tag {}", from, tag),
                 .cause = fmt::format("{} bytes are not a whole number of items of {} bytes", bytes, item_bytes)});
  }
}

std::size_t probe_bytes(Context& context, Rank from, int tag) {
  MPI_Status status;
  if (context.wait_policy().kind == WaitPolicy::Kind::block) {
    check(MPI_Probe(from, tag, context.comm(), &status), "MPI_Probe");
  } else {
    Pause pause(context.wait_policy());
    for (int found = 0;; pause()) {
      check(MPI_Iprobe(from, tag, context.comm(), &found, &status), "MPI_Iprobe");
      if (found != 0) break;
    }
  }
  int bytes = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  return bytes;
}

}  // namespace barrio::mpi
