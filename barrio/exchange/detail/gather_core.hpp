#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/exchange/detail/gather_plan.hpp"
#include "barrio/exchange/gather_method.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange::detail {

/// Carry the partial results of a GatherScatter between ranks. Knows bytes, not types.
/// In turn: start(), write partials(), send(), receive(), fold what came into partials(), finish().
class GatherCore {
 public:
  GatherCore(mpi::Context& context, GatherPlan plan, GatherMethod method);
  GatherCore(const GatherCore&) = delete;
  GatherCore& operator=(const GatherCore&) = delete;
  ~GatherCore();

  /// Begin an exchange with so many bytes per slot.
  void start(std::size_t slot_bytes);
  /// One value per slot: first what this rank contributes, at last the result. Aligned for any number.
  [[nodiscard]] std::byte* partials() noexcept { return partials_.data(); }
  void send();
  /// Wait for the contributions that this rank is to combine. @return how
  const GatherFold& receive();
  /// The contributions, by the rows of the fold.
  [[nodiscard]] const std::byte* contributions() const noexcept { return in_.data(); }
  /// Give back results and wait for those that others have combined.
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
  void pack(const GatherEdges& edges, Buffer& buffer) const;
  void unpack(const GatherEdges& edges, const Buffer& buffer);
  void post_receives(const GatherEdges& edges, Buffer& buffer, int tag, std::span<MPI_Request> requests);
  void post_sends(const GatherEdges& edges, const Buffer& buffer, int tag, std::span<MPI_Request> requests);
  /// Send a buffer laid out by `out` through the router into one laid out by `in`.
  void route(const GatherEdges& out, const Buffer& sent, const GatherEdges& in, Buffer& received);

  mpi::Context& context_;
  GatherPlan plan_;
  GatherMethod method_;
  mpi::TagBlock tags_;
  std::size_t slot_bytes_ = 0;
  bool is_travelling_ = false;
  Buffer partials_;
  Buffer in_;
  Buffer out_;
  std::vector<MPI_Request> requests_;  // receives, then sends
};

}  // namespace barrio::exchange::detail
