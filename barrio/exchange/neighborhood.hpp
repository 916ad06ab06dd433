#pragma once

/// @file Start here: rounds of messages with a fixed set of neighbours, without collectives.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "barrio/exchange/options.hpp"
#include "barrio/exchange/round.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange {

namespace detail {
struct CallRounds;
}

/// Order in which the messages of a round are handed out. Those of one rank always come in the order of sending.
enum class Delivery {
  arrival,  ///< as they arrive: the reader works while others are in flight
  by_rank,  ///< by ascending sender, the same on every run: the reader waits for the end of the round
};

/// Options of a Neighborhood; the same on all ranks, except `node`.
struct NeighborhoodOptions {
  /// Size of a packet with its header. 0: the first packet of a round to a neighbour is as large as earlier rounds to
  /// it suggest, between 1 KiB and eight times the packet size of the context's profile; further packets have the
  /// profile's size.
  std::uint32_t packet_bytes = 0;
  std::uint32_t ring_depth = 0;                          ///< send buffers per neighbour; 0 takes the context's profile
  Termination termination = Termination::neighbourhood;  ///< of rounds whose RoundOptions have none
  Delivery delivery = Delivery::arrival;                 ///< `by_rank` makes the order of reading repeatable
  Routing routing = Routing::direct;                     ///< `by_node` only with `Termination::neighbourhood`
  /// For `Routing::by_node`: a number >= 0 common to the ranks of a node; given on all ranks or on none. By default
  /// ranks that share memory are one node; a socket is another choice.
  std::optional<int> node = {};
  bool keeps_discovered = true;         ///< ranks met in a round stay neighbours in later rounds
  double stall_warning_seconds = 30.0;  ///< silence after which a waiting rank names the ranks it waits for
  /// Silence after which a waiting rank names those ranks and ends the job with exit code 1; 0: never. The clock is
  /// read between polls, so not where `mpi::WaitPolicy` lets MPI block.
  double stall_limit_seconds = 3600.0;
};

/// Make neighbour lists mutual: return all ranks that this rank names or that name it. For a Neighborhood, from lists
/// that are known on one side only, as for MPI_Dist_graph_create. Collective.
/// @param named  ranks, in any order, with any repetition; this rank itself is ignored
/// @return ascending. @throws AgreedError{usage} on all ranks for a number that is not a rank
/// Cost: one reduction and a crystal router's log2(P) messages; memory O(neighbours)
[[nodiscard]] std::vector<Rank> mutual_neighbours(mpi::Context& context, std::span<const Rank> named);

/// Messages with a fixed set of neighbours in rounds, without any collective call.
///
/// In a round each rank writes any number of messages to any neighbour, straight into send buffers, and reads the
/// messages from its neighbours. Packets leave when they are full. The last packet to a neighbour carries the number of
/// packets, so a receiver knows when it has everything. A round costs at least one message per neighbour and direction,
/// and no more packets than the data needs. A rank may run one round ahead of a neighbour; the tag of the epoch keeps
/// them apart.
/// Messages to a rank that is not a neighbour (see `Termination`) travel as one parcel, when the round is closed.
///
/// Rounds of several Neighborhoods of one Context may be open at once. While one is open, neighbours may wait for this
/// rank to take packets in. From `begin` to the end of `received()`, therefore, wait for others only in such rounds,
/// never in a collective call. Packet size and options are the same on all ranks. With `Routing::by_node` rounds are
/// collective; see there.
///
/// Memory: at most 2 ring_depth + 1 packets per neighbour, plus messages received but not yet read. At the receiver
/// about 128 KiB of a neighbour's small packets may lie unexpected, since after each 64 KiB one is sent synchronously.
/// Source: Ovcharenko et al. 2012, sections 3 and 4.
class Neighborhood {
 public:
  /// Make a neighbourhood. Local, but all ranks of the context make it in the same order. Collective with
  /// `Termination::allreduce`, `consensus` and `automatic`, or a routing other than direct: these duplicate the
  /// communicator or agree on a mode. Neighbours must be mutual; `validate()` checks it.
  /// @param neighbours  ranks, in any order, without this rank and without repetition
  /// @throws Error{usage} for a rank out of range, a repetition or this rank itself, and for `Routing::by_node` with
  /// another termination; by node AgreedError on all ranks if neighbours are not mutual or nodes are given on some
  /// ranks only
  Neighborhood(mpi::Context& context, std::span<const Rank> neighbours, NeighborhoodOptions options = {});
  ~Neighborhood();
  Neighborhood(Neighborhood&&) noexcept;
  Neighborhood& operator=(Neighborhood&&) noexcept;

