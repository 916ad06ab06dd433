#include "benchmarks/strategies/workload.hpp"

#include <algorithm>
#include <cstring>

#include "barrio/base/hash.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::bench {
namespace {

constexpr std::size_t n_values = 1024;
constexpr std::size_t stamp_stride = 4096;  // a page

/// Return the mean cost of reading the clock.
double clock_seconds() {
  constexpr int n = 1000;
  const double start = mpi::seconds_now();
  double now = start;
  for (int i = 0; i < n; ++i) now = mpi::seconds_now();
  return (now - start) / n;
}

}  // namespace

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

Computing::Computing() : values_(n_values, 1.0) {
  constexpr int n_rows = 50;
  constexpr int n_trials = 20;
  row_seconds_ = 1.0;
  for (int trial = 0; trial < n_trials; ++trial) {
    const double start = mpi::seconds_now();
    run(n_rows);
    row_seconds_ = std::min(row_seconds_, (mpi::seconds_now() - start) / n_rows);
  }
}

void Computing::compute_row() noexcept {
  // A dependency chain, which compilers cannot shorten.
  double carried = values_.front();
  for (double& value : values_) {
    carried = 0.5 * (value + 1.0 / carried);
    value = carried;
  }
}

std::uint64_t Computing::rows_of(double seconds) const noexcept {
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(seconds / row_seconds_), 1);
}

RingMessages::RingMessages(mpi::Context& context, std::uint64_t n_bytes, int n_messages)
    : context_(context), n_bytes_(n_bytes), n_messages_(n_messages) {
  const int size = context.size();
  const Rank right = (context.rank() + 1) % size;
  const Rank left = (context.rank() + size - 1) % size;
  if (right != context.rank()) neighbours_.push_back(right);
  if (left != right) neighbours_.push_back(left);
  arriving_.resize(neighbours_.size() * n_messages_);
  for (auto& bytes : arriving_) bytes.resize((n_bytes_ + 7) / 8);
}

std::unique_ptr<exchange::RepeatedExchange> RingMessages::make_exchange(
    const exchange::RepeatedExchangeOptions& options) {
  std::vector<exchange::Outgoing> outgoing;
  std::vector<exchange::Incoming> incoming;
  for (std::size_t i = 0; i < arriving_.size(); ++i) {
    const Rank peer = neighbours_[i / n_messages_];
    outgoing.push_back({peer, n_bytes_});
    incoming.push_back({peer, std::as_writable_bytes(std::span(arriving_[i])).first(n_bytes_)});
  }
  return std::make_unique<exchange::RepeatedExchange>(context_, outgoing, incoming, context_.take_tags(1).first,
                                                      options);
}

std::uint64_t RingMessages::stamp(Rank from, Rank to, std::size_t nth, std::size_t place,
                                  std::uint64_t round) const noexcept {
  return mix64(round * 1'000'003U + static_cast<std::uint64_t>(from) * 10'007U + static_cast<std::uint64_t>(to) * 101U +
               nth * 31U + place);
}

void RingMessages::pack(exchange::RepeatedExchange& exchange, std::size_t i, std::uint64_t round) const {
  const std::span<std::byte> bytes = exchange.outgoing(i);
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += stamp_stride) {
    const std::uint64_t word = stamp(context_.rank(), neighbours_[i / n_messages_], i % n_messages_, at, round);
    std::memcpy(&bytes[at], &word, sizeof word);
  }
}

bool RingMessages::is_right(std::uint64_t round) const {
  bool is_right = true;
  for (std::size_t i = 0; i < arriving_.size(); ++i)
    for (std::size_t at = 0; at + 8 <= n_bytes_; at += stamp_stride)
      if (arriving_[i][at / 8] != stamp(neighbours_[i / n_messages_], context_.rank(), i % n_messages_, at, round))
        is_right = false;
  return is_right;
}

void RingMessages::clear() {
  for (auto& bytes : arriving_) std::ranges::fill(bytes, 0);
}

RoundTimes time_round(mpi::Context& context, RingMessages& messages, exchange::RepeatedExchange& exchange,
                      Computing& computing, std::uint64_t n_rows, std::uint64_t round) {
  static const double clock = clock_seconds();
  mpi::barrier(context);
  const double start = mpi::seconds_now();
  exchange.begin([&](std::size_t i) { messages.pack(exchange, i, round); });
  computing.run(n_rows, [&] { exchange.progress(); });
  const double computed = mpi::seconds_now();
  exchange.end();
  const double end = mpi::seconds_now();
  RoundTimes times{.total = end - start, .wait = end - computed - clock};
  times.is_right = messages.is_right(round);
  std::array<double, 3> all{times.total, times.wait, times.is_right ? 0.0 : 1.0};
  mpi::all_reduce(context, std::span<double>(all), MPI_MAX);
  return {all[0], all[1], all[2] == 0.0};
}

double time_caller(mpi::Context& context, const RingMessages& messages, exchange::RepeatedExchange& exchange,
                   Computing& computing, std::uint64_t n_rows, std::uint64_t round) {
  mpi::barrier(context);
  const double start = mpi::seconds_now();
  for (std::size_t i = 0; i < exchange.n_outgoing(); ++i) messages.pack(exchange, i, round);
  computing.run(n_rows);
  return mpi::max(context, mpi::seconds_now() - start);
}

RoundTimes time_rounds(mpi::Context& context, RingMessages& messages, exchange::RepeatedExchange& exchange,
                       Computing& computing, std::uint64_t n_rows, std::uint64_t n_rounds) {
  bool is_right = true;
  mpi::barrier(context);
  const double start = mpi::seconds_now();
  for (std::uint64_t round = 0; round < n_rounds; ++round) {
    exchange.begin([&](std::size_t i) { messages.pack(exchange, i, round); });
    computing.run(n_rows, [&] { exchange.progress(); });
    exchange.end();
    is_right = is_right && messages.is_right(round);
  }
  const double mean = (mpi::seconds_now() - start) / static_cast<double>(n_rounds);
  std::array<double, 2> all{mean, is_right ? 0.0 : 1.0};
  mpi::all_reduce(context, std::span<double>(all), MPI_MAX);
  return {.total = all[0], .wait = 0.0, .is_right = all[1] == 0.0};
}

}  // namespace barrio::bench
