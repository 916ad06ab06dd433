#pragma once

/// @file Simulation: hyperbolic equations on levels of blocks that follow the solution.

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "barrio/amr/grid_function.hpp"
#include "barrio/amr/hierarchy.hpp"
#include "barrio/amr/system.hpp"
#include "barrio/exchange/strategy.hpp"

namespace barrio::amr {

/// Boundary condition at a face of the domain that is not periodic: the state of the ghosts beyond it.
enum class BoundaryCondition {
  outflow,  ///< the state of the cell at the face
  wall,     ///< the mirror image of the cells inside, with reflected vectors
  inflow,   ///< a state that the caller prescribes (Dirichlet)
};

/// Cells of a block for the tagging function, which marks those that need a finer level.
template <std::size_t D>
struct CellsToTag {
  int level;                     ///< of the block
  double time;                   ///< of the state
  const BlockSpace<D>& space;    ///< has cell centres and sizes
  CellView<D> u;                 ///< with ghosts; those beyond edges and corners only if the system uses them
  geometry::IndexBox<D> cells;   ///< of the block
  std::span<std::uint8_t> tags;  ///< one for each cell of the block, the first axis fastest; 0 until set
};

/// Cells of a block for the source function, or those beside a wall.
template <std::size_t D>
struct CellsToChange {
  int level;                    ///< of the block
  double time;                  ///< of the state
  const BlockSpace<D>& space;   ///< has cell centres and sizes
  CellView<D> u;                ///< without ghosts
  geometry::IndexBox<D> cells;  ///< of the block, or those beside the wall
  CellView<D> change;           ///< per unit of time; 0 until set
};

/// Options of a simulation; the same on all ranks.
template <std::size_t D>
struct SimulationOptions {
  GridOptions<D> grid;                                         ///< domain, cells, levels and blocks
  std::array<std::array<BoundaryCondition, 2>, D> boundary{};  ///< low and high along each axis
  /// Set the conserved variables at a cell centre at the start.
  std::function<void(const std::array<double, D>& x, std::span<double> u)> initial;
  /// Set those at a cell centre beyond an `inflow` face of the domain, at a time. Needed only if there is such a face.
  std::function<void(const std::array<double, D>& x, double time, std::span<double> u)> inflow;
  /// Optional: source terms such as gravity or heating. Must depend on its argument alone. Integrated explicitly: must
  /// change little in a time step.
  std::function<void(const CellsToChange<D>& block)> source;
  /// Tag the cells to be refined. Must depend on its argument alone. Without it only the coarsest level exists.
  std::function<void(const CellsToTag<D>& block)> tag;
  double cfl = 0.4;          ///< CFL number of the time step: above 0, at most 1; ignored if `time_step` is given
  double time_step = 0.0;    ///< of the coarsest level; 0: from cfl
  bool is_subcycled = true;  ///< each level takes `ratio` steps in a step of the coarser one; else one
  bool has_reflux = true;    ///< correct coarse cells beside finer ones by the fluxes of the finer level
  int regrid_interval = 8;   ///< steps of a level between regriddings of the levels above it
  int buffer_cells = 4;      ///< cells around a tagged one that are refined with it
  std::int64_t max_cells = std::numeric_limits<std::int64_t>::max();  ///< on all levels together
  /// Limit of the values on a rank, checked before they are allocated. Other data takes about as much again. 0: half of
  /// a rank's share in what its node has available at the start.
  std::uint64_t max_bytes = 0;
  Partition partition = Partition::by_level;  ///< of blocks among ranks; the result is the same
  /// Weigh blocks by the kernel time measured since the last partition, instead of by steps alone: where some cells
  /// cost more than others, or some ranks are slower. The result is the same, but the distribution is not.
  bool weigh_by_time = false;
  exchange::Strategy strategy = exchange::Strategy::automatic;  ///< of all exchanges in a step; the result is the same
};

/// Seconds that a simulation spent on this rank, by phase.
struct SimulationSeconds {
  double kernel = 0.0;       ///< in the workers
  double fill = 0.0;         ///< filling ghosts of tiles: copies, interpolation, boundary conditions
  double exchange = 0.0;     ///< packing, sending, waiting for ghosts
  double coarse_fine = 0.0;  ///< exchange between levels, refluxing
  double time_step = 0.0;    ///< finding the time step
  double regrid = 0.0;       ///< choosing finer levels anew, and moving blocks
  double all = 0.0;          ///< in `step`, with what no phase has
};

/// Saved state from which a simulation continues.
template <std::size_t D>
struct SavedState {
  double time = 0.0;                ///< of all levels
  std::int64_t n_steps = 0;         ///< of the coarsest level, so far
  std::vector<int> n_since_regrid;  ///< steps of each level since the last regridding
  std::vector<BlockId<D>> blocks;   ///< of all levels; each given by one rank, any of them
  /// Fill the values of this rank's blocks. Collective.
  std::function<void(GridFunction<double, D>& state)> fill;
};

/// Simulation of a system of hyperbolic equations on levels of blocks that follow its solution (Berger and Oliger 1984,
/// Berger and Colella 1989): Heun's method in time, with subcycling and refluxing.
///
/// The result is the same to the last bit on any number of ranks, under every exchange strategy, and with every
/// instruction set.
template <std::size_t D>
class Simulation {
 public:
  /// Construct from initial values, and refine them. Collective. The system is shared.
  /// @throws AgreedError{usage} for invalid options, {bad_input} naming a cell with an unphysical state
  Simulation(mpi::Context& context, std::shared_ptr<const System<D>> system, SimulationOptions<D> options);
  /// Construct from a saved state. The run continues to the same bits as without the break. Collective. `initial` is
  /// not needed.
  /// @throws AgreedError{usage} for invalid options; {bad_input} for invalid blocks
  Simulation(mpi::Context& context, std::shared_ptr<const System<D>> system, SimulationOptions<D> options,
             const SavedState<D>& saved);
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) = delete;
  ~Simulation();

