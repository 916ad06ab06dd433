#include "barrio/amr/advance/level.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/amr/advance/boundary.hpp"
#include "barrio/amr/advance/interpolate.hpp"
#include "barrio/base/memory.hpp"

namespace barrio::amr::detail {
namespace {

// SIMD vectors read beyond the last row of a variable.
constexpr std::ptrdiff_t padding = 8;

template <std::size_t D>
exchange::RepeatedExchangeOptions exchange_options(exchange::Strategy strategy, const char* phase, int level) {
  exchange::RepeatedExchangeOptions options;
  options.strategy = strategy;
  options.message_class = fmt::format("amr.{}.{}", phase, level);
  options.contents = fmt::format("{} of level {}", phase, level);
  options.is_checked = false;  // all ranks derive both sides from one hierarchy, and make them often
  return options;
}

/// Return the coarser cells from which a block's ghosts are interpolated, in the directions without a neighbour.
template <std::size_t D>
geometry::IndexBox<D> cells_needed(const BlockSpace<D>& space, const geometry::IndexBox<D>& block,
                                   const GhostPlan<D>& ghosts, std::size_t number, int n_ghosts) {
  geometry::IndexBox<D> needed;
  bool is_first = true;
  for (int direction = 0; direction < n_directions<D>; ++direction) {
    if (ghosts.source(number, direction).from != GhostPlan<D>::From::coarse) continue;
    const auto part = cells_beyond<D>(block, direction, n_ghosts).coarsened(space.ratio()).grown(1);
    if (is_first) needed = part;
    is_first = false;
    for (std::size_t k = 0; k < D; ++k) {
      needed.low[k] = std::min(needed.low[k], part.low[k]);
      needed.high[k] = std::max(needed.high[k], part.high[k]);
    }
  }
  return needed;
}

}  // namespace

template <std::size_t D>
void make_plans(const Hierarchy<D>& hierarchy, int level, const System<D>& system, int n_variables,
                exchange::Strategy strategy, LevelPlans<D>& plans) {
  const int n_ghosts = system.n_ghosts();
  plans.sync.reset();
  plans.patches.reset();
  plans.ghosts = std::make_unique<GhostPlan<D>>(hierarchy, level, n_ghosts, system.uses_corners(), n_variables,
                                                exchange_options<D>(strategy, "ghosts", level));
  if (level == 0) return;
  std::vector<typename CoarsePatches<D>::Patch> patches;
  const auto blocks = hierarchy.blocks(level);
  plans.patch_of_block.assign(blocks.size(), -1);
  for (std::int32_t b = 0; b < std::ssize(blocks); ++b) {
    if (!plans.ghosts->has_coarse(b)) continue;
    plans.patch_of_block[b] = static_cast<std::int32_t>(patches.size());
    const auto cells = hierarchy.space().cells(blocks[b].at);
    patches.push_back({.block = b, .cells = cells_needed(hierarchy.space(), cells, *plans.ghosts, b, n_ghosts)});
  }
  plans.patches = std::make_unique<CoarsePatches<D>>(hierarchy, level - 1, std::move(patches), n_variables, 2,
                                                     exchange_options<D>(strategy, "coarse", level));
  plans.sync = std::make_unique<LevelSync<D>>(hierarchy, level, *plans.ghosts, n_variables,
                                              exchange_options<D>(strategy, "sync", level));
}

template <std::size_t D>
Tiles<D>::Tiles(const System<D>& system, const SimulationOptions<D>& options, const BlockSpace<D>& space,
                int n_variables)
    : system_(&system),
      options_(&options),
      space_(&space),
      n_variables_(n_variables),
      n_ghosts_(system.n_ghosts()),
      values_((space.cells({}).grown(n_ghosts_).size() + padding) * n_variables + padding, 1.0) {}

template <std::size_t D>
CellView<D> Tiles<D>::fill(const Hierarchy<D>& hierarchy, int level, std::size_t block, LevelPlans<D>& plans,
                           std::span<double* const> blocks, double time, double part, Fill mode) {
  const auto cells = space_->cells(hierarchy.blocks(level)[block].at);
  const CellView<D> tile = view_of<D>(values_.data(), cells.grown(n_ghosts_), padding);
  // Boundary conditions read the block's own cells.
  const bool is_at_boundary = !space_->domain(level).contains(tile.cells);
  for (int direction = 0; direction < n_directions<D>; ++direction)
    if (mode == Fill::all || is_at_boundary || direction != own_direction<D>)
      plans.ghosts->fill(block, direction, cells_beyond<D>(cells, direction, n_ghosts_), blocks, tile);
  if (plans.ghosts->has_coarse(block)) fill_from_coarse(hierarchy, level, block, plans, tile, time, part);
  if (is_at_boundary)
    fill_boundary(*system_, *options_, *space_, level, time, n_variables_, tile,
                  system_->uses_corners() ? tile.cells : cells);
  return tile;
}

template <std::size_t D>
void Tiles<D>::fill_from_coarse(const Hierarchy<D>& hierarchy, int level, std::size_t block, LevelPlans<D>& plans,
                                const CellView<D>& tile, double time, double part) {
  const auto& patch = plans.patches->patches()[plans.patch_of_block[block]];
  CellView<D> coarse = plans.patches->view(patch, part < 1.0 ? 0 : 1);
  if (part > 0.0 && part < 1.0) {
    patch_.resize(patch.cells.size() * n_variables_);
    between(coarse, plans.patches->view(patch, 1), part, patch_.data(), std::ssize(patch_));
    coarse.first = patch_.data();
  }
  if (!space_->domain(level - 1).contains(patch.cells))
    fill_boundary(*system_, *options_, *space_, level - 1, time, n_variables_, coarse, patch.cells);
  const auto cells = space_->cells(hierarchy.blocks(level)[block].at);
  for (int direction = 0; direction < n_directions<D>; ++direction)
    if (plans.ghosts->source(block, direction).from == GhostPlan<D>::From::coarse)
      interpolate<D>(*system_, coarse, tile, cells_beyond<D>(cells, direction, n_ghosts_), space_->ratio(),
                     n_variables_);
}

template <std::size_t D>
std::uint64_t Tiles<D>::memory_bytes() const noexcept {
  return barrio::memory_bytes(values_) + barrio::memory_bytes(patch_);
}

template class Tiles<2>;
template class Tiles<3>;
template void make_plans<2>(const Hierarchy<2>&, int, const System<2>&, int, exchange::Strategy, LevelPlans<2>&);
template void make_plans<3>(const Hierarchy<3>&, int, const System<3>&, int, exchange::Strategy, LevelPlans<3>&);

}  // namespace barrio::amr::detail
