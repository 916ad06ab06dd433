#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "barrio/exchange/detail/gather_plan.hpp"
#include "barrio/exchange/detail/message_kind.hpp"
#include "barrio/exchange/options.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange::detail {

/// Operator of a GatherScatter, as its messages tell it.
enum class Combines : std::uint32_t { function, sum, product, min, max };

/// Transport of a GatherScatter's values between ranks. Knows bytes and the kind of the values, not types.
/// A message is two words, the kind and the bytes of a slot, then the slots, aligned for any type of value.
/// Call order: start(); with `pairwise` write out_slots() of each peer, send(), receive(), fold in_slots() and
/// contributions(), finish(); else write partials(), send(), receive(), fold the received values into partials(),
/// finish().
class GatherCore {
 public:
  GatherCore(mpi::Context& context, GatherPlan plan, GatherMethod method);
  GatherCore(const GatherCore&) = delete;
  GatherCore& operator=(const GatherCore&) = delete;
  ~GatherCore();

  /// Begin an exchange with `n_components` values of a kind per slot.
  /// @param combine  operator, the same on all ranks
  void start(const MessageKind& kind, std::size_t n_components, Combines combine);
  /// Tell whether values go straight from the caller's array into messages, without partials().
  [[nodiscard]] bool is_direct() const noexcept { return method_ == GatherMethod::pairwise && !plan_.has_repeats; }
  /// Return one value per slot: first this rank's contribution, finally the result. Aligned for any number.
  /// @pre !is_direct()
  [[nodiscard]] std::byte* partials() noexcept { return partials_.data(); }
  /// Return the slots of a message to a peer, with `pairwise`, in the order of `plan().all`. They stay unchanged until
  /// start().
  [[nodiscard]] std::byte* out_slots(std::size_t peer) noexcept { return out_.data() + slots_place(plan_.all, peer); }
  /// Return the slots of the message from a peer, with `pairwise`, in the order of `plan().all`.
  [[nodiscard]] const std::byte* in_slots(std::size_t peer) const noexcept {
    return in_.data() + slots_place(plan_.all, peer);
  }
  void send();
  /// Wait for the contributions that this rank combines. @return how to combine them; with `pairwise` only slots that
  /// more than two ranks share
  const GatherFold& receive();
  /// Return the place of each contribution of the fold, in the order of its rows; null for one that is in partials().
  [[nodiscard]] std::span<const std::byte* const> contributions() const noexcept { return contributions_; }
  /// Tell whether a message that does not fit was received.
  [[nodiscard]] bool has_misfit() const noexcept { return misfit_.has_value(); }
  /// Send back results and wait for those that others have combined.
  /// @throws Error{usage} at the end if a rank sent values of another kind, or another number of them
  void finish();

  [[nodiscard]] mpi::Context& context() const noexcept { return context_; }
  [[nodiscard]] const GatherPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] GatherMethod method() const noexcept { return method_; }
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return slot_bytes_; }
  [[nodiscard]] bool is_travelling() const noexcept { return is_travelling_; }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

  /// Tell whether the plan has the tables of `pairwise`; the same on all ranks.
  [[nodiscard]] bool has_pairwise() const noexcept { return plan_.has_all; }
  void set_method(GatherMethod method) noexcept { method_ = method; }
  /// Free the tables that the method does not need.
  void drop_other_methods();

 private:
  using Buffer = std::vector<std::byte>;
  struct Head {
    MessageKind kind;
    std::uint32_t slot_bytes;
    Combines combine;
    bool operator==(const Head&) const = default;
  };
  static constexpr std::size_t head_bytes = sizeof(Head);
  static_assert(head_bytes == 16 && head_bytes % __STDCPP_DEFAULT_NEW_ALIGNMENT__ == 0);
  /// Message that does not match this rank's exchange.
  struct Misfit {
    Rank from;
    Head head;
  };
  /// Count the bytes of a buffer for messages of these slots.
  [[nodiscard]] std::size_t buffer_bytes(const GatherEdges& edges) const noexcept;
  /// Return the place of a peer's message in the buffer. @param peer  its place among the peers
  [[nodiscard]] static std::size_t message_place(const GatherEdges& edges, std::size_t peer,
                                                 std::size_t slot_bytes) noexcept {
    constexpr std::size_t unit = head_bytes;
    return (edges.offsets[peer] * slot_bytes + unit - 1) / unit * unit + 2 * unit * peer;  // rounded up, and with heads
  }
  [[nodiscard]] std::size_t slots_place(const GatherEdges& edges, std::size_t peer) const noexcept {
    return message_place(edges, peer, slot_bytes_) + head_bytes;
  }
  [[nodiscard]] std::size_t message_bytes(const GatherEdges& edges, std::size_t peer) const noexcept;
  /// Lay out buffers, and with `pairwise` make the persistent requests of this layout.
  void lay_out(std::size_t slot_bytes);
  void find_contributions(const GatherEdges& edges, const GatherFold& fold);
  /// Wait for requests; one whose message is too long for its buffer counts as done.
  void complete(std::span<MPI_Request> requests);
  /// Check the heads of the received messages.
  void check_messages(const GatherEdges& edges, const Buffer& buffer);
  void check_message(Rank from, const std::byte* message);
  void put_head(std::byte* message) const noexcept;
  void pack(const GatherEdges& edges, Buffer& buffer) const;
  void unpack(const GatherEdges& edges, const Buffer& buffer);
  void start_pairwise(bool receives);
  void free_requests() noexcept;
  void count(const GatherEdges& edges, bool receives) noexcept;
  void post_receives(const GatherEdges& edges, Buffer& buffer, int tag, std::span<MPI_Request> requests);
  void post_sends(const GatherEdges& edges, const Buffer& buffer, int tag, std::span<MPI_Request> requests);
  /// Send a buffer laid out by `out` through the router into one laid out by `in`.
  void route(const GatherEdges& out, const Buffer& sent, const GatherEdges& in, Buffer& received);

  mpi::Context& context_;
  GatherPlan plan_;
  GatherMethod method_;
  GatherMethod planned_method_ = GatherMethod::automatic;  // the method for which buffers are laid out
  mpi::TagBlock tags_;
  MessageKind kind_{};
  Combines combine_ = Combines::function;
  std::size_t slot_bytes_ = 0;
  bool is_travelling_ = false;
  Buffer partials_;
  Buffer in_;
  Buffer out_;
  std::vector<const std::byte*> contributions_;
  std::optional<Misfit> misfit_;       // of the lowest such rank in this exchange
  std::vector<MPI_Request> requests_;  // receives, then sends; persistent with `pairwise`
};

}  // namespace barrio::exchange::detail
