#pragma once

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

/// In which order the messages of a round are handed out. Those of one rank always come in the order of sending.
enum class Delivery {
  arrival,  ///< first come, first served: reading goes on while others are in flight
  by_rank,  ///< by ascending sender, the same on every run: reading waits for the end of the round
};

struct NeighborhoodOptions {
  /// Size of a packet with its header. 0: the first packet of a round to a neighbour is sized by what earlier rounds
  /// sent it, between 1 KiB and eight times the packets of the context's profile; further ones are as large as those.
  std::uint32_t packet_bytes = 0;
  std::uint32_t ring_depth = 0;  ///< send buffers per neighbour; 0 takes the context's profile
  Termination termination = Termination::neighbourhood;
  Delivery delivery = Delivery::arrival;
  Routing routing = Routing::direct;
  /// For `Routing::by_node`: a number >= 0 that the ranks of a node have in common; given on all ranks or on none. By
  /// default ranks that share memory are one node; a socket is another choice.
  std::optional<int> node = {};
  bool keeps_discovered = true;         ///< ranks met in a round stay neighbours in the rounds that follow
  double stall_warning_seconds = 30.0;  ///< silence after which a waiting rank names those it waits for
  /// Silence after which a waiting rank names those ranks and ends the job with exit code 1; 0: never. The clock is
  /// read between polls, so not where `mpi::WaitPolicy` lets MPI block.
  double stall_limit_seconds = 3600.0;
};

/// Make neighbour lists mutual: give every rank all ranks that it names or that name it. For a Neighborhood, from lists
/// that are known on one side only, as for MPI_Dist_graph_create. Collective.
/// @param named  ranks, in any order, with any repetition; this rank itself is passed over
/// @return ascending. @throws AgreedError{usage} on all ranks for a rank that is none
/// Cost: one reduction and a crystal router's log2(P) messages; memory O(neighbours)
[[nodiscard]] std::vector<Rank> mutual_neighbours(mpi::Context& context, std::span<const Rank> named);

/// Exchange messages with a fixed set of neighbours in rounds, without any collective call.
///
/// In a round each rank writes any number of messages to any neighbour, straight into send buffers, and reads what
/// the neighbours sent. Packets leave when they are full. The last one to a neighbour carries the number of packets,
/// so a receiver knows when it has everything: a round costs at least one message per neighbour and direction and
/// no more than the data needs. A rank may run one round ahead of a neighbour; the tag of the epoch keeps them apart.
/// Messages to a rank that is no neighbour (see `Termination`) travel as one parcel, when the round is closed.
///
/// Rounds of several Neighborhoods of one Context may be open at once. While one is open, neighbours may wait for this
/// rank to take packets in. So from `begin` to the end of `received()` wait for others only in such rounds, never in a
/// collective call. Packet size and options are the same on all ranks. With `Routing::by_node` rounds are
/// collective; see there.
///
/// Memory: at most 2 ring_depth + 1 packets per neighbour, plus what was received and not yet read. At the receiver
/// about 128 KiB of a neighbour's small packets may lie unexpected, since after each 64 KiB one is sent synchronously.
/// Source: Ovcharenko et al. 2012, sections 3 and 4.
class Neighborhood {
 public:
  /// Local, but all ranks of the context make it in the same order. Collective with `Termination::allreduce`,
  /// `consensus` and `automatic`, or a routing that is not direct: these duplicate the communicator or agree on a mode.
  /// Neighbours must be mutual; `validate()` checks it.
  /// @param neighbours  ranks, in any order, without this rank and without repetition
  /// @throws Error{usage} for a rank out of range, a repetition or this rank itself, and for `Routing::by_node` with
  /// another termination; by node AgreedError on all ranks if neighbours are not mutual or nodes are not given alike
  Neighborhood(mpi::Context& context, std::span<const Rank> neighbours, NeighborhoodOptions options = {});
  ~Neighborhood();
  Neighborhood(Neighborhood&&) noexcept;
  Neighborhood& operator=(Neighborhood&&) noexcept;

