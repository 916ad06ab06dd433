#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>

#include "barrio/base/error.hpp"
#include "barrio/base/trace.hpp"
#include "barrio/mpi/check.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/comm.hpp"
#include "barrio/mpi/wait.hpp"
#include "barrio/rankmap/machines/job_hosts.hpp"
#include "barrio/rankmap/measured_machine.hpp"

namespace barrio::rankmap {
namespace {

constexpr int ping_tag = 11;
constexpr int min_trips = 5;
constexpr double limit_seconds = 20.0;

struct PairOfRanks {
  Rank first = 0, second = 0;
  bool is_between = false;
};

/// Choose at most `most` numbers in 1..n-1: first near ones, then farther and farther ones, always the last.
std::vector<int> spread_steps(int n, int most) {
  std::vector<int> steps;
  for (int step = 1; step < n && std::ssize(steps) < most; step *= 2) steps.push_back(step);
  if (n > 1 && !steps.empty() && steps.back() != n - 1) {
    if (std::ssize(steps) == most) steps.pop_back();
    steps.push_back(n - 1);
  }
  return steps;
}

std::vector<PairOfRanks> choose_pairs(std::span<const HostRun> runs, int max_pairs) {
  const std::vector<HostRun> hosts = merge_hosts(runs);
  std::vector<std::vector<Rank>> ranks_of(hosts.size());
  Rank rank = 0;
  for (const HostRun& run : runs) {
    const auto host = std::ranges::find(hosts, run.name, &HostRun::name) - hosts.begin();
    for (int i = 0; i < run.count; ++i) ranks_of[host].push_back(rank++);
  }
  const auto fullest = std::ranges::max_element(ranks_of, {}, [](const auto& ranks) { return ranks.size(); });
  std::vector<PairOfRanks> pairs;
  for (const int step : spread_steps(static_cast<int>(fullest->size()), max_pairs))
    pairs.push_back({fullest->front(), (*fullest)[step], false});
  for (const int step : spread_steps(static_cast<int>(hosts.size()), max_pairs))
    pairs.push_back({ranks_of.front().front(), ranks_of[step].front(), true});
  return pairs;
}

std::vector<std::int64_t> sizes_to(std::int64_t max_bytes) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = 1; bytes < max_bytes; bytes *= 4) sizes.push_back(bytes);
  sizes.push_back(max_bytes);
  return sizes;
}

/// Ping-pong of two ranks. Both call it. @return best one-way time by size, on both
class PingPong {
 public:
  PingPong(mpi::Context& context, Rank other, bool is_first) : context_(context), other_(other), is_first_(is_first) {}

  std::vector<double> run(std::span<const std::int64_t> sizes, double seconds) {
    std::vector<std::byte> buffer(sizes.back());
    std::vector<double> best;
    const double share = seconds / static_cast<double>(sizes.size());
    for (const std::int64_t bytes : sizes) best.push_back(time_of(std::span(buffer).first(bytes), share));
    return best;
  }

 private:
  double time_of(std::span<std::byte> bytes, double seconds) {
    double best = std::numeric_limits<double>::max();
    const double start = Trace::steady_seconds();
    // The first rank says with each message whether another will follow.
    for (int trip = 0;; ++trip) {
      const double sent = Trace::steady_seconds();
      char goes_on = trip < min_trips || sent - start < seconds ? 1 : 0;
      if (is_first_) {
        send(std::as_bytes(std::span(&goes_on, 1)));
        if (goes_on == 0) break;
        const double before = Trace::steady_seconds();
        send(bytes);
        receive(bytes);
        if (trip > 0) best = std::min(best, 0.5 * (Trace::steady_seconds() - before));
      } else {
        receive(std::as_writable_bytes(std::span(&goes_on, 1)));
        if (goes_on == 0) break;
        receive(bytes);
        send(bytes);
      }
    }
    if (is_first_)
      send(std::as_bytes(std::span(&best, 1)));
    else
      receive(std::as_writable_bytes(std::span(&best, 1)));
    return best;
  }

  void send(std::span<const std::byte> bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi::check(
        MPI_Isend(bytes.data(), mpi::as_count(bytes.size()), MPI_BYTE, other_, ping_tag, context_.comm(), &request),
        "MPI_Isend");
    finish(request);
  }

  void receive(std::span<std::byte> bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    mpi::check(
        MPI_Irecv(bytes.data(), mpi::as_count(bytes.size()), MPI_BYTE, other_, ping_tag, context_.comm(), &request),
        "MPI_Irecv");
    finish(request);
  }

  void finish(MPI_Request& request) {
    if (!mpi::wait_for(request, context_.wait_policy(), limit_seconds))
      throw Error(ErrorCode::failed,
                  {.subject = "measurement", .cause = "the other rank of a pair no longer answers; was it stopped?"});
  }

  mpi::Context& context_;
  Rank other_;
  bool is_first_;
};

/// Wait asleep for all ranks, so that those that measure have their cores.
void sleep_until_all_are_here(mpi::Context& context) {
  constexpr useconds_t nap_microseconds = 1000;
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Ibarrier(context.comm(), &request), "MPI_Ibarrier");
  for (int done = 0;;) {
    mpi::check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    ::usleep(nap_microseconds);
  }
}

MessageTimes median_of(std::span<const std::int64_t> sizes, const std::vector<std::vector<double>>& by_pair) {
  MessageTimes times;
  times.n_pairs = static_cast<int>(by_pair.size());
  if (by_pair.empty()) return times;
  times.bytes.assign(sizes.begin(), sizes.end());
  for (std::size_t size = 0; size < sizes.size(); ++size) {
    std::vector<double> values;
    for (const std::vector<double>& pair : by_pair) values.push_back(pair[size]);
    std::ranges::sort(values);
    times.seconds.push_back(values[values.size() / 2]);
  }
  return times;
}

}  // namespace

MeasuredMachine measure_machine(mpi::Context& context, const MeasureOptions& options) {
  if (context.size() < 2)
    throw AgreedError(ErrorCode::usage,
                      {.subject = "measurement",
                       .cause = "needs at least two ranks",
                       .remedy = "start it on the nodes of the job: mpirun -n 16 barrio map --measure"});
  MeasuredMachine machine;
  machine.hosts = find_hosts(context);
  const std::vector<std::int64_t> sizes = sizes_to(options.max_bytes);
  std::vector<std::vector<double>> inside, between;
  for (const PairOfRanks& pair : choose_pairs(machine.hosts, options.max_pairs)) {
    std::vector<double> times(sizes.size());
    const bool is_first = context.rank() == pair.first;
    if (is_first || context.rank() == pair.second)
      times = PingPong(context, is_first ? pair.second : pair.first, is_first).run(sizes, options.pair_seconds);
    sleep_until_all_are_here(context);
    mpi::broadcast(context, std::span(times), pair.first);
    (pair.is_between ? between : inside).push_back(std::move(times));
  }
  machine.inside = median_of(sizes, inside);
  machine.between = median_of(sizes, between);
  return machine;
}

}  // namespace barrio::rankmap
