#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "barrio/exchange/detail/buffer.hpp"
#include "barrio/exchange/rounds/node_plan.hpp"
#include "barrio/exchange/rounds/packet_core.hpp"
#include "barrio/exchange/rounds/round_core.hpp"

namespace barrio::exchange::detail {

/// Rounds of a Neighborhood by node. Messages to neighbours on this node go directly. Those to other nodes take three
/// steps, each a round of its own: to the agent on this node, across to its counterpart, and from there to the
/// receiver. All messages of one rank to another in a round travel as one envelope. `close()` forwards incoming
/// envelopes, and so waits for the other ranks.
class NodeCore final : public RoundCore {
 public:
  /// Make the core. Local, but all ranks make it in the same order. @param neighbours  ascending, those of the plan
  NodeCore(mpi::Context& context, std::vector<Rank> neighbours, NodePlan plan, const PacketCoreOptions& options);

  MessageKind begin(const MessageKind& kind, const RoundOptions& options) override;
  std::byte* make_room(std::size_t channel, std::size_t n_bytes) override;
  std::byte* allocate_elsewhere(Rank to, std::size_t n_bytes) override;
  void close() override;
  std::optional<PacketRound::Packet> next_packet() override;
  std::optional<PacketRound::Packet> poll() override { return {}; }
  void cancel() override;
  std::vector<Rank> drop_idle(std::uint64_t n_rounds) override;
  void set_neighbours(std::vector<Rank> neighbours) override;

  [[nodiscard]] SendCursor* cursors() noexcept override { return cursors_.data(); }
  [[nodiscard]] bool is_over() const noexcept override { return !is_active_; }
  [[nodiscard]] std::span<const Rank> neighbours() const noexcept override { return neighbours_; }
  [[nodiscard]] mpi::Context& context() const noexcept override { return near_.context(); }
  [[nodiscard]] Termination termination() const noexcept override { return near_.termination(); }
  [[nodiscard]] Routing routing() const noexcept override { return Routing::by_node; }
  [[nodiscard]] std::uint64_t epoch() const noexcept override { return near_.epoch(); }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept override;
  [[nodiscard]] const RoundStatistics& statistics() const noexcept override;
  [[nodiscard]] Likeness likeness() const noexcept override { return near_.likeness(); }

 private:
  /// Head of the messages of one rank to another.
  struct Envelope {
    Rank to;
    Rank from;
    Rank their_agent;
    Rank unused;
    std::uint64_t n_bytes;
    MessageKind kind;
  };
  /// Messages to a neighbour on another node, until the round is closed.
  struct Stage {
    Buffer buffer;
    std::size_t used_bytes = 0;
  };
  struct Arrived {
    Rank from;
    std::size_t first_byte;
    std::size_t n_bytes;
    MessageKind kind;
  };

  /// Put an envelope and its contents into the packets to the next rank.
  static void put(PacketCore& core, Rank next, const Envelope& envelope, const std::byte* contents);
  /// Call for each incoming envelope, to the end of the round.
  template <class F>
  void for_envelopes(PacketCore& core, F&& call);
  void keep(const Envelope& envelope, const std::byte* contents);
  /// Take the next envelope of the packet that is being read.
  PacketRound::Packet next_envelope();

  std::vector<Rank> neighbours_;
  NodePlan plan_;
  bool is_by_rank_;
  bool is_active_ = false;
  bool is_closed_ = false;
  RoundOptions inner_options_;  // of the inner rounds
  MessageKind kind_{};
  std::vector<SendCursor> cursors_;  // always full: each message goes through make_room
  std::vector<std::size_t> places_;  // of each neighbour: its channel of near_, or near_.size() + its place in far
  std::vector<Stage> stages_;        // of far
  PacketCore near_;
  PacketCore locals_;
  PacketCore across_;
  Buffer kept_;  // data for this rank as its own agent, or data to be sorted
  std::size_t n_kept_bytes_ = 0;
  std::vector<Arrived> arrived_;
  std::size_t n_read_ = 0;
  std::span<const std::byte> rest_;  // of the packet that is being read
  mutable RoundStatistics statistics_;
};

}  // namespace barrio::exchange::detail
