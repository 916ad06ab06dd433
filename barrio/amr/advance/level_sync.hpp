#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "barrio/amr/advance/ghost_plan.hpp"
#include "barrio/amr/advance/tile.hpp"
#include "barrio/amr/hierarchy.hpp"
#include "barrio/exchange/repeated_exchange.hpp"

namespace barrio::amr::detail {

/// Memory for the fluxes through planes of faces of a block, which a stage fills.
template <std::size_t D>
class FluxPlanes {
 public:
  FluxPlanes(const BlockSpace<D>& space, int n_variables);
  [[nodiscard]] double* plane(std::size_t axis, std::ptrdiff_t m) noexcept {
    return values_.data() + (axis * n_planes_ + m) * plane_size_;
  }
  [[nodiscard]] const double* plane(std::size_t axis, std::ptrdiff_t m) const noexcept {
    return values_.data() + (axis * n_planes_ + m) * plane_size_;
  }

 private:
  std::size_t n_planes_;
  std::size_t plane_size_;
  std::vector<double> values_;
};

/// Synchronisation of a level with the next coarser one when both are at the same time (Berger and Colella 1989).
/// Coarser cells under its blocks get means of finer cells. Coarser cells beside it are corrected by flux registers
/// (refluxing): what leaves the finer level is what they get. One message to each peer.
template <std::size_t D>
class LevelSync {
 public:
  using Box = geometry::IndexBox<D>;
  using Index = typename Box::Index;

  /// Construct. Collective. @param ghosts  of the finer level
  LevelSync(const Hierarchy<D>& hierarchy, int fine_level, const GhostPlan<D>& ghosts, int n_variables,
            const exchange::RepeatedExchangeOptions& options);

  /// Request from a stage the fluxes that the flux registers of a block need, into `room`.
  void request_fine_fluxes(std::size_t block, FluxPlanes<D>& room, Stage<D>& stage) const noexcept;
  void request_coarse_fluxes(std::size_t block, FluxPlanes<D>& room, Stage<D>& stage) const noexcept;
  /// Add fluxes of a stage to the flux registers of a block. @param dt  time step times the weight of the stage
  void add_fine(std::size_t block, const FluxPlanes<D>& fluxes, double dt) noexcept;
  void add_coarse(std::size_t block, const FluxPlanes<D>& fluxes, double dt) noexcept;

  /// Put the means of a block into the coarser block, or into their message.
  void put_mean(std::size_t block, std::span<double* const> fine_blocks, std::span<double* const> coarse_blocks);
  struct Content {
    bool has_means;   ///< means of all blocks were put already
    bool has_fluxes;  ///< flux registers are applied
  };
  /// Update the coarser level, and reset the flux registers.
  void run(std::span<double* const> fine_blocks, std::span<double* const> coarse_blocks, const Content& content);

  /// Return the cells of a coarser block that finer ones cover.
  [[nodiscard]] std::span<const Box> covered(std::size_t coarse_block) const noexcept { return covered_[coarse_block]; }

  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  static constexpr std::int32_t is_mean = -1;
  static constexpr std::int32_t n_face_kinds = 2 * D;
  /// Item that a finer block sends to a coarser one: means of its cells, or a flux register of one of its faces.
  struct Item {
    std::int32_t kind;          // is_mean, or the face of the finer block: 2 axis + (1 for the upper face)
    std::int32_t block;         // the finer block
    std::int32_t other = -1;    // the coarser block if it is on this rank, else -1
    Box cells{};                // of the coarser level
    std::ptrdiff_t first = 0;   // of a flux register: in fine_registers_
    std::int32_t message = -1;  // that has it; -1: stays on this rank
    std::ptrdiff_t place = 0;   // in the message
  };
  struct Notice {
    Index at;
    Box cells;
    std::int32_t kind;
  };
  /// Item on the side of the coarser block.
  struct CoarseItem {
    std::int32_t kind;
    std::int32_t block;
    Box cells;
    std::ptrdiff_t first;    // of a flux register: in coarse_registers_
    std::ptrdiff_t arrived;  // in arrived_: the finer side's values
  };
  void list_fine(const GhostPlan<D>& ghosts);
  void connect(const exchange::RepeatedExchangeOptions& options);
  void add_coarse_item(const CoarseItem& item);
  void bring(std::span<double* const> fine_blocks, std::span<double* const> coarse_blocks, const Content& content);
  void restrict_block(std::size_t fine_block, const CellView<D>& fine, const CellView<D>& coarse,
                      const Box& cells) const;
  void correct(const CoarseItem& item, const CellView<D>& to) const;
  void apply(std::span<double* const> coarse_blocks);
  [[nodiscard]] std::ptrdiff_t numbers_of(const Box& cells) const noexcept { return cells.size() * n_variables_; }

  const Hierarchy<D>* hierarchy_;
  int fine_level_;
  int n_variables_;
  std::vector<Item> items_;                         // for this rank first, then by rank
  std::vector<std::int32_t> place_here_;            // of items for this rank: place among the coarse items
  std::vector<std::vector<std::int32_t>> of_fine_;  // items that are flux registers, of each finer block
  std::vector<std::int32_t> mean_of_fine_;          // item with the means, of each finer block
  std::vector<double> fine_registers_;
  std::vector<CoarseItem> coarse_items_;  // from this rank first
  std::size_t n_coarse_here_ = 0;
  std::vector<std::vector<std::int32_t>> of_coarse_;
  std::vector<std::vector<Box>> covered_;
  std::vector<double> coarse_registers_;
  std::vector<double> arrived_;
  std::vector<double> corrections_;  // scratch, shape (axes, variables, cells of a block)
  std::optional<exchange::RepeatedExchange> exchange_;
};

extern template class FluxPlanes<2>;
extern template class FluxPlanes<3>;
extern template class LevelSync<2>;
extern template class LevelSync<3>;

}  // namespace barrio::amr::detail