  /// Ascending.
  [[nodiscard]] std::span<const Rank> neighbours() const& noexcept;
  std::span<const Rank> neighbours() && = delete;
  [[nodiscard]] mpi::Context& context() const noexcept;
  /// How messages travel to other nodes; with `Routing::automatic` what was chosen.
  [[nodiscard]] Routing routing() const noexcept;
  /// How rounds end by default. `Termination::automatic` means introductions with a reduction behind them; it is
  /// `consensus` where a barrier was found cheaper.
  [[nodiscard]] Termination termination() const noexcept;

  /// Give this rank other neighbours from the next round on. Local, between rounds; the neighbours do the same, or both
  /// sides wait for ever. Waits for the sends of the last round. @throws Error{usage} as the constructor, and where
  /// messages go by nodes
  void set_neighbours(std::span<const Rank> neighbours);
  /// Add neighbours; those already there are ignored. As set_neighbours.
  void add_neighbours(std::span<const Rank> neighbours);
  /// Drop the neighbours with whom no message was exchanged, either way, in the last `n_rounds` rounds, as after much
  /// of a mesh has moved. Both ends of a pair count alike, so no message is needed; all ranks call it after the same
  /// round with the same number. Introductions then reach only as far as the remaining neighbours.
  /// Local, between rounds. @return the dropped ones. Source: Ovcharenko et al. 2012, section 8
  std::vector<Rank> drop_idle_neighbours(std::uint64_t n_rounds);
  /// The place of a rank in neighbours(): what `Round::channel` takes. Cost: O(1).
  /// @throws Error{usage} if it is no neighbour
  [[nodiscard]] std::size_t channel_of(Rank rank) const;

  /// Begin a round of messages of one fixed type; no header per message. Local, but see RoundOptions. One round at a
  /// time. All ranks begin rounds of the same kind, type and options in the same order: where a neighbour began
  /// another, reading throws.
  template <class T>
  [[nodiscard]] Round<T> begin_round(const RoundOptions& options = {});
  /// The same with messages of any length; consecutive ones of one length share 8 bytes of header.
  [[nodiscard]] ByteRound begin_byte_round(const RoundOptions& options = {});
  /// The same with messages of one size that is known at run time; no header per message.
  /// @param message_bytes  the same on all ranks, >= 1
  [[nodiscard]] SizedRound begin_sized_round(std::size_t message_bytes, const RoundOptions& options = {});

  /// Give up the round that an exception has left open, if any: unsent messages are forgotten, incoming ones are
  /// ignored, and the next round may begin. Local, but the neighbours do the same after the same round, as after an
  /// AgreedError: the cancelled round still ends by the last packets of all. A neighbour that reads on instead is told,
  /// at the end of its round.
  void cancel_round();

  /// Check that neighbours are mutual, made this Neighborhood as the same one of their Context's objects, have the same
  /// options and have done the same number of rounds. Collective, between rounds.
  /// @throws AgreedError{usage} naming a pair and what differs
  void validate() const;

  /// Rounds done so far.
  [[nodiscard]] std::uint64_t epoch() const noexcept;
  /// What this rank has sent and received here so far. Local.
  [[nodiscard]] const RoundStatistics& statistics() const& noexcept;
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

/// Begin the rounds of the collectives among neighbours.
struct CallRounds {
  template <class T>
  static Round<T> begin(Neighborhood& hood, RoundCall call) {
    return Round<T>(hood.round_core(), call);
  }
  /// Of lists of values of type T.
  template <class T>
  static ByteRound begin_lists(Neighborhood& hood, RoundCall call) {
    return ByteRound(hood.round_core(), kind_of<T>(call));
  }
  /// Of bytes that the caller packs.
  static ByteRound begin_bytes(Neighborhood& hood, RoundCall call) { return {hood.round_core(), kind_of_bytes(call)}; }
};

}  // namespace detail

}  // namespace barrio::exchange