  /// Advance all levels by one step of the coarsest, which ends at end_time at the latest. Collective: one reduction
  /// for the time step; regriddings need more; all other messages go to neighbours. @param end_time  above time()
  /// The state is then that of a step without fault: it has been looked at.
  /// @throws AgreedError naming a cell with an unphysical state, or where one flows in; for a given time step above CFL
  /// number 1; {failed} if the refined levels need more than max_cells or max_bytes
  void step(double end_time = std::numeric_limits<double>::infinity());

  /// Return the system of equations, which the simulation shares.
  [[nodiscard]] const System<D>& system() const& noexcept;
  /// Return the time of the state, the same on all levels.
  [[nodiscard]] double time() const noexcept;
  /// Return the steps of the coarsest level so far, with those before a restart.
  [[nodiscard]] std::int64_t n_steps() const noexcept;
  /// Return the steps of each level since the levels above it were last chosen.
  [[nodiscard]] std::vector<int> n_since_regrid() const;
  /// Return the number of cell steps on this rank so far; a step has all stages.
  [[nodiscard]] std::int64_t n_updates() const noexcept;
  /// Return Worker::n_fallbacks of this rank so far.
  [[nodiscard]] std::int64_t n_fallbacks() const noexcept;
  /// Return the seconds of this rank so far, those of construction left out.
  [[nodiscard]] const SimulationSeconds& seconds() const noexcept;
  /// Return the levels of blocks; `step` may change them.
  [[nodiscard]] const Hierarchy<D>& hierarchy() const& noexcept;
  /// Return the conserved variables of this rank's cells; a coarse cell under finer ones has their mean.
  [[nodiscard]] const GridFunction<double, D>& state() const& noexcept;

  /// Mark the cells of a block of this rank that finer blocks cover. Local. @param marks  one for each cell, the first
  /// axis fastest: 1 if it is covered, else 0
  void mark_covered(int level, std::size_t block, std::span<std::uint8_t> marks) const noexcept;

  /// Function that gives `n` numbers for a cell, from its centre and its variables.
  using CellFunction =
      std::function<void(const std::array<double, D>& x, std::span<const double> u, std::span<double> out)>;
  /// Compute the integrals of n functions over the domain, by the finest cells at each point, summed exactly and
  /// rounded once. Collective. The function must throw on all ranks or on none.
  [[nodiscard]] std::vector<double> integrals(int n, const CellFunction& function) const;
  /// Compute the integral of each variable over the domain, summed exactly and rounded once. Collective.
  [[nodiscard]] std::vector<double> totals() const;
  /// Compute a checksum of all values of all levels. It does not depend on the distribution. Collective.
  [[nodiscard]] std::uint64_t checksum() const;
  /// Return the bytes of values, blocks and plans on this rank. Local.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

extern template class Simulation<2>;
extern template class Simulation<3>;

}  // namespace barrio::amr
