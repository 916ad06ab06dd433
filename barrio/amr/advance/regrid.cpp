#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

#include "barrio/amr/advance/body.hpp"
#include "barrio/amr/advance/boundary.hpp"
#include "barrio/amr/advance/interpolate.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::amr {

template <std::size_t D>
void Simulation<D>::Body::set_initial(int level, std::size_t block) {
  const Box cells = hierarchy.space().cells(hierarchy.blocks(level)[block].at);
  const CellView<D> view = detail::view_of<D>(state.values(level, block).data(), cells);
  std::vector<double> u(n_variables);
  for (std::int64_t n = 0; n < cells.size(); ++n) {
    const Index at = cells.at(n);
    options.initial(hierarchy.space().centre(level, at), u);
    for (int v = 0; v < n_variables; ++v) view(v, at) = u[v];
  }
}

template <std::size_t D>
void Simulation<D>::Body::take_blocks(int first) {
  for (int level = first; level < hierarchy.n_levels(); ++level) {
    blocks[level].clear();
    for (std::size_t b = 0; b < hierarchy.blocks(level).size(); ++b)
      blocks[level].push_back(state.values(level, b).data());
    if (has_blocks(level)) detail::make_plans(hierarchy, level, *system, n_variables, options.strategy, plans[level]);
  }
}

template <std::size_t D>
void Simulation<D>::Body::refine_initially() {
  costs.follow(hierarchy, {});
  take_blocks(0);
  for (std::size_t b = 0; b < hierarchy.blocks(0).size(); ++b) set_initial(0, b);
  for (int level = 1; level < hierarchy.n_levels(); ++level) {
    const BlockMotion motion =
        hierarchy.change(0, find_wanted(0, time, 0.0), Hierarchy<D>::Sharing::anew, costs.weights());
    check_size();
    if (motion.is_none) break;
    follow(motion, 0);
    for (int l = 1; l < hierarchy.n_levels(); ++l)
      for (const std::int32_t block : motion.created[l]) set_initial(l, block);
  }
  restrict_all();
}

template <std::size_t D>
void Simulation<D>::Body::restore(const SavedState<D>& saved) {
  time = saved.time;
  n_steps = saved.n_steps;
  for (std::size_t level = 0; level < std::min(plans.size(), saved.n_since_regrid.size()); ++level)
    plans[level].n_since_regrid = saved.n_since_regrid[level];
  costs.follow(hierarchy, {});
  take_blocks(0);
  saved.fill(state);
}

template <std::size_t D>
void Simulation<D>::Body::restrict_all() {
  for (int level = hierarchy.n_levels() - 1; level > 0; --level)
    if (has_blocks(level))
      plans[level].sync->run(blocks[level], blocks[level - 1], {.has_means = false, .has_fluxes = false});
}

template <std::size_t D>
void Simulation<D>::Body::check_size() const {
  std::int64_t n = 0;
  for (int level = 0; level < hierarchy.n_levels(); ++level) n += hierarchy.n_global(level);
  n *= hierarchy.space().block_size();
  if (n > options.max_cells)
    refuse_together(ErrorCode::failed, fmt::format("the hierarchy at time {}", time),
                    fmt::format("needs {} cells, more than the {} that are allowed (max_cells)", format_count(n),
                                format_count(options.max_cells)),
                    "tag fewer cells, use fewer levels, or allow more");
  // The state, and the values between the two stages of the largest level.
  std::uint64_t n_blocks = 0;
  std::uint64_t n_between = 0;
  for (int level = 0; level < hierarchy.n_levels(); ++level) {
    const std::uint64_t n_here = hierarchy.blocks(level).size();
    n_blocks += n_here;
    n_between = std::max(n_between, n_here);
  }
  const std::uint64_t needed = mpi::max(context, (n_blocks + n_between) * state.values_bytes());
  if (needed > options.max_bytes)
    refuse_together(ErrorCode::failed, fmt::format("the hierarchy at time {}", time),
                    fmt::format("needs {} for the values of a rank, more than the {} that are allowed (max_bytes)",
                                format_bytes(needed), format_bytes(options.max_bytes)),
                    "tag fewer cells, use fewer levels or more ranks, or allow more");
}

template <std::size_t D>
void Simulation<D>::Body::follow(const BlockMotion& motion, int first) {
  state.move(motion);
  costs.follow(hierarchy, motion);
  take_blocks(first);
}

template <std::size_t D>
void Simulation<D>::Body::regrid(int base, double at_time, double part) {
  for (int level = base; level < hierarchy.n_levels(); ++level) plans[level].n_since_regrid = 0;
  // During a coarser step blocks stay on their ranks: the registers of that step cannot move.
  using Sharing = typename Hierarchy<D>::Sharing;
  if (base == 0 && options.weigh_by_time) costs.weigh(context);
  const BlockMotion motion = hierarchy.change(base, find_wanted(base, at_time, part),
                                              base == 0 ? Sharing::anew : Sharing::kept, costs.weights());
  check_size();
  if (motion.is_none) return;
  follow(motion, base == 0 ? 0 : base + 1);
  for (int level = base + 1; level < hierarchy.n_levels(); ++level)
    if (motion.n_created_global[level] > 0) fill_created(motion, level, at_time);
}

