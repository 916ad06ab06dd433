#include "barrio/amr/simulation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "barrio/amr/advance/body.hpp"
#include "barrio/amr/advance/clock.hpp"
#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/node_memory.hpp"

namespace barrio::amr {
namespace {

template <std::size_t D>
int nesting_of(const System<D>& system, const GridOptions<D>& grid) {
  return (system.n_ghosts() + grid.ratio - 1) / grid.ratio + 1;
}

template <std::size_t D>
void check(const SimulationOptions<D>& options, bool has_state) {
  if (!has_state && !options.initial) refuse_together(ErrorCode::usage, "simulation", "must have initial values");
  if (!(options.cfl > 0.0 && options.cfl <= 1.0))
    refuse_together(ErrorCode::usage, fmt::format("CFL number {}", options.cfl), "must be above 0 and at most 1");
  if (!(options.time_step >= 0.0))
    refuse_together(ErrorCode::usage, fmt::format("time step {}", options.time_step), "must be at least 0");
  if (options.max_cells < 1)
    refuse_together(ErrorCode::usage, fmt::format("a limit of {} cells", options.max_cells), "must be at least 1");
  if (options.regrid_interval < 1)
    refuse_together(ErrorCode::usage, fmt::format("a regrid interval of {} steps", options.regrid_interval),
                    "must be at least 1");
  const int max_buffer = options.grid.block_cells / std::max(1, options.grid.ratio);
  if (options.buffer_cells < 0 || options.buffer_cells > max_buffer)
    refuse_together(ErrorCode::usage, fmt::format("a buffer of {} cells", options.buffer_cells),
                    fmt::format("must be from 0 to {}, a block of the finer level", max_buffer));
  for (std::size_t k = 0; k < D; ++k)
    for (const BoundaryCondition condition : options.boundary[k])
      if (condition == BoundaryCondition::inflow && !options.grid.is_periodic[k] && !options.inflow)
        refuse_together(ErrorCode::usage, fmt::format("the inflow boundary of axis {}", k), "must have a state",
                        "set SimulationOptions::inflow");
}

/// Find the limit of bytes if none is given, and check the coarsest level, before it is allocated. Collective.
template <std::size_t D>
void check_memory(mpi::Context& context, std::size_t n_variables, SimulationOptions<D>& options) {
  if (options.max_bytes == 0) options.max_bytes = mpi::available_bytes_per_rank(context) / 2;
  double n_cells = 1.0;
  for (const std::int64_t n : options.grid.n_cells) n_cells *= static_cast<double>(std::max<std::int64_t>(n, 0));
  constexpr double stages = 2;
  const double needed = stages * n_cells * static_cast<double>(n_variables * sizeof(double)) / context.size();
  if (needed > static_cast<double>(options.max_bytes))
    refuse_together(
        ErrorCode::failed, fmt::format("a grid of {:.3g} cells", n_cells),
        fmt::format("needs {} for the values of a rank, more than the {} that it may use (max_bytes)",
                    needed < 0x1p63 ? format_bytes(static_cast<std::uint64_t>(needed)) : "more than 2^63 bytes",
                    format_bytes(options.max_bytes)),
        "use fewer cells or more nodes, or allow more");
}

template <std::size_t D>
Hierarchy<D> make_hierarchy(mpi::Context& context, const System<D>& system, const SimulationOptions<D>& options,
                            const SavedState<D>* saved) {
  const HierarchyOptions wanted{.nesting = nesting_of(system, options.grid),
                                .is_subcycled = options.is_subcycled,
                                .partition = options.partition};
  if (saved == nullptr) return Hierarchy<D>(context, options.grid, wanted);
  return Hierarchy<D>(context, options.grid, saved->blocks, wanted);
}

}  // namespace

template <std::size_t D>
Simulation<D>::Body::Body(mpi::Context& given_context, std::shared_ptr<const System<D>> given_system,
                          SimulationOptions<D> given_options, const SavedState<D>* saved)
    : context(given_context),
      system(std::move(given_system)),
      options(std::move(given_options)),
      n_variables(static_cast<int>(system->variables().size())),
      hierarchy(make_hierarchy(context, *system, options, saved)),
      state(hierarchy, n_variables),
      intermediate_pool(hierarchy.space().block_size() * n_variables * sizeof(double)),
      blocks(hierarchy.n_levels()),
      plans(hierarchy.n_levels()),
      costs(hierarchy.n_levels()),
      worker(system->make_worker(options.grid.block_cells)),
      tiles(*system, options, hierarchy.space(), n_variables),
      planes(hierarchy.space(), n_variables),
      tags(hierarchy.space().block_size()) {
  if (saved == nullptr)
    refine_initially();
  else
    restore(*saved);
  look();
}

template <std::size_t D>
void Simulation<D>::Body::refuse_state(int level, std::size_t block) const {
  const Box cells = hierarchy.space().cells(hierarchy.blocks(level)[block].at);
  const CellView<D> view = detail::view_of<D>(blocks[level][block], cells);
  const ErrorCode code = n_steps == 0 ? ErrorCode::bad_input : ErrorCode::failed;
  std::vector<double> u(n_variables);
  for (std::int64_t n = 0; n < cells.size(); ++n) {
    for (int v = 0; v < n_variables; ++v) u[v] = view(v, cells.at(n));
    if (const std::string fault = system->fault_of(u); !fault.empty())
      refuse(
          code,
          fmt::format("cell {} of level {}, step {}, time {:.6g}", fmt::join(cells.at(n), ", "), level, n_steps, time),
          fault, n_steps == 0 ? "correct the initial values" : "use a smaller CFL number");
  }
  refuse(code, fmt::format("a block of level {}, step {}", level, n_steps), "has an unphysical state");
}

template <std::size_t D>
void Simulation<D>::Body::look() {
  fastest = 0.0;
  double n_substeps = 1.0;
  Status fault;
  for (int level = 0; level < hierarchy.n_levels(); ++level) {
    if (level > 0 && options.is_subcycled) n_substeps *= hierarchy.space().ratio();
    const auto size = hierarchy.space().cell_size(level);
    for (std::size_t b = 0; b < blocks[level].size(); ++b) {
      const Box cells = hierarchy.space().cells(hierarchy.blocks(level)[b].at);
      double rate = worker->fastest(detail::view_of<D>(blocks[level][b], cells), cells, size);
      if (!(rate >= 0.0) && !fault) fault = capture([&] { refuse_state(level, b); });
      // Without subcycling a level that the step begins with has its time step, too.
      const bool is_to_be_refined = level + 1 < hierarchy.n_levels() && !has_blocks(level + 1) &&
                                    plans[level].n_since_regrid >= options.regrid_interval;
      if (!options.is_subcycled && is_to_be_refined) rate *= hierarchy.space().ratio();
      fastest = std::max(fastest, rate / n_substeps);
    }
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  fastest = mpi::max(context, fault ? infinity : fastest);
  if (fastest == infinity) agree(context, fault);
}

template <std::size_t D>
double Simulation<D>::Body::fastest_inflow(int level, std::size_t block, std::size_t axis, bool is_high,
                                           double at_time) {
  const BlockSpace<D>& space = hierarchy.space();
  const Box cells = space.cells(hierarchy.blocks(level)[block].at);
  // A block of cells with what flows in beside each, since workers look at whole blocks.
  inflow.resize(cells.size() * n_variables);
  const CellView<D> view = detail::view_of<D>(inflow.data(), cells);
  Box face = cells;
  if (is_high)
    face.low[axis] = cells.high[axis] - 1;
  else
    face.high[axis] = cells.low[axis] + 1;
  std::vector<double> u(n_variables);
  for (std::int64_t n = 0; n < face.size(); ++n) {
    Index at = face.at(n);
    Index beyond = at;
    beyond[axis] += is_high ? 1 : -1;
    options.inflow(space.centre(level, beyond), at_time, u);
    if (const std::string unphysical = system->fault_of(u); !unphysical.empty())
      refuse(n_steps == 0 ? ErrorCode::bad_input : ErrorCode::failed,
             fmt::format("inflow beside cell {} of level {} at time {}", fmt::join(at, ", "), level, at_time),
             unphysical, "correct the inflow");
    for (at[axis] = cells.low[axis]; at[axis] < cells.high[axis]; ++at[axis])
      for (int v = 0; v < n_variables; ++v) view(v, at) = u[v];
  }
  return worker->fastest(view, cells, space.cell_size(level));
}

template <std::size_t D>
double Simulation<D>::Body::fastest_inflow(double at_time) {
  double rate = 0.0;
  double n_substeps = 1.0;
  for (int level = 0; level < hierarchy.n_levels(); ++level) {
    if (level > 0 && options.is_subcycled) n_substeps *= hierarchy.space().ratio();
    const Box domain = hierarchy.space().domain(level);
    for (std::size_t b = 0; b < blocks[level].size(); ++b) {
      const Box cells = hierarchy.space().cells(hierarchy.blocks(level)[b].at);
      for (std::size_t axis = 0; axis < D; ++axis) {
        for (const bool is_high : {false, true}) {
          const bool is_open =
              !options.grid.is_periodic[axis] && options.boundary[axis][is_high ? 1 : 0] == BoundaryCondition::inflow;
          const bool is_beside = is_high ? cells.high[axis] == domain.high[axis] : cells.low[axis] == domain.low[axis];
          if (is_open && is_beside)
            rate = std::max(rate, fastest_inflow(level, b, axis, is_high, at_time) / n_substeps);
        }
      }
    }
  }
  return rate;
}

template <std::size_t D>
double Simulation<D>::Body::find_time_step() {
  double rate = fastest;
  if (options.inflow) {
    // The gas that flows in at the start, and at the end of a step that it does not shorten. That time is the same on
    // all ranks, so the second look comes after a reduction.
    double of_inflow = 0.0;
    const auto look_at = [&](double at_time) {
      agree_after(context, [&] { of_inflow = fastest_inflow(at_time); });
      rate = mpi::max(context, std::max(rate, of_inflow));
    };
    look_at(time);
    const double longest = options.time_step > 0.0 ? options.time_step : options.cfl / rate;
    if (std::isfinite(longest)) look_at(time + longest);
  }
  if (options.time_step == 0.0) return options.cfl / rate;
  if (options.time_step * rate > 1.0)
    refuse_together(
        n_steps == 0 ? ErrorCode::bad_input : ErrorCode::failed,
        fmt::format("a time step of {} at step {}", options.time_step, n_steps),
        fmt::format("has the CFL number {:.3g}: a signal passes more than a cell", options.time_step * rate),
        "use a shorter one, or let cfl choose it");
  return options.time_step;
}

template <std::size_t D>
void Simulation<D>::Body::step(double end_time) {
  if (!(end_time > time))
    refuse_together(ErrorCode::usage, fmt::format("end time {} of a step", end_time),
                    fmt::format("must be above the present time {}", time));
  const detail::Clock all(seconds.all);
  double dt = 0.0;
  {
    const detail::Clock clock(seconds.time_step);
    dt = find_time_step();
  }
  // Two equal steps to the end are better than a full one and a tiny one.
  const double rest = end_time - time;
  const bool is_last = dt >= rest;
  if (is_last)
    dt = rest;
  else if (2.0 * dt > rest)
    dt = 0.5 * rest;
  if (!(time + dt > time))
    refuse_together(ErrorCode::failed, fmt::format("a time step of {} at time {}", dt, time),
                    "is too short to change the time", "look at the state for signals that are too fast");
  step_level(0, time, dt, 0.0, 1.0);
  time = is_last ? end_time : time + dt;
  n_steps += 1;
  const detail::Clock clock(seconds.time_step);
  look();
}

template <std::size_t D>
void Simulation<D>::Body::step_level(int level, double from_time, double dt, double part, double part_end) {
  if (level + 1 < hierarchy.n_levels() && plans[level].n_since_regrid >= options.regrid_interval) {
    const detail::Clock clock(seconds.regrid);
    regrid(level, from_time, part);
  }
  plans[level].n_since_regrid += 1;
  const bool has_finer = has_blocks(level + 1);
  if (has_finer) {
    const detail::Clock clock(seconds.coarse_fine);
    plans[level + 1].patches->take(0, blocks[level]);
  }
  const std::size_t n_blocks = blocks[level].size();
  while (intermediate.size() < n_blocks) intermediate.push_back(reinterpret_cast<double*>(intermediate_pool.take()));
  run_stage(level, blocks[level], intermediate, from_time, dt, part, 0.0);
  run_stage(level, intermediate, blocks[level], from_time + dt, dt, part_end, 0.5);
  n_updates += std::ssize(blocks[level]) * hierarchy.space().block_size();
  if (!has_finer) return;
  {
    const detail::Clock clock(seconds.coarse_fine);
    plans[level + 1].patches->take(1, blocks[level]);
    plans[level + 1].patches->begin();
  }
  const double n_substeps = options.is_subcycled ? hierarchy.space().ratio() : 1;
  for (int s = 0; s < n_substeps; ++s)
    step_level(level + 1, from_time + dt * s / n_substeps, dt / n_substeps, s / n_substeps, (s + 1) / n_substeps);
  const detail::Clock clock(seconds.coarse_fine);
  plans[level + 1].sync->run(blocks[level + 1], blocks[level],
                             {.has_means = !has_blocks(level + 2), .has_fluxes = options.has_reflux});
}

template <std::size_t D>
void Simulation<D>::Body::run_stage(int level, std::span<double* const> from, std::span<double* const> out,
                                    double at_time, double dt, double part, double old_weight) {
  detail::GhostPlan<D>& ghosts = *plans[level].ghosts;
  {
    const detail::Clock clock(seconds.exchange);
    ghosts.begin(from);
  }
  // Coarser cells may still be on their way: blocks that do not need them go first.
  detail::CoarsePatches<D>* const patches = plans[level].patches.get();
  const bool is_open = patches != nullptr && patches->is_open();
  waiting.clear();
  for (const std::int32_t block : ghosts.interior()) {
    const std::int32_t patch = is_open ? plans[level].patch_of_block[block] : -1;
    if (patch >= 0 && patches->comes_from_others(patch)) {
      waiting.push_back(block);
      continue;
    }
    advance_block(level, block, from, out, at_time, dt, part, old_weight);
    ghosts.progress();
    if (is_open) patches->progress();
  }
  if (is_open) {
    const detail::Clock clock(seconds.coarse_fine);
    patches->finish();
  }
  for (const std::int32_t block : waiting) {
    advance_block(level, block, from, out, at_time, dt, part, old_weight);
    ghosts.progress();
  }
  for (;;) {
    std::optional<std::int32_t> block;
    {
      const detail::Clock clock(seconds.exchange);
      block = ghosts.wait_for_ready();
    }
    if (!block) break;
    advance_block(level, *block, from, out, at_time, dt, part, old_weight);
  }
  const detail::Clock clock(seconds.exchange);
  ghosts.end();
}

template <std::size_t D>
void Simulation<D>::Body::advance_block(int level, std::size_t block, std::span<double* const> from,
                                        std::span<double* const> out, double at_time, double dt, double part,
                                        double old_weight) {
  Stage<D> stage{};
  {
    const detail::Clock clock(seconds.fill);
    using Fill = typename detail::Tiles<D>::Fill;
    stage.u = tiles.fill(hierarchy, level, block, plans[level], from, at_time, part,
                         system->reads_block() ? Fill::ghosts : Fill::all);
  }
  const BlockSpace<D>& space = hierarchy.space();
  stage.cells = space.cells(hierarchy.blocks(level)[block].at);
  stage.cell_size = space.cell_size(level);
  stage.block = detail::view_of<D>(from[block], stage.cells);
  stage.dt = dt;
  stage.old_weight = old_weight;
  stage.out = detail::view_of<D>(out[block], stage.cells);
  stage.old = stage.out;
  stage.plane_step = space.footprint_cells();
  const Box domain = space.domain(level);
  for (std::size_t k = 0; k < D; ++k) {
    const auto is_wall = [&](std::size_t end) {
      return !options.grid.is_periodic[k] && options.boundary[k][end] == BoundaryCondition::wall;
    };
    stage.is_wall[k] = {stage.cells.low[k] == domain.low[k] && is_wall(0),
                        stage.cells.high[k] == domain.high[k] && is_wall(1)};
  }
  const bool has_coarser = level > 0 && options.has_reflux;
  const bool has_finer = has_blocks(level + 1) && options.has_reflux;
  if (has_coarser) plans[level].sync->request_fine_fluxes(block, planes, stage);
  if (has_finer) plans[level + 1].sync->request_coarse_fluxes(block, planes, stage);
  const double before = seconds.kernel;
  {
    const detail::Clock clock(seconds.kernel);
    worker->advance(stage);
    if (options.source) add_source(level, at_time, stage);
  }
  costs.add(level, block, seconds.kernel - before);
  const detail::Clock clock(seconds.coarse_fine);
  // Put the means while the block is in the cache, unless a finer level will still change it.
  if (level > 0 && part == 1.0 && !has_blocks(level + 1)) plans[level].sync->put_mean(block, out, blocks[level - 1]);
  if (has_coarser) plans[level].sync->add_fine(block, planes, 0.5 * dt);
  if (has_finer) plans[level + 1].sync->add_coarse(block, planes, 0.5 * dt);
}

template <std::size_t D>
void Simulation<D>::Body::add_source(int level, double at_time, const Stage<D>& stage) {
  change.assign(stage.cells.size() * n_variables, 0.0);
  const CellView<D> view = detail::view_of<D>(change.data(), stage.cells);
  options.source({.level = level,
                  .time = at_time,
                  .space = hierarchy.space(),
                  .u = stage.block,
                  .cells = stage.cells,
                  .change = view});
  // Blocks have no padding: both arrays have the same order.
  const double part = (1.0 - stage.old_weight) * stage.dt;
  for (std::size_t n = 0; n < change.size(); ++n) stage.out.first[n] += part * change[n];
}

template <std::size_t D>
Simulation<D>::Simulation(mpi::Context& context, std::shared_ptr<const System<D>> system,
                          SimulationOptions<D> options) {
  check(options, false);
  check_memory(context, system->variables().size(), options);
  body_ = std::make_unique<Body>(context, std::move(system), std::move(options), nullptr);
}
template <std::size_t D>
Simulation<D>::Simulation(mpi::Context& context, std::shared_ptr<const System<D>> system, SimulationOptions<D> options,
                          const SavedState<D>& saved) {
  check(options, true);
  check_memory(context, system->variables().size(), options);
  body_ = std::make_unique<Body>(context, std::move(system), std::move(options), &saved);
}
template <std::size_t D>
Simulation<D>::Simulation(Simulation&&) noexcept = default;
template <std::size_t D>
Simulation<D>::~Simulation() = default;

template <std::size_t D>
void Simulation<D>::step(double end_time) {
  body_->step(end_time);
}
template <std::size_t D>
const System<D>& Simulation<D>::system() const& noexcept {
  return *body_->system;
}
template <std::size_t D>
std::vector<int> Simulation<D>::n_since_regrid() const {
  std::vector<int> all;
  for (const auto& level : body_->plans) all.push_back(level.n_since_regrid);
  return all;
}
template <std::size_t D>
double Simulation<D>::time() const noexcept {
  return body_->time;
}
template <std::size_t D>
std::int64_t Simulation<D>::n_steps() const noexcept {
  return body_->n_steps;
}
template <std::size_t D>
std::int64_t Simulation<D>::n_updates() const noexcept {
  return body_->n_updates;
}
template <std::size_t D>
std::int64_t Simulation<D>::n_fallbacks() const noexcept {
  return body_->worker->n_fallbacks();
}
template <std::size_t D>
const SimulationSeconds& Simulation<D>::seconds() const noexcept {
  return body_->seconds;
}
template <std::size_t D>
const Hierarchy<D>& Simulation<D>::hierarchy() const& noexcept {
  return body_->hierarchy;
}
template <std::size_t D>
void Simulation<D>::mark_covered(int level, std::size_t block, std::span<std::uint8_t> marks) const noexcept {
  std::ranges::fill(marks, std::uint8_t{0});
  if (!body_->has_blocks(level + 1)) return;
  const geometry::IndexBox<D> cells = hierarchy().space().cells(hierarchy().blocks(level)[block].at);
  for (const geometry::IndexBox<D>& box : body_->plans[level + 1].sync->covered(block))
    for (std::int64_t i = 0; i < box.size(); ++i) marks[cells.place(box.at(i))] = 1;
}
template <std::size_t D>
const GridFunction<double, D>& Simulation<D>::state() const& noexcept {
  return body_->state;
}

template <std::size_t D>
std::uint64_t Simulation<D>::memory_bytes() const noexcept {
  std::uint64_t bytes = sizeof(Body) + body_->hierarchy.memory_bytes() + body_->state.memory_bytes() +
                        body_->intermediate_pool.memory_bytes() + body_->tiles.memory_bytes();
  for (const auto& level : body_->plans)
    for (const std::uint64_t part :
         {level.ghosts ? level.ghosts->memory_bytes() : 0, level.patches ? level.patches->memory_bytes() : 0,
          level.sync ? level.sync->memory_bytes() : 0})
      bytes += part;
  return bytes;
}

template class Simulation<2>;
template class Simulation<3>;

}  // namespace barrio::amr
