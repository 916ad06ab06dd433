#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/exchange/stream.hpp"
#include "barrio/mpi/check.hpp"
#include "barrio/mpi/collectives.hpp"
#include "benchmarks/mobile/parts.hpp"

namespace barrio::bench {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct Small {
  std::uint64_t number;
  std::array<std::uint64_t, 3> rest;
};
static_assert(sizeof(Small) == 32);

/// Return the rank that this one exchanges messages with: of a pair, or the rank itself.
Rank partner_of(const mpi::Context& context) {
  const Rank other = context.rank() % 2 == 0 ? context.rank() + 1 : context.rank() - 1;
  return other < context.size() ? other : context.rank();
}

/// Return the time of the slowest rank. Collective.
template <class Run>
double seconds_of(mpi::Context& context, Run&& run) {
  mpi::barrier(context);
  const double start = MPI_Wtime();
  run();
  return mpi::max(context, MPI_Wtime() - start);
}

}  // namespace

Json measure_stream(mpi::Context& context, const MobileOptions& options, Goals& goals) {
  const Rank other = partner_of(context);
  std::vector<Rank> neighbours;
  if (other != context.rank()) neighbours.push_back(other);
  exchange::Neighborhood hood(context, neighbours);
  exchange::Stream<Small> stream(context);
  const auto n = static_cast<std::uint64_t>(options.n_messages);
  const std::uint64_t expected = n * (n - 1) / 2;
  double by_stream = never;
  double by_rounds = never;
  std::uint64_t sum = 0;
  for (int i = 0; i < options.repeats; ++i) {
    sum = 0;
    by_stream = std::min(by_stream, seconds_of(context, [&] {
                           const auto read = [&](Rank, const Small& one) { sum += one.number; };
                           for (std::uint64_t m = 0; m < n; ++m) stream.send(other, {m, {}});
                           stream.drain(read);
                         }));
    check_sum(context, sum == expected, "a stream");
    sum = 0;
    by_rounds = std::min(by_rounds, seconds_of(context, [&] {
                           auto round = hood.begin_round<Small>();
                           for (std::uint64_t m = 0; m < n; ++m) round.send(other, {m, {}});
                           round.close();
                           for (const auto& [from, one] : round.received()) sum += one.number;
                         }));
    check_sum(context, sum == expected, "rounds");
  }
  const double speed = by_rounds / by_stream;
  goals.add("stream.of_rounds", speed, "x", 0.8, true);
  return {{"part", "stream"},
          {"messages", n},
          {"bytes", sizeof(Small)},
          {"stream_seconds", by_stream},
          {"rounds_seconds", by_rounds},
          {"messages_per_second", static_cast<double>(n) / by_stream},
          {"of_rounds", speed}};
}

Json measure_request(mpi::Context& context, const MobileOptions& options, Goals& goals) {
  const Rank other = partner_of(context);
  const bool asks = context.rank() < other;
  const std::int64_t n = std::max<std::int64_t>(options.n_messages / 100, 1);
  double by_stream = never;
  double by_hand = never;
  const int tag = context.take_tags(1).first;
  if (context.size() > 1) {
    exchange::Stream<Small> stream(context);
    for (int i = 0; i < options.repeats; ++i) {
      std::uint64_t sum = 0;
      by_stream = std::min(by_stream, seconds_of(context, [&] {
                             mpi::Pause pause(context.wait_policy());
                             for (std::int64_t m = 0; m < n && other != context.rank(); ++m) {
                               bool is_here = false;
                               const auto read = [&](Rank from, const Small& one) {
                                 is_here = true;
                                 sum += one.number;
                                 if (!asks) stream.send(from, one);
                               };
                               if (asks) stream.send(other, {static_cast<std::uint64_t>(m), {}});
                               while (!is_here)
                                 if (stream.poll(read)) {
                                   pause.reset();
                                 } else {
                                   pause();
                                 }
                             }
                           }));
      check_sum(context, other == context.rank() || sum == static_cast<std::uint64_t>(n * (n - 1) / 2), "requests");
      sum = 0;
      by_hand = std::min(
          by_hand, seconds_of(context, [&] {
            Small in{};
            for (std::int64_t m = 0; m < n && other != context.rank(); ++m) {
              std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
              mpi::check(MPI_Irecv(&in, sizeof in, MPI_BYTE, other, tag, context.comm(), &requests[0]), "MPI_Irecv");
              Small out{static_cast<std::uint64_t>(m), {}};
              if (!asks) {
                mpi::wait(requests[0], context.wait_policy());
                out = in;
              }
              mpi::check(MPI_Isend(&out, sizeof out, MPI_BYTE, other, tag, context.comm(), &requests[1]), "MPI_Isend");
              mpi::wait_all(requests, context.wait_policy());
              sum += in.number;
            }
          }));
      check_sum(context, other == context.rank() || sum == static_cast<std::uint64_t>(n * (n - 1) / 2),
                "requests by hand");
    }
    // with more ranks than cores the scheduler's turns count
    if (context.size() == 2) goals.add("request.of_hand", by_stream / by_hand, "x", 1.5);
  }
  Json part{{"part", "request"}, {"requests", n}};
  if (context.size() == 1) return part;
  part.update({{"stream_seconds", by_stream / static_cast<double>(n)},
               {"hand_seconds", by_hand / static_cast<double>(n)},
               {"of_hand", by_stream / by_hand}});
  return part;
}

}  // namespace barrio::bench