/// Interpolate new blocks from the coarser level, which is at the same time.
template <std::size_t D>
void Simulation<D>::Body::fill_created(const BlockMotion& motion, int level, double at_time) {
  const BlockSpace<D>& space = hierarchy.space();
  std::vector<typename detail::CoarsePatches<D>::Patch> patches;
  for (const std::int32_t block : motion.created[level])
    patches.push_back({.block = block, .cells = space.footprint(hierarchy.blocks(level)[block].at).grown(1)});
  detail::CoarsePatches<D> under(hierarchy, level - 1, std::move(patches), n_variables, 1,
                                 {.strategy = exchange::Strategy::delayed_waits});
  under.take(0, blocks[level - 1]);
  under.exchange();
  for (const auto& patch : under.patches()) {
    const CellView<D> coarse = under.view(patch, 0);
    if (!space.domain(level - 1).contains(patch.cells))
      detail::fill_boundary(*system, options, space, level - 1, at_time, n_variables, coarse, patch.cells);
    const Box cells = space.cells(hierarchy.blocks(level)[patch.block].at);
    detail::interpolate<D>(*system, coarse, detail::view_of<D>(blocks[level][patch.block], cells), cells, space.ratio(),
                           n_variables);
  }
}

/// Find the blocks of finer levels that the tags of the levels from `base` on ask for.
template <std::size_t D>
std::vector<BlockId<D>> Simulation<D>::Body::find_wanted(int base, double at_time, double part) {
  std::vector<BlockId<D>> wanted;
  if (!options.tag) return wanted;
  Status fault;  // of the caller's function, on this rank
  for (int level = base; level + 1 < hierarchy.n_levels() && has_blocks(level); ++level) {
    detail::LevelPlans<D>& of_level = plans[level];
    if (level == base) {
      if (of_level.patches) of_level.patches->finish();
    } else {
      // All finer levels are at one time, between steps of the level below each: both sections are equal.
      of_level.patches->take(0, blocks[level - 1]);
      of_level.patches->take(1, blocks[level - 1]);
      of_level.patches->exchange();
    }
    of_level.ghosts->begin(blocks[level]);
    const auto tag = [&](std::int32_t block) {
      const CellView<D> tile = tiles.fill(hierarchy, level, block, of_level, blocks[level], at_time,
                                          level > base ? 0.0 : part, detail::Tiles<D>::Fill::all);
      if (!fault) fault = capture([&] { tag_block(level, block, tile, at_time, wanted); });
    };
    for (const std::int32_t block : of_level.ghosts->interior()) tag(block);
    while (const auto block = of_level.ghosts->wait_for_ready()) tag(*block);
    of_level.ghosts->end();
  }
  agree(context, fault);
  return wanted;
}

template <std::size_t D>
void Simulation<D>::Body::tag_block(int level, std::size_t block, const CellView<D>& tile, double at_time,
                                    std::vector<BlockId<D>>& wanted) {
  const BlockSpace<D>& space = hierarchy.space();
  const Box cells = space.cells(hierarchy.blocks(level)[block].at);
  std::ranges::fill(tags, std::uint8_t{0});
  options.tag({.level = level, .time = at_time, .space = space, .u = tile, .cells = cells, .tags = tags});
  // Finer blocks that a tagged cell and its buffer reach: in this block, or one beyond it on each side.
  const Box finer = cells.grown(options.buffer_cells).coarsened(space.footprint_cells());
  std::vector<bool> is_wanted(finer.size(), false);
  for (std::int64_t n = 0; n < cells.size(); ++n) {
    if (tags[n] == 0) continue;
    const Index at = cells.at(n);
    Box of_cell{at, at};
    for (std::size_t k = 0; k < D; ++k) of_cell.high[k] += 1;
    of_cell = of_cell.grown(options.buffer_cells).coarsened(space.footprint_cells());
    for (std::int64_t i = 0; i < of_cell.size(); ++i) is_wanted[finer.place(of_cell.at(i))] = true;
  }
  for (std::int64_t i = 0; i < finer.size(); ++i) {
    if (!is_wanted[i]) continue;
    Index at = finer.at(i);
    if (space.wrap(level + 1, at)) wanted.push_back({.at = at, .level = level + 1});
  }
}

template void Simulation<2>::Body::set_initial(int, std::size_t);
template void Simulation<3>::Body::set_initial(int, std::size_t);
template void Simulation<2>::Body::refine_initially();
template void Simulation<3>::Body::refine_initially();
template void Simulation<2>::Body::restore(const SavedState<2>&);
template void Simulation<3>::Body::restore(const SavedState<3>&);
template void Simulation<2>::Body::regrid(int, double, double);
template void Simulation<3>::Body::regrid(int, double, double);

}  // namespace barrio::amr
