#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "barrio/exchange/detail/gather_plan.hpp"
#include "barrio/exchange/detail/message_kind.hpp"
#include "barrio/exchange/gather_method.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange::detail {

/// Carry the partial results of a GatherScatter between ranks. Knows bytes and the kind of the values, not types.
/// A message is one word, the kind, and then the slots; it begins 8 bytes before a multiple of 16, so that any type of
/// value is aligned.
/// In turn: start(), write partials(), send(), receive(), fold what came into partials(), finish().
class GatherCore {
 public:
  GatherCore(mpi::Context& context, GatherPlan plan, GatherMethod method);
  GatherCore(const GatherCore&) = delete;
  GatherCore& operator=(const GatherCore&) = delete;
  ~GatherCore();

  /// Begin an exchange with so many values of a kind per slot.
  void start(const MessageKind& kind, std::size_t n_components);
  /// One value per slot: first what this rank contributes, at last the result. Aligned for any number.
  [[nodiscard]] std::byte* partials() noexcept { return partials_.data(); }
  void send();
  /// Wait for the contributions that this rank is to combine. @return how
  const GatherFold& receive();
  /// Where each contribution of the fold lies, in the order of its rows; null for this rank's own.
  [[nodiscard]] std::span<const std::byte* const> contributions() const noexcept { return contributions_; }
  /// Give back results and wait for those that others have combined.
  /// @throws Error{usage} when all is done if a rank sent values of another kind, or another number of them
  void finish();

  [[nodiscard]] mpi::Context& context() const noexcept { return context_; }
  [[nodiscard]] const GatherPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] GatherMethod method() const noexcept { return method_; }
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return slot_bytes_; }
  [[nodiscard]] bool is_travelling() const noexcept { return is_travelling_; }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

  /// Whether the plan has the tables of `pairwise`; the same on all ranks.
  [[nodiscard]] bool has_pairwise() const noexcept { return plan_.has_all; }
  void set_method(GatherMethod method) noexcept { method_ = method; }
  /// Free the tables that the method does not need.
  void drop_other_methods();

 private:
  using Buffer = std::vector<std::byte>;
  /// A message that does not fit what this rank exchanges.
  struct Misfit {
    Rank from;
    MessageKind kind;
  };
  /// Bytes of a buffer for messages of these slots.
  [[nodiscard]] std::size_t buffer_bytes(const GatherEdges& edges) const noexcept;
  /// Where the message of a peer begins in it. @param peer  its place among the peers
  [[nodiscard]] std::size_t message_place(const GatherEdges& edges, std::size_t peer) const noexcept;
  [[nodiscard]] std::size_t message_bytes(const GatherEdges& edges, std::size_t peer) const noexcept;
  void find_contributions(const GatherEdges& edges, const GatherFold& fold);
  /// Wait for the receives that post_receives() has posted.
  void complete_receives(const GatherEdges& edges, const Buffer& buffer, std::span<MPI_Request> requests);
  void check_message(Rank from, const std::byte* message, bool has_right_length);
  void pack(const GatherEdges& edges, Buffer& buffer) const;
  void unpack(const GatherEdges& edges, const Buffer& buffer);
  void post_receives(const GatherEdges& edges, Buffer& buffer, int tag, std::span<MPI_Request> requests);
  void post_sends(const GatherEdges& edges, const Buffer& buffer, int tag, std::span<MPI_Request> requests);
  /// Send a buffer laid out by `out` through the router into one laid out by `in`.
  void route(const GatherEdges& out, const Buffer& sent, const GatherEdges& in, Buffer& received);

  mpi::Context& context_;
  GatherPlan plan_;
  GatherMethod method_;
  GatherMethod planned_method_ = GatherMethod::automatic;  // for which buffers are laid out
  mpi::TagBlock tags_;
  MessageKind kind_{};
  std::size_t slot_bytes_ = 0;
  bool is_travelling_ = false;
  Buffer partials_;
  Buffer in_;
  Buffer out_;
  std::vector<const std::byte*> contributions_;
  std::optional<Misfit> misfit_;       // the one of the lowest rank in this exchange
  std::vector<MPI_Request> requests_;  // receives, then sends
};

}  // namespace barrio::exchange::detail
