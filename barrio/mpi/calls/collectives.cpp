#include "barrio/mpi/collectives.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/mpi/check.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::mpi {
namespace {

// A tag below those of objects. MPI keeps messages between two ranks in order, which keeps successive reductions apart.
constexpr int reduce_tag = 1;

/// Start a collective call and complete it by the wait policy. On the simulator make the blocking call instead: its
/// non-blocking ones send to every rank one by one, and its MPI_Ibarrier releases all ranks but 0 before the last has
/// arrived.
template <class Start, class Block>
void call(Context& context, [[maybe_unused]] Start&& start, [[maybe_unused]] Block&& block) {
  context.counters().collectives += 1;
#ifdef BARRIO_MPI_SMPI
  block();
#else
  MPI_Request request = MPI_REQUEST_NULL;
  start(&request);
  wait(request, context.wait_policy());
#endif
}

}  // namespace

void barrier(Context& context) {
  const MPI_Comm comm = context.comm();
  call(
      context, [&](MPI_Request* request) { check(MPI_Ibarrier(comm, request), "MPI_Ibarrier"); },
      [&] { check(MPI_Barrier(comm), "MPI_Barrier"); });
}

namespace detail {

void all_reduce(Context& context, void* items, std::size_t n, MPI_Datatype type, MPI_Op op) {
  const MPI_Comm comm = context.comm();
  call(
      context,
      [&](MPI_Request* request) {
        check(MPI_Iallreduce(MPI_IN_PLACE, items, as_count(n), type, op, comm, request), "MPI_Iallreduce");
      },
      [&] { check(MPI_Allreduce(MPI_IN_PLACE, items, as_count(n), type, op, comm), "MPI_Allreduce"); });
}

#ifdef BARRIO_MPI_SMPI
// The simulator's MPI_Exscan sends to all higher ranks. This one doubles the distance: after the step of distance d a
// rank knows the sum of itself and the 2d - 1 ranks before it.
void exclusive_scan(Context& context, const void* in, void* out, std::size_t n, MPI_Datatype type, MPI_Op op) {
  context.counters().collectives += 1;
  int item_bytes = 0;
  check(MPI_Type_size(type, &item_bytes), "MPI_Type_size");
  const std::size_t n_bytes = n * static_cast<std::size_t>(item_bytes);
  const auto* const bytes = static_cast<const std::byte*>(in);
  std::vector<std::byte> with_this(bytes, bytes + n_bytes);
  std::vector<std::byte> received(n_bytes);
  bool is_first = true;
  for (Rank distance = 1; distance < context.size(); distance *= 2) {
    const Rank to = context.rank() + distance < context.size() ? context.rank() + distance : MPI_PROC_NULL;
    const Rank from = context.rank() >= distance ? context.rank() - distance : MPI_PROC_NULL;
    check(MPI_Sendrecv(with_this.data(), as_count(n), type, to, reduce_tag, received.data(), as_count(n), type, from,
                       reduce_tag, context.comm(), MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
    if (from == MPI_PROC_NULL) continue;
    if (std::exchange(is_first, false)) {
      std::memcpy(out, received.data(), n_bytes);
    } else {
      check(MPI_Reduce_local(received.data(), out, as_count(n), type, op), "MPI_Reduce_local");
    }
    check(MPI_Reduce_local(received.data(), with_this.data(), as_count(n), type, op), "MPI_Reduce_local");
  }
}
#else
void exclusive_scan(Context& context, const void* in, void* out, std::size_t n, MPI_Datatype type, MPI_Op op) {
  const MPI_Comm comm = context.comm();
  call(
      context,
      [&](MPI_Request* request) { check(MPI_Iexscan(in, out, as_count(n), type, op, comm, request), "MPI_Iexscan"); },
      [&] { check(MPI_Exscan(in, out, as_count(n), type, op, comm), "MPI_Exscan"); });
}
#endif

void broadcast(Context& context, void* bytes, std::size_t n_bytes, Rank root) {
  // In pieces, since MPI counts in int.
  constexpr std::size_t piece = std::size_t{1} << 30U;
  const MPI_Comm comm = context.comm();
  auto* at = static_cast<std::byte*>(bytes);
  do {
    const int n = as_count(std::min(piece, n_bytes));
    call(
        context, [&](MPI_Request* request) { check(MPI_Ibcast(at, n, MPI_BYTE, root, comm, request), "MPI_Ibcast"); },
        [&] { check(MPI_Bcast(at, n, MPI_BYTE, root, comm), "MPI_Bcast"); });
    at += n;
    n_bytes -= n;
  } while (n_bytes > 0);
}

void all_gather(Context& context, const void* in, std::size_t n_bytes, void* out) {
  const MPI_Comm comm = context.comm();
  const int n = as_count(n_bytes);
  call(
      context,
      [&](MPI_Request* request) {
        check(MPI_Iallgather(in, n, MPI_BYTE, out, n, MPI_BYTE, comm, request), "MPI_Iallgather");
      },
      [&] { check(MPI_Allgather(in, n, MPI_BYTE, out, n, MPI_BYTE, comm), "MPI_Allgather"); });
}

void all_to_all(Context& context, const void* in, std::size_t n_bytes, void* out) {
  const MPI_Comm comm = context.comm();
  const int n = as_count(n_bytes);
  call(
      context,
      [&](MPI_Request* request) {
        check(MPI_Ialltoall(in, n, MPI_BYTE, out, n, MPI_BYTE, comm, request), "MPI_Ialltoall");
      },
      [&] { check(MPI_Alltoall(in, n, MPI_BYTE, out, n, MPI_BYTE, comm), "MPI_Alltoall"); });
}

}  // namespace detail

void broadcast(Context& context, std::string& text, Rank root) {
  std::uint64_t n = text.size();
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
