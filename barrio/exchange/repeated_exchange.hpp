#pragma once

/// @file Exchange of the same messages again and again, overlapped with computation.

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

/// Message that a RepeatedExchange sends in every round.
struct Outgoing {
  Rank to = 0;              ///< any rank, this one too; several messages may have the same
  std::size_t n_bytes = 0;  ///< less than 2 GiB; may be 0
};

/// Message that it receives in every round, straight into place.
struct Incoming {
  Rank from = 0;               ///< any rank, this one too
  std::span<std::byte> bytes;  ///< borrowed as long as the exchange lives
};

/// Options of a RepeatedExchange.
struct RepeatedExchangeOptions {
  Strategy strategy = Strategy::automatic;  ///< may differ between ranks; exceptions see `Strategy`
  /// Tests of a round while the caller computes. 0: as many as the context's profile tells, but at most 1 % of the time
  /// between begin() and end().
  std::uint32_t n_tests = 0;
  /// The communication thread, for `Strategy::thread` and `automatic`; it must outlive the exchange. If it is off, the
  /// exchange works without it. Exchanges with the same tag must have the same engine.
  Engine* engine = nullptr;
  /// Name under which the context keeps what `automatic` learns, the same on all ranks. A later exchange of the same
  /// class continues from it. Use it where exchanges are remade every few rounds, as those of a mesh that changes.
  /// Messages of a class have similar sizes. Empty: the exchange learns for itself, from its fifth round on.
  std::string message_class = {};
  /// Fill in the seconds of the statistics; a round then takes about 0.1 us more.
  bool is_timed = false;
  /// Name of the contents, the same on all ranks, as in messages: "field 'u', float64".
  std::string contents = {};
  /// Check in the first round that both sides of each pair have the same contents, number of messages and bytes. One
  /// more message of 128 bytes to each peer, once.
  bool is_checked = true;
  double stall_warning_seconds = 30.0;  ///< silence after which a waiting rank names the ranks it waits for
  /// Silence after which a waiting rank ends the job. 0: never
  double stall_limit_seconds = 3600.0;
};

/// Time of an exchange by activity, on this rank. Seconds.
struct RepeatedExchangeSeconds {
  double pack = 0.0;      ///< in the caller's `Pack`
  double start = 0.0;     ///< starting receives and sends; with `wait_each` also waiting for the sends
  double test = 0.0;      ///< in tests while the caller computed
  double wait = 0.0;      ///< in end() and wait_for_arrived(), until the messages had arrived and the sends were done
  double hand_out = 0.0;  ///< in the caller's `Arrived`, and copying messages that arrived joined
};

/// Counts of an exchange so far.
struct RepeatedExchangeStatistics {
  std::uint64_t n_rounds = 0;  ///< that have ended
  std::uint64_t n_tests = 0;   ///< made by progress()
  /// Rounds whose messages had all arrived when end() was called, as far as the strategy tests before.
  std::uint64_t n_done_before_end = 0;
  Strategy strategy = Strategy::automatic;  ///< of the last round
  RepeatedExchangeSeconds seconds;          ///< only if they were asked for
};

/// Repeated exchange of fixed messages with fixed peers: begin(), compute and call progress() now and then, end().
///
/// All ranks of the context begin the first rounds of all exchanges of one block of tags in the same order, also where
/// they have no messages: each exchange takes a tag of the block then. Later rounds may be begun in any order, unless
/// the block has one tag, or more exchanges than tags; several may be under way at once. Messages from one rank to
/// another arrive in the order in which both list them.
/// Contents are the same under every strategy. The thread that calls begin() calls the end() that follows. Costs: no
/// collective. No allocation in a round, with three exceptions: the first round of `wait_some` and `persistent`, the
/// first that hands messages out one by one, and a few words in each round of `thread`. One message per entry of the
/// lists; `coalesced` sends one per peer, `automatic` one for those that are joined.
class RepeatedExchange {
 public:
  /// Fill the bytes of one outgoing message, just before it is sent.
  using Pack = std::function<void(std::size_t outgoing)>;
  /// Take one message that has arrived.
  using Arrived = std::function<void(std::size_t incoming)>;

  /// Make an exchange. Local.
  /// @param tags  a block of the context's tags; the same on all ranks
  /// @throws Error{usage} for a rank or a tag out of range, a message of 2 GiB or more, `Strategy::thread` without an
  /// engine
  RepeatedExchange(mpi::Context& context, std::span<const Outgoing> outgoing, std::span<const Incoming> incoming,
                   mpi::TagBlock tags, const RepeatedExchangeOptions& options = {});
  /// Make an exchange with one tag, which it may share with others.
  RepeatedExchange(mpi::Context& context, std::span<const Outgoing> outgoing, std::span<const Incoming> incoming,
                   int tag, const RepeatedExchangeOptions& options = {})
      : RepeatedExchange(context, outgoing, incoming, mpi::TagBlock{tag, 1, nullptr}, options) {}
  RepeatedExchange(RepeatedExchange&&) noexcept;
  RepeatedExchange& operator=(RepeatedExchange&&) = delete;
  /// Destroy the exchange. Between begin() and end() that is a bug that ends the job, unless an exception is in flight.
  ~RepeatedExchange();

  /// Return the buffer of an outgoing message; fill it before begin() or in `pack`.
  [[nodiscard]] std::span<std::byte> outgoing(std::size_t i) const& noexcept;
  /// Return the number of outgoing messages of a round, as they were listed.
  [[nodiscard]] std::size_t n_outgoing() const noexcept;

  /// Start a round. Local; from the second round on, with `wait_each` it waits for each send, which may take until its
  /// receiver calls MPI. Until end() touch neither the send nor the receive buffers.
  void begin(const Pack& pack = {});
  /// Test the messages while the caller computes. Local; most calls cost a nanosecond, so call it often.
  /// @return whether all messages have arrived and all sends are done
  bool progress();
  /// Take a message that has arrived and was not handed out in this round, to use it while others are in flight. Local;
  /// between begin() and end(), which hands out the rest. Costs a test of the messages in flight.
  /// @return its place in the list of incoming ones; empty if none has arrived now
  [[nodiscard]] std::optional<std::size_t> next_arrived();
  /// Wait for such a message and take it. Local, blocks. @return empty if all were handed out
  [[nodiscard]] std::optional<std::size_t> wait_for_arrived();
  /// Wait for the messages of this round. Local, blocks. @param arrived  called for each incoming message that was not
  /// handed out before, in the order of the list; in the order of arrival with `wait_some` and after next_arrived()
  /// @throws Error{usage} in the first round, as progress() and the calls that take messages do, if a peer exchanges
  /// other contents. Nothing of them has reached the receive buffers, unless the block has one tag; the exchange is of
  /// no use any more
  void end(const Arrived& arrived = {});

  /// Tell whether a round has begun and not ended.
  [[nodiscard]] bool is_travelling() const noexcept;
  /// Return the statistics of this rank so far. Local.
  [[nodiscard]] const RepeatedExchangeStatistics& statistics() const& noexcept;
  /// Count the bytes that it holds on this rank, without the caller's receive buffers.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  std::unique_ptr<detail::RepeatedCore> core_;
};

}  // namespace barrio::exchange
