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

/// Fluxes through all faces of planes of a block, as a stage hands them out.
template <std::size_t D>
class FluxPlanes {
 public:
  FluxPlanes(const BlockSpace<D>& space, int n_variables);
  [[nodiscard]] double* plane(std::size_t axis, int m) noexcept {
    return values_.data() + (axis * n_planes_ + m) * plane_size_;
  }
  [[nodiscard]] const double* plane(std::size_t axis, int m) const noexcept {
    return values_.data() + (axis * n_planes_ + m) * plane_size_;
  }

 private:
  std::size_t n_planes_;
  std::size_t plane_size_;
  std::vector<double> values_;
};

/// What a level hands to the next coarser one when both have come to one time: mean values for the cells under its
/// blocks, and what has flown through the faces around it, so that the cells beside it get what has left it (Berger and
/// Colella 1989). One message a peer.
template <std::size_t D>
class LevelSync {
 public:
  using Box = geometry::IndexBox<D>;
  using Index = typename Box::Index;

  /// Collective. @param ghosts  of the finer level
  LevelSync(const Hierarchy<D>& hierarchy, int fine_level, const GhostPlan<D>& ghosts, int n_variables,
            const exchange::RepeatedExchangeOptions& options);

  /// Ask a stage for the fluxes that registers of a block need, to be put into `room`.
  void ask_of_fine(std::size_t block, FluxPlanes<D>& room, Stage<D>& stage) const noexcept;
  void ask_of_coarse(std::size_t block, FluxPlanes<D>& room, Stage<D>& stage) const noexcept;
  /// Add what has flown through the faces of a block in a part of a step. @param dt  times the part
  void add_fine(std::size_t block, const FluxPlanes<D>& fluxes, double dt) noexcept;
  void add_coarse(std::size_t block, const FluxPlanes<D>& fluxes, double dt) noexcept;

  /// Give the means of a block already now, to where they belong or into their message.
  void give_mean(std::size_t block, std::span<double* const> fine_blocks, std::span<double* const> coarse_blocks);
  struct What {
    bool has_means;  ///< those of all blocks were given
    bool has_flows;  ///< what has flown through faces counts
  };
  /// Correct the coarser level, and begin anew.
  void run(std::span<double* const> fine_blocks, std::span<double* const> coarse_blocks, const What& what);

  /// The cells of a coarser block that finer ones cover.
  [[nodiscard]] std::span<const Box> covered(std::size_t coarse_block) const noexcept { return covered_[coarse_block]; }

  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  static constexpr std::int32_t is_mean = -1;
  /// What is handed from a finer block to a coarser one: means of its cells, or what flew through its faces.
  struct Item {
    std::int32_t kind;          // is_mean, or the direction from the finer block, by face: 2 axis + (1 if upwards)
    std::int32_t block;         // on this side
    std::int32_t other = -1;    // the coarser block if it is of this rank, else -1
    Box cells{};                // of the coarser level
    std::ptrdiff_t first = 0;   // in registers, of flows
    std::int32_t message = -1;  // that has it
    std::ptrdiff_t place = 0;   // in the message
  };
  struct Notice {
    Index at;
    Box cells;
    std::int32_t kind;
  };
  /// Items of the coarser side. `first`: what it has itself; `arrived`: what the finer side says.
  struct CoarseItem {
    std::int32_t kind;
    std::int32_t block;
    Box cells;
    std::ptrdiff_t first;
    std::ptrdiff_t arrived;
  };
  void list_fine(const GhostPlan<D>& ghosts);
  void connect(const exchange::RepeatedExchangeOptions& options);
  void add_coarse_item(const CoarseItem& item);
  void bring(std::span<double* const> fine_blocks, std::span<double* const> coarse_blocks, const What& what);
  void restrict_block(std::size_t fine_block, const CellView<D>& fine, const CellView<D>& coarse,
                      const Box& cells) const;
  void apply(std::span<double* const> coarse_blocks);
  [[nodiscard]] std::ptrdiff_t numbers_of(const Box& cells) const noexcept { return cells.size() * n_variables_; }

  const Hierarchy<D>* hierarchy_;
  int fine_level_;
  int n_variables_;
  std::vector<Item> items_;                         // those for this rank first, the others by rank
  std::vector<std::int32_t> place_here_;            // of flows for this rank, among the coarse items
  std::vector<std::vector<std::int32_t>> of_fine_;  // items that are flows, of each finer block
  std::vector<std::int32_t> mean_of_fine_;          // the item that is its mean
  std::vector<double> fine_flows_;
  std::vector<CoarseItem> coarse_items_;  // those from this rank first
  std::size_t n_coarse_here_ = 0;
  std::vector<std::vector<std::int32_t>> of_coarse_;
  std::vector<std::vector<Box>> covered_;
  std::vector<double> coarse_flows_;
  std::vector<double> arrived_;
  std::optional<exchange::RepeatedExchange> exchange_;
};

extern template class FluxPlanes<2>;
extern template class FluxPlanes<3>;
extern template class LevelSync<2>;
extern template class LevelSync<3>;

}  // namespace barrio::amr::detail
