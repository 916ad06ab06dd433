#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "barrio/amr/advance/coarse_patches.hpp"
#include "barrio/amr/advance/ghost_plan.hpp"
#include "barrio/amr/advance/level_sync.hpp"
#include "barrio/amr/simulation.hpp"

namespace barrio::amr::detail {

/// Plans of a level: exchanges between its blocks and with the coarser level.
template <std::size_t D>
struct LevelPlans {
  std::unique_ptr<GhostPlan<D>> ghosts;
  std::unique_ptr<CoarsePatches<D>> patches;  // around its blocks; sections: start and end of the coarser step
  std::vector<std::int32_t> patch_of_block;   // -1: needs no patch
  std::unique_ptr<LevelSync<D>> sync;         // with the coarser level
  int n_since_regrid = 0;                     // steps of the level
};

/// Tiles: memory for the cells of one block with its ghosts, for one thread.
template <std::size_t D>
class Tiles {
 public:
  Tiles(const System<D>& system, const SimulationOptions<D>& options, const BlockSpace<D>& space, int n_variables);

  enum class Fill { all, ghosts };
  /// Fill the tile of a block. @param plans  of its level @param part  of the coarser level's step that has passed
  CellView<D> fill(const Hierarchy<D>& hierarchy, int level, std::size_t block, LevelPlans<D>& plans,
                   std::span<double* const> blocks, double time, double part, Fill mode);
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  void fill_from_coarse(const Hierarchy<D>& hierarchy, int level, std::size_t block, LevelPlans<D>& plans,
                        const CellView<D>& tile, double time, double part);
  const System<D>* system_;
  const SimulationOptions<D>* options_;
  const BlockSpace<D>* space_;
  int n_variables_;
  int n_ghosts_;
  std::vector<double> values_;
  std::vector<double> patch_;
};

/// Make the plans of a level of the present hierarchy. Collective.
template <std::size_t D>
void make_plans(const Hierarchy<D>& hierarchy, int level, const System<D>& system, int n_variables,
                exchange::Strategy strategy, LevelPlans<D>& plans);

}  // namespace barrio::amr::detail
