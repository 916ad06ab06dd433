#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/base/slabs.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mesh::detail {

/// Consecutive rows of one kind.
struct KindRun {
  std::int64_t first;
  std::int64_t count;
  std::int64_t kind;
};

/// Map from the global ids of one dimension, which may have holes, to consecutive rows: the row of an id is the number
/// of existing ids below it.
class RowNumbers {
 public:
  /// Make an empty map.
  RowNumbers() = default;
  /// Number the ids of all ranks. Collective. The context is borrowed.
  /// @param[in] ids    owned by this rank; each id by one rank
  /// @param[in] kinds  of each id; without has_kinds they are ignored and all ids have kind 0
  /// @param has_kinds  the same on all ranks
  /// Cost: two reductions; with holes or kinds one routed exchange of runs of ids
  RowNumbers(mpi::Context& context, std::span<const GlobalId> ids, std::span<const std::int64_t> kinds, bool has_kinds);

  [[nodiscard]] std::int64_t n_rows() const noexcept { return n_rows_; }
  /// Tell whether rows differ from ids.
  [[nodiscard]] bool has_holes() const noexcept { return n_rows_ < n_ids_; }
  /// Look up the rows of any ids; no_global_id for missing ones. Collective. Cost: with holes a request to the homes of
  /// the ids and a reply, otherwise nothing
  [[nodiscard]] std::vector<GlobalId> rows_of(std::span<const GlobalId> ids) const;
  /// Find the maximal runs of rows of one kind, ascending; the same on every rank. Collective.
  /// Cost: O(log P) messages of all runs
  [[nodiscard]] std::vector<KindRun> runs() const;

 private:
  mpi::Context* context_ = nullptr;
  std::int64_t n_rows_ = 0;
  std::int64_t n_ids_ = 0;  // one more than the highest id
  bool has_kinds_ = false;
  Slabs slabs_;                     // of ids
  std::vector<KindRun> home_;       // runs of ids in this rank's slab, ascending; empty if rows are ids of one kind
  std::vector<std::int64_t> rows_;  // row of the first id of each run
};

}  // namespace barrio::mesh::detail
