#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "barrio/amr/advance/tile.hpp"
#include "barrio/amr/hierarchy.hpp"
#include "barrio/exchange/repeated_exchange.hpp"

namespace barrio::amr::detail {

/// Patches of a coarser level: copies of its cells around or under blocks of the next finer level, for interpolation.
/// Several sections hold the same cells, for instance at two times. One message from each peer brings all sections.
template <std::size_t D>
class CoarsePatches {
 public:
  using Box = geometry::IndexBox<D>;
  using Index = typename Box::Index;
  struct Patch {
    std::int32_t block;        ///< of the finer level
    Box cells;                 ///< of the coarser level; those beyond the domain are not filled
    std::ptrdiff_t first = 0;  ///< place in a section
  };

  /// Construct. Collective. @param patches  cells of each must lie in blocks around the one that holds the finer block
  CoarsePatches(const Hierarchy<D>& hierarchy, int coarse_level, std::vector<Patch> patches, int n_variables,
                int n_sections, const exchange::RepeatedExchangeOptions& options);

  [[nodiscard]] std::span<const Patch> patches() const noexcept { return patches_; }
  [[nodiscard]] CellView<D> view(const Patch& patch, int section) noexcept {
    return view_of<D>(values_.data() + section * section_size_ + patch.first, patch.cells);
  }

  /// Fill a section: copy cells of this rank, and pack cells for others. @param blocks  of the coarser level
  void take(int section, std::span<double* const> blocks);
  /// Begin to exchange all sections. Until finish(), patches for which comes_from_others() holds must not be read; the
  /// others are complete.
  void begin();
  void progress() { exchange_->progress(); }
  /// Complete an exchange, if one was begun.
  void finish();
  void exchange() {
    begin();
    finish();
  }
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  [[nodiscard]] bool comes_from_others(std::int32_t patch) const noexcept { return comes_from_others_[patch] != 0; }

  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  /// Part of a patch that lies in one block of the coarser level.
  struct Piece {
    std::int32_t patch;
    std::int32_t block;  // of this rank; or -1
    Rank from;
    Box cells;
    Index shift;  // add it to get the block's cells, across periodic faces
  };
  /// Cells that another rank asked for.
  struct Asked {
    std::int32_t block;
    Box cells;
  };
  struct Request {
    Index at;
    Box cells;
  };
  void find_pieces();
  void ask(const exchange::RepeatedExchangeOptions& options);

  const Hierarchy<D>* hierarchy_;
  int coarse_level_;
  int n_variables_;
  int n_sections_;
  std::vector<Patch> patches_;
  std::ptrdiff_t section_size_ = 0;
  std::vector<double> values_;
  std::vector<Piece> pieces_;  // from this rank first, then by rank
  std::size_t n_here_ = 0;
  std::vector<std::uint8_t> comes_from_others_;  // by patch: any part of it
  bool is_open_ = false;
  std::vector<std::size_t> first_piece_;  // of each message received
  std::vector<Asked> asked_;
  std::vector<std::size_t> first_asked_;    // of each message sent
  std::vector<std::size_t> asked_numbers_;  // of a section of each message sent
  std::vector<double> received_;
  std::vector<std::size_t> first_received_;
  std::optional<exchange::RepeatedExchange> exchange_;
};

extern template class CoarsePatches<2>;
extern template class CoarsePatches<3>;

}  // namespace barrio::amr::detail
