#include "barrio/mpi/collectives.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::mpi {
namespace {

// One tag below the ones objects get; order between two ranks keeps successive reductions apart.
constexpr int reduce_tag = 1;

int as_count(std::size_t n) {
  if (n > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw Error(ErrorCode::internal, {.subject = "collective call", .cause = "more than 2^31 - 1 items in one call"});
  }
  return static_cast<int>(n);
}

void complete(Context& context, MPI_Request request) {
  context.counters().collectives += 1;
  wait(request, context.wait_policy());
}

}  // namespace

void barrier(Context& context) {
#ifdef BARRIO_MPI_SMPI
  // The simulator's MPI_Ibarrier lets all but rank 0 go before the last has come.
  check(MPI_Barrier(context.comm()), "MPI_Barrier");
  context.counters().collectives += 1;
#else
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(context.comm(), &request), "MPI_Ibarrier");
  complete(context, request);
#endif
}

namespace detail {

void all_reduce(Context& context, void* items, std::size_t n, MPI_Datatype type, MPI_Op op) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(MPI_IN_PLACE, items, as_count(n), type, op, context.comm(), &request), "MPI_Iallreduce");
  complete(context, request);
}

void exclusive_scan(Context& context, const void* in, void* out, std::size_t n, MPI_Datatype type, MPI_Op op) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iexscan(in, out, as_count(n), type, op, context.comm(), &request), "MPI_Iexscan");
  complete(context, request);
}

void broadcast(Context& context, void* bytes, std::size_t n_bytes, Rank root) {
  // In pieces, since MPI counts in int.
  constexpr std::size_t piece = std::size_t{1} << 30U;
  auto* at = static_cast<std::byte*>(bytes);
  do {
    const std::size_t n = std::min(piece, n_bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibcast(at, as_count(n), MPI_BYTE, root, context.comm(), &request), "MPI_Ibcast");
    complete(context, request);
    at += n;
    n_bytes -= n;
  } while (n_bytes > 0);
}

void all_gather(Context& context, const void* in, std::size_t n_bytes, void* out) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(in, as_count(n_bytes), MPI_BYTE, out, as_count(n_bytes), MPI_BYTE, context.comm(), &request),
        "MPI_Iallgather");
  complete(context, request);
}

}  // namespace detail

void broadcast(Context& context, std::string& text, Rank root) {
  auto n = static_cast<std::uint64_t>(text.size());
  detail::broadcast(context, &n, sizeof n, root);
  text.resize(n);
  if (n > 0) detail::broadcast(context, text.data(), n, root);
}

std::string reduce_to_root(Context& context, std::string mine,
                           const std::function<std::string(std::string, std::string)>& merge) {
  const Rank rank = context.rank();
  context.counters().collectives += 1;
  for (int step = 1; step < context.size(); step *= 2) {
    if ((rank & step) != 0) {
      const std::vector<char> bytes(mine.begin(), mine.end());
      send(context, std::span<const char>(bytes), rank - step, reduce_tag);
      return {};
    }
    if (rank + step < context.size()) {
      const std::vector<char> other = receive<char>(context, rank + step, reduce_tag);
      mine = merge(std::move(mine), std::string(other.begin(), other.end()));
    }
  }
  return mine;
}

}  // namespace barrio::mpi
