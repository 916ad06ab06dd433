#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "barrio/exchange/strategy.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange {

class Engine;

namespace detail {
class RepeatedCore;
}

/// A message that a RepeatedExchange sends in every round.
struct Outgoing {
  Rank to = 0;
  std::size_t n_bytes = 0;
};

/// A message that it receives in every round, straight into place.
struct Incoming {
  Rank from = 0;
  std::span<std::byte> bytes;  ///< borrowed as long as the exchange lives
};

struct RepeatedExchangeOptions {
  Strategy strategy = Strategy::automatic;
  /// Tests of a round while the caller computes. 0: as many as the context's profile says, within 1 % of
  /// the time between begin() and end().
  std::uint32_t n_tests = 0;
  /// The communication thread, for `Strategy::thread` and `automatic`; it must outlive the exchange. If it is off, the
  /// exchange goes on without it. Exchanges with the same tag must have the same engine.
  Engine* engine = nullptr;
  /// What `automatic` learns is kept in the context under this name, the same on all ranks, and an exchange of the same
  /// class that is made later goes on with it: name it where exchanges are made anew every few rounds, as those of a
  /// mesh that changes. Messages of a class are of like sizes. Empty: it learns for itself, from its fifth round on.
  std::string message_class = {};
  /// Fill in the seconds of the statistics; a round then takes some 0.1 us more.
  bool is_timed = false;
};

/// Where the time of an exchange went, on this rank. Seconds.
struct RepeatedExchangeSeconds {
  double pack = 0.0;      ///< in the caller's `Pack`
  double start = 0.0;     ///< starting receives and sends; with `wait_each` also waiting for these
  double test = 0.0;      ///< in tests while the caller computed
  double wait = 0.0;      ///< in end() and wait_for_arrived(), until the messages were there and the sends done
  double hand_out = 0.0;  ///< in the caller's `Arrived`, and copying messages that arrived joined
};

/// What has happened in an exchange so far.
struct RepeatedExchangeStatistics {
  std::uint64_t n_rounds = 0;
  std::uint64_t n_tests = 0;  ///< made by progress()
  /// Rounds whose messages had all arrived when end() was called, as far as the strategy tests before.
  std::uint64_t n_done_before_end = 0;
  Strategy strategy = Strategy::automatic;  ///< of the last round
  RepeatedExchangeSeconds seconds;          ///< if they were asked for
};

/// Exchange fixed messages with fixed peers again and again: begin(), compute and call progress() now and then, end().
///
/// All ranks of the context that take part begin the rounds of all exchanges with one tag in the same order; several
/// may be under way at once. Messages from one rank to another arrive in the order in which both list them.
/// Contents are the same under every strategy. Costs: no collective. No allocation in a round, except in the first of
/// `wait_some` and `persistent` or that hands messages out one by one, and some words in each of `thread`. One message
/// per entry of the lists; with `coalesced` one per peer, with `automatic` one for those that are joined.
class RepeatedExchange {
 public:
  /// Fill the bytes of one outgoing message, just before it is sent.
  using Pack = std::function<void(std::size_t outgoing)>;
  /// Take one message that has arrived.
  using Arrived = std::function<void(std::size_t incoming)>;

  /// Local.
  /// @param tag  of a block of the context's tags; the same on all ranks
  /// @throws Error{usage} for a rank or a tag out of range, a message of 2 GiB or more, `Strategy::thread` without an
  /// engine
  RepeatedExchange(mpi::Context& context, std::span<const Outgoing> outgoing, std::span<const Incoming> incoming,
                   int tag, const RepeatedExchangeOptions& options = {});
  RepeatedExchange(RepeatedExchange&&) noexcept;
  RepeatedExchange& operator=(RepeatedExchange&&) = delete;
  /// Destroying it between begin() and end() is a bug that ends the job, unless an exception is on its way.
  ~RepeatedExchange();

  /// The buffer of an outgoing message; fill it before begin() or in `pack`.
  [[nodiscard]] std::span<std::byte> outgoing(std::size_t i) const& noexcept;
  [[nodiscard]] std::size_t n_outgoing() const noexcept;

  /// Start a round. Local; with `wait_each` it waits for each send, which may take until its receiver calls MPI. Until
  /// end() touch neither the send nor the receive buffers.
  void begin(const Pack& pack = {});
  /// Make progress while the caller computes. Local; most calls cost a nanosecond, so call it often.
  /// @return whether all messages are there and all sends done
  bool progress();
  /// Take a message that has arrived and was not handed out in this round, to use it while others travel. Local;
  /// between begin() and end(), which hands out the rest. Costs a test of the messages that are on their way.
  /// @return its place in the list of incoming ones; nothing if there is none now
  [[nodiscard]] std::optional<std::size_t> next_arrived();
  /// The same, and wait for one. Local, blocks. @return nothing if all were handed out
  [[nodiscard]] std::optional<std::size_t> wait_for_arrived();
  /// Wait for the messages of this round. Local, blocks. @param arrived  called for each incoming message that was not
  /// handed out before, in the order of the list; in the order of arrival with `wait_some` and after next_arrived()
  void end(const Arrived& arrived = {});

  [[nodiscard]] bool is_travelling() const noexcept;
  [[nodiscard]] const RepeatedExchangeStatistics& statistics() const& noexcept;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  std::unique_ptr<detail::RepeatedCore> core_;
};

}  // namespace barrio::exchange
