#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "barrio/base/slabs.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::mesh::detail {

/// An id that two ranks give.
struct GivenTwice {
  Dim dim;
  std::int64_t id;
  Rank low;
  Rank high;
};

/// Search for ids that two ranks give. Each id goes to its home. Ids of a part are mostly consecutive and travel as
/// runs; between long runs they travel as masks of 64 ids, so that ids in random order take two to four bytes each.
class DistinctIds {
 public:
  /// @param highest  id of each dimension over all ranks
  DistinctIds(mpi::Context& context, const std::array<std::int64_t, 4>& highest);

  /// Add an id. Local. Dimensions come one after the other. @param id  >= 0; ascends within a dimension
  void add(Dim dim, std::int64_t id) {
    if (n_ == 0 || id != first_ + n_ || dim != dim_) start_run(dim, id);
    n_ += 1;
  }
  /// Send all ids to their homes. Collective. @return an id that two ranks gave, on its home
  [[nodiscard]] std::optional<GivenTwice> find();

 private:
  /// Ids of one rank: `n` consecutive ones, or bits of 64, of which the first is a multiple of 64.
  struct Piece {
    std::int64_t first;
    std::uint64_t n_or_bits;
    Rank rank;
    std::int16_t dim;
    std::int16_t is_mask;

    [[nodiscard]] bool has(std::int64_t id) const noexcept;
  };
  /// Put the present run among the pieces, and start one.
  void start_run(Dim dim, std::int64_t first);
  void add_run(std::int64_t first, std::int64_t n);
  void add_bits(std::int64_t first, std::int64_t n);
  void add_piece(const Piece& piece);
  [[nodiscard]] static const Piece* find_overlap(std::span<const Piece> sorted, std::int64_t& id);

  mpi::Context& context_;
  std::array<Slabs, 4> homes_;  // of words of 64 ids
  std::vector<Piece> pieces_;
  std::vector<Rank> to_;
  Dim dim_ = Dim::vertex;  // of the present run
  std::int64_t first_ = 0;
  std::int64_t n_ = 0;
};

}  // namespace barrio::mesh::detail