  /// Return the neighbours, ascending.
  [[nodiscard]] std::span<const Rank> neighbours() const& noexcept;
  /// Refuse a temporary, whose neighbours would be gone.
  std::span<const Rank> neighbours() && = delete;
  /// Return the context that it was made with.
  [[nodiscard]] mpi::Context& context() const noexcept;
  /// Return the path of messages to other nodes; with `Routing::automatic` the chosen one.
  [[nodiscard]] Routing routing() const noexcept;
  /// Return the default termination of rounds. `Termination::automatic` means introductions followed by a reduction;
  /// where a barrier was found cheaper it is replaced by `consensus`.
  [[nodiscard]] Termination termination() const noexcept;

  /// Set the neighbours from the next round on. Local, between rounds. The neighbours do the same, or both sides
  /// wait for ever. Waits for the sends of the last round. @throws Error{usage} as the constructor, and with
  /// `Routing::by_node`
  void set_neighbours(std::span<const Rank> neighbours);
  /// Add neighbours; those already there are ignored. As set_neighbours.
  void add_neighbours(std::span<const Rank> neighbours);
  /// Drop the neighbours with whom no message was exchanged, either way, in the last `n_rounds` rounds: for instance
  /// after much of a mesh has moved. Both ends of a pair count the same, so no message is needed; all ranks call it
  /// after the same round with the same number. Introductions then reach only as far as the remaining neighbours.
  /// Local, between rounds. @return the dropped ones. Source: Ovcharenko et al. 2012, section 8
  std::vector<Rank> drop_idle_neighbours(std::uint64_t n_rounds);
  /// Return the place of a rank in neighbours(), for `Round::channel`. Cost: O(1).
  /// @throws Error{usage} if it is not a neighbour
  [[nodiscard]] std::size_t channel_of(Rank rank) const;

  /// Begin a round of messages of one fixed type; no header per message. Local, but see RoundOptions. One round at a
  /// time. All ranks begin rounds of the same kind, type and options in the same order; reading throws where a
  /// neighbour began another.
  template <class T>
  [[nodiscard]] Round<T> begin_round(const RoundOptions& options = {});
  /// Begin a round of messages of any length; consecutive ones of one length share 8 bytes of header. As `begin_round`.
  [[nodiscard]] ByteRound begin_byte_round(const RoundOptions& options = {});
  /// Begin a round of messages of one size known at run time; no header per message. As `begin_round`.
  /// @param message_bytes  the same on all ranks, >= 1
  [[nodiscard]] SizedRound begin_sized_round(std::size_t message_bytes, const RoundOptions& options = {});

  /// Cancel the round that an exception has left open, if any: unsent messages are dropped, incoming ones are ignored,
  /// and the next round may begin. Local, but the neighbours do the same after the same round, as after an AgreedError:
  /// the cancelled round still ends by the last packets of all. A neighbour that reads on instead gets an error at the
  /// end of its round.
  void cancel_round();

  /// Check that neighbours are mutual, made this Neighborhood in the same order among their Context's objects, have the
  /// same options and have done the same number of rounds. Collective, between rounds.
  /// @throws AgreedError{usage} naming a pair and the difference
  void validate() const;

  /// Count the rounds done so far.
  [[nodiscard]] std::uint64_t epoch() const noexcept;
  /// Return the statistics of this rank's messages so far. Local.
  [[nodiscard]] const RoundStatistics& statistics() const& noexcept;
  /// Count the bytes of buffers and tables on this rank.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  friend struct detail::CallRounds;
  [[nodiscard]] detail::RoundCore& round_core() const noexcept { return *core_; }
  std::unique_ptr<detail::RoundCore> core_;
};

template <class T>
Round<T> Neighborhood::begin_round(const RoundOptions& options) {
  return Round<T>(round_core(), detail::RoundCall::messages, options);
}

namespace detail {

/// Access to the rounds of the collectives among neighbours.
struct CallRounds {
  template <class T>
  static Round<T> begin(Neighborhood& hood, RoundCall call) {
    return Round<T>(hood.round_core(), call);
  }
  /// Begin a round of lists of values of type T.
  template <class T>
  static ByteRound begin_lists(Neighborhood& hood, RoundCall call) {
    return ByteRound(hood.round_core(), kind_of<T>(call));
  }
  /// Begin a round of bytes that the caller packs.
  static ByteRound begin_bytes(Neighborhood& hood, RoundCall call) { return {hood.round_core(), kind_of_bytes(call)}; }
};

}  // namespace detail

}  // namespace barrio::exchange
