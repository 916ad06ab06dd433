#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "barrio/amr/advance/tile.hpp"
#include "barrio/amr/hierarchy.hpp"
#include "barrio/exchange/repeated_exchange.hpp"

namespace barrio::amr::detail {

/// Copies of cells of a level around and under blocks of the next finer one, from which their values are interpolated;
/// one or several sections of the same cells, as of two times. One message a peer brings all sections.
template <std::size_t D>
class CoarsePatches {
 public:
  using Box = geometry::IndexBox<D>;
  using Index = typename Box::Index;
  struct Patch {
    std::int32_t block;        ///< of the finer level
    Box cells;                 ///< of the coarser one; some may lie beyond an end of the domain: these are not brought
    std::ptrdiff_t first = 0;  ///< its place in a section
  };

  /// Collective. @param patches  cells of each: within the blocks around the one in which the finer block lies
  CoarsePatches(const Hierarchy<D>& hierarchy, int coarse_level, std::vector<Patch> patches, int n_variables,
                int n_sections, const exchange::RepeatedExchangeOptions& options);

  [[nodiscard]] std::span<const Patch> patches() const noexcept { return patches_; }
  [[nodiscard]] CellView<D> view(const Patch& patch, int section) noexcept {
    return view_of<D>(values_.data() + section * section_size_ + patch.first, patch.cells);
  }

  /// Fill a section: copies those of this rank, and packs what others need. @param blocks  of the coarser level
  void take(int section, std::span<double* const> blocks);
  /// Bring the sections from other ranks. Between begin() and finish() patches that come from others are not to be
  /// looked at; the others are whole.
  void begin();
  void progress() { exchange_->progress(); }
  /// Nothing if nothing was begun.
  void finish();
  void exchange() {
    begin();
    finish();
  }
  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  [[nodiscard]] bool comes_from_others(std::int32_t patch) const noexcept { return comes_from_others_[patch] != 0; }

  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  /// A part of a patch that lies in one block of the coarser level.
  struct Piece {
    std::int32_t patch;
    std::int32_t block;  // of this rank; or -1
    Rank from;
    Box cells;
    Index shift;  // to the block's cells
  };
  /// What another rank asked for.
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
  std::vector<Piece> pieces_;  // those of this rank first, the others by rank
  std::size_t n_here_ = 0;
  std::vector<std::uint8_t> comes_from_others_;  // by patch: all of it or a part
  bool is_open_ = false;
  std::vector<std::size_t> first_piece_;  // of each message that comes
  std::vector<Asked> asked_;
  std::vector<std::size_t> first_asked_;    // of each message that goes
  std::vector<std::size_t> asked_numbers_;  // of a section of each
  std::vector<double> received_;
  std::vector<std::size_t> first_received_;
  std::optional<exchange::RepeatedExchange> exchange_;
};

extern template class CoarsePatches<2>;
extern template class CoarsePatches<3>;

}  // namespace barrio::amr::detail
