#include "barrio/probe/experiments/pair.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string>

#include "barrio/base/abort.hpp"
#include "barrio/base/error.hpp"
#include "barrio/mpi/check.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::probe {
namespace {

constexpr int sync_tag = 1;
constexpr int n_clock_trials = 30;
constexpr double shortest_notice_seconds = 50e-6;

double local_seconds() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Make waits keep the core where each rank has one: messages arrive soon, but a process that yields to other work may
/// lose the core for long, in the middle of an experiment.
mpi::WaitPolicy without_yields(mpi::WaitPolicy policy) noexcept {
  if (policy.kind == mpi::WaitPolicy::Kind::yield && policy.spin_polls > 0) policy.kind = mpi::WaitPolicy::Kind::spin;
  return policy;
}

/// Tell whether this rank is on the host of rank 0. Collective.
bool is_with_rank_0(mpi::Context& context) {
  const mpi::Comm host = mpi::Comm::split_by_host(context.comm(), context.rank());
  Rank lowest = context.rank();
  mpi::check(MPI_Bcast(&lowest, 1, MPI_INT, 0, host.get()), "MPI_Bcast");
  return lowest == 0;
}

/// Return the first rank for which `is_one` holds; the number of ranks if there is none. Collective.
Rank first_of(mpi::Context& context, bool is_one) {
  return mpi::min(context, is_one ? context.rank() : context.size());
}

}  // namespace

Pair::Pair(mpi::Context& context, Partner partner) : policy_(without_yields(context.wait_policy())) {
  if (context.size() < 2)
    throw AgreedError(ErrorCode::usage,
                      {.subject = "probe", .cause = "needs at least two ranks", .remedy = "barrio --ranks 2 probe"});
  const bool is_with_0 = is_with_rank_0(context);
  const Rank elsewhere = first_of(context, !is_with_0);
  const Rank beside = first_of(context, is_with_0 && context.rank() > 0);
  is_apart_ = partner == Partner::far && elsewhere < context.size();
  const Rank other = is_apart_ ? elsewhere : beside;
  exists_ = other < context.size();
  if (exists_ && context.rank() == 0) side_ = 0;
  if (context.rank() == other) side_ = 1;
  comm_ = mpi::Comm::split(context.comm(), side_ >= 0 ? 0 : MPI_UNDEFINED, side_);
  if (takes_part()) estimate_offset();
}

double Pair::now() const noexcept { return local_seconds() + offset_seconds_; }

void Pair::swap(std::span<const std::byte> mine, std::span<std::byte> others) {
  MPI_Request requests[2];
  mpi::check(MPI_Irecv(others.data(), mpi::as_count(others.size()), MPI_BYTE, other(), sync_tag, comm(), &requests[0]),
             "MPI_Irecv");
  mpi::check(MPI_Isend(mine.data(), mpi::as_count(mine.size()), MPI_BYTE, other(), sync_tag, comm(), &requests[1]),
             "MPI_Isend");
  for (MPI_Request& request : requests) {
    if (!mpi::wait_for(request, policy_, limit_seconds))
      give_up("the other rank of the pair no longer answers; was it stopped?");
  }
}

double Pair::swap(double mine) {
  double others = 0.0;
  swap(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(&others, 1)));
  return others;
}

void Pair::broadcast(std::span<std::byte> bytes) {
  if (side_ == 0) {
    swap(bytes, {});
  } else {
    swap({}, bytes);
  }
}

/// Of many answers, the one with the shortest round trip tells best what the other clock showed half way.
void Pair::estimate_offset() {
  double best_trip = 1e30;
  double offset = 0.0;
  for (int trial = 0; trial < n_clock_trials; ++trial) {
    const double before = local_seconds();
    const double others = swap(local_seconds());
    const double trip = local_seconds() - before;
    if (trip >= best_trip) continue;
    best_trip = trip;
    offset = others - (before + trip / 2);
  }
  notice_seconds_ = std::max(shortest_notice_seconds, 6 * best_trip);
  // On one node both sides read one clock.
  if (side_ == 1 && is_apart_) offset_seconds_ = offset;
}

double Pair::meet() {
  constexpr int max_tries = 20;
  constexpr double sleep_seconds = 20e-3;
  swap(0.0);
  for (int n_tries = 1;; ++n_tries) {
    double start = now() + notice_seconds_;
    broadcast(std::as_writable_bytes(std::span(&start, 1)));
    // A side without its core when the instant was proposed hears of it too late.
    const bool is_late = max(now() < start ? 0.0 : 1.0) > 0.0;
    if (!is_late || n_tries == max_tries) {
      while (now() < start) {
      }
      return start;
    }
    sleep(sleep_seconds);
  }
}

void Pair::sleep(double seconds) {
  double end = now() + seconds;
  broadcast(std::as_writable_bytes(std::span(&end, 1)));
  const double mine = end - offset_seconds_;
  timespec time{};
  time.tv_sec = static_cast<time_t>(mine);
  time.tv_nsec = static_cast<long>(1e9 * (mine - static_cast<double>(time.tv_sec)));
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

void Pair::give_up(std::string_view cause) noexcept {
  abort_job(ErrorCode::failed, std::string("error: probe: ").append(cause));
}

void rest(mpi::Context& context, const Pair& pair) {
  constexpr useconds_t nap_microseconds = 2000;
  MPI_Request request = MPI_REQUEST_NULL;
  mpi::check(MPI_Ibarrier(context.comm(), &request), "MPI_Ibarrier");
  for (int done = 0; !pair.takes_part() && done == 0; ::usleep(nap_microseconds))
    mpi::check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  mpi::wait(request, context.wait_policy());
}

}  // namespace barrio::probe
