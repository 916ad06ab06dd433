#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "barrio/exchange/repeated_exchange.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::bench {

/// Return the median; the upper middle value if their number is even. @param values  at least one
double median(std::vector<double> values);

/// Arithmetic in rows of a few microseconds, each with the same number of operations.
class Computing {
 public:
  Computing();
  /// Return the number of rows that take about `seconds` on an idle core.
  [[nodiscard]] std::uint64_t rows_of(double seconds) const noexcept;
  /// Compute that many rows and call `hook` after each.
  template <class Hook>
  void run(std::uint64_t n_rows, Hook&& hook) {
    for (std::uint64_t row = 0; row < n_rows; ++row) {
      compute_row();
      hook();
    }
  }
  void run(std::uint64_t n_rows) {
    run(n_rows, [] {});
  }

 private:
  void compute_row() noexcept;
  std::vector<double> values_;
  double row_seconds_ = 0.0;
};

/// Messages to and from the adjacent ranks on a ring, stamped so that each round's contents can be checked.
class RingMessages {
 public:
  /// Make the messages. @param n_messages  to each of the one or two neighbours
  RingMessages(mpi::Context& context, std::uint64_t n_bytes, int n_messages);

  /// Make an exchange of these messages.
  std::unique_ptr<exchange::RepeatedExchange> make_exchange(const exchange::RepeatedExchangeOptions& options);
  /// Stamp outgoing message i of a round.
  void pack(exchange::RepeatedExchange& exchange, std::size_t i, std::uint64_t round) const;
  /// Tell whether all incoming messages belong to a round. Checks a stamp on each page.
  [[nodiscard]] bool is_right(std::uint64_t round) const;
  /// Clear the received contents.
  void clear();
  [[nodiscard]] std::size_t n_bytes() const noexcept { return n_bytes_; }

 private:
  [[nodiscard]] std::uint64_t stamp(Rank from, Rank to, std::size_t nth, std::size_t place,
                                    std::uint64_t round) const noexcept;
  mpi::Context& context_;
  std::size_t n_bytes_;
  std::size_t n_messages_;
  std::vector<Rank> neighbours_;
  std::vector<std::vector<std::uint64_t>> arriving_;
};

/// Seconds of rounds of an exchange, on the slowest rank.
struct RoundTimes {
  double total = 0.0;  ///< begin(), computing, end()
  double wait = 0.0;   ///< end()
  bool is_right = true;
};

/// Time one round after a barrier, on the slowest rank. Collective. The wait excludes the cost of reading the clock.
RoundTimes time_round(mpi::Context& context, RingMessages& messages, exchange::RepeatedExchange& exchange,
                      Computing& computing, std::uint64_t n_rows, std::uint64_t round);

/// Time the caller's work in such a round without the exchange: pack and compute. Collective. @return seconds, on the
/// slowest rank
double time_caller(mpi::Context& context, const RingMessages& messages, exchange::RepeatedExchange& exchange,
                   Computing& computing, std::uint64_t n_rows, std::uint64_t round);

/// Return the mean of `n_rounds` consecutive rounds. Collective.
RoundTimes time_rounds(mpi::Context& context, RingMessages& messages, exchange::RepeatedExchange& exchange,
                       Computing& computing, std::uint64_t n_rows, std::uint64_t n_rounds);

}  // namespace barrio::bench
