#pragma once

#include <memory>
#include <vector>

#include "barrio/amr/advance/block_costs.hpp"
#include "barrio/amr/advance/level.hpp"
#include "barrio/amr/simulation.hpp"

namespace barrio::amr {

template <std::size_t D>
struct Simulation<D>::Body {
  using Box = geometry::IndexBox<D>;
  using Index = typename Box::Index;

  /// Construct from a saved state, or if that is null from initial values, refined.
  Body(mpi::Context& given_context, std::shared_ptr<const System<D>> given_system, SimulationOptions<D> given_options,
       const SavedState<D>* saved);

  void step(double end_time);
  /// Advance a level and all finer ones by one step. @param part, part_end  part of the coarser level's step that has
  /// passed at the start and at the end
  void step_level(int level, double from_time, double dt, double part, double part_end);
  /// Run a stage on all blocks of a level. @param part  of the coarser level's step, for the time of the stage
  void run_stage(int level, std::span<double* const> from, std::span<double* const> out, double time, double dt,
                 double part, double old_weight);
  void advance_block(int level, std::size_t block, std::span<double* const> from, std::span<double* const> out,
                     double time, double dt, double part, double old_weight);
  /// Add the source terms to the result of a stage.
  void add_source(int level, double time, const Stage<D>& stage);
  [[nodiscard]] bool has_blocks(int level) const {
    return level < hierarchy.n_levels() && hierarchy.n_global(level) > 0;
  }
  /// Look at the state of all cells, and note the fastest signal for the next step. Collective.
  /// @throws AgreedError naming a cell with an unphysical state
  void look();
  [[nodiscard]] double find_time_step();
  /// Return the fastest signal of what flows in at a time beside this rank's blocks, as `look` does. Local.
  /// @throws Error naming a cell where an unphysical state flows in
  [[nodiscard]] double fastest_inflow(double at_time);
  [[nodiscard]] double fastest_inflow(int level, std::size_t block, std::size_t axis, bool is_high, double at_time);
  /// Refuse the unphysical state of a block. @throws Error naming its first cell with one
  [[noreturn]] void refuse_state(int level, std::size_t block) const;

  /// Set initial values, and refine where their tags ask for it.
  void refine_initially();
  void restore(const SavedState<D>& saved);
  void take_blocks(int first);
  /// Choose the levels above `base` anew. @param part  of the coarser level's step that has passed at at_time
  void regrid(int base, double at_time, double part);
  [[nodiscard]] std::vector<BlockId<D>> find_wanted(int base, double at_time, double part);
  void tag_block(int level, std::size_t block, const CellView<D>& tile, double at_time,
                 std::vector<BlockId<D>>& wanted);
  /// Follow a change of the hierarchy, with plans of the levels from `first` on.
  void follow(const BlockMotion& motion, int first);
  void fill_created(const BlockMotion& motion, int level, double at_time);
  void set_initial(int level, std::size_t block);
  void restrict_all();
  /// Check limits. @throws AgreedError{failed} for more than max_cells, or more than max_bytes on a rank
  void check_size() const;

  mpi::Context& context;
  std::shared_ptr<const System<D>> system;
  SimulationOptions<D> options;
  int n_variables;
  Hierarchy<D> hierarchy;
  GridFunction<double, D> state;
  detail::BlockPool intermediate_pool;       // of the values between the two stages of the level that is advanced
  std::vector<std::vector<double*>> blocks;  // of `state`, by level
  std::vector<double*> intermediate;         // as many blocks as the largest level has
  std::vector<detail::LevelPlans<D>> plans;
  detail::BlockCosts<D> costs;
  std::unique_ptr<Worker<D>> worker;
  detail::Tiles<D> tiles;
  detail::FluxPlanes<D> planes;
  std::vector<std::uint8_t> tags;
  std::vector<double> change;         // source terms of a block
  std::vector<std::int32_t> waiting;  // blocks that wait for coarser cells from other ranks
  std::vector<double> inflow;         // states that flow into a block
  double time = 0.0;
  double fastest = 0.0;  // over all ranks: the reciprocal of the time step of CFL number 1
  std::int64_t n_steps = 0;
  std::int64_t n_updates = 0;
  SimulationSeconds seconds;
};

}  // namespace barrio::amr
