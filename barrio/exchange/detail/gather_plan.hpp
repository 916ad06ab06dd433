#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::exchange::detail {

/// Values of slots exchanged between this rank and others, grouped by peer, in order of the ids on both sides.
struct GatherEdges {
  std::vector<Rank> peers;  // ascending
  std::vector<std::size_t> offsets{0};
  std::vector<LocalId> slots;
};

/// Order in which received values are combined: for each slot its contributions by ascending rank.
struct GatherFold {
  static constexpr std::size_t own = std::numeric_limits<std::size_t>::max();
  std::vector<LocalId> slots;
  std::vector<std::size_t> offsets{0};
  std::vector<std::size_t> rows;  // place of the contribution among the received ones, or `own`
};

/// Slots that this rank shares with one peer alone: for each peer the rows of its message, and their slots.
struct GatherPairs {
  std::vector<std::size_t> offsets{0};
  std::vector<LocalId> rows;  // within the message
  std::vector<LocalId> slots;
};

/// Positions of one rank by id, and the contributions to each. A slot is an id of this rank that has more than one
/// position over all ranks; slots are ascending by id.
struct GatherPlan {
  std::vector<std::size_t> position_offsets{0};
  std::vector<LocalId> positions;  // of each slot, ascending
  bool has_all = false;            // the same on all ranks
  /// Whether an id has several positions here. If none has, the slots of `all`, `all_pairs` and `all_fold` are
  /// positions: values go straight into messages and results straight to their positions.
  bool has_repeats = false;
  GatherEdges all;        // to and from every sharer; empty unless has_all
  GatherPairs all_pairs;  // of slots with one other sharer
  GatherFold all_fold;    // of the others
  GatherEdges up;         // slots that another rank combines, by that rank
  GatherEdges down;       // slots that this rank combines, by the other sharers
  GatherFold down_fold;
  std::vector<Rank> neighbours;   // sharers that this rank exchanges messages with, ascending
  std::uint64_t n_max_ranks = 1;  // maximum number of ranks that share one id, over all ranks

  [[nodiscard]] std::size_t n_slots() const noexcept { return position_offsets.size() - 1; }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
};

/// Plan a gather-scatter. Collective. @param max_pairwise  fill `all` if no id is shared by more ranks than this
GatherPlan plan_gather(mpi::Context& context, std::span<const GlobalId> ids, std::uint64_t max_pairwise);

}  // namespace barrio::exchange::detail
