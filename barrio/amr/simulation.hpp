#pragma once

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

/// What stands beyond an end of the domain that is not periodic.
enum class BoundaryCondition {
  outflow,  ///< what stands at the end
  wall,     ///< its mirror image
  inflow,   ///< a state that the caller prescribes (Dirichlet)
};

/// Cells of a block among which those are to be found that need a finer level.
template <std::size_t D>
struct CellsToTag {
  int level;
  double time;
  const BlockSpace<D>& space;    ///< says where cells stand
  CellView<D> u;                 ///< with ghosts; those beyond edges and corners only if the system uses them
  geometry::IndexBox<D> cells;   ///< of the block
  std::span<std::uint8_t> tags;  ///< one a cell of the block, the first axis first; 0 until set
};

/// Cells of a block in which something changes besides what flows through their faces.
template <std::size_t D>
struct CellsToChange {
  int level;
  double time;
  const BlockSpace<D>& space;   ///< says where cells stand
  CellView<D> u;                ///< without ghosts
  geometry::IndexBox<D> cells;  ///< of the block
  CellView<D> change;           ///< per unit of time; 0 until set
};

template <std::size_t D>
struct SimulationOptions {
  GridOptions<D> grid;
  std::array<std::array<BoundaryCondition, 2>, D> boundary{};  ///< low and high along each axis
  /// The conserved variables in a cell at a place, at the start; and beyond faces that are `inflow`, at a time.
  std::function<void(const std::array<double, D>& x, std::span<double> u)> initial;
  std::function<void(const std::array<double, D>& x, double time, std::span<double> u)> inflow;
  /// What changes besides, as by gravity or heating. Must depend on what it is given alone. Explicit: it must change
  /// little in a time step.
  std::function<void(const CellsToChange<D>& block)> source;
  /// Which cells are to be refined. Must depend on what it is given alone.
  std::function<void(const CellsToTag<D>& block)> tag;
  double cfl = 0.4;
  double time_step = 0.0;    ///< of the coarsest level; 0: by cfl
  bool is_subcycled = true;  ///< finer levels take as many more steps as they are finer
  bool has_reflux = true;
  int regrid_interval = 8;  ///< steps of each level after which finer ones are chosen anew
  int buffer_cells = 4;     ///< around tagged cells that are refined with them
  std::int64_t max_cells = std::numeric_limits<std::int64_t>::max();  ///< on all levels together
  /// Of values on a rank, before they are made. What is beside them takes about as much again.
  std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
  Partition partition = Partition::by_level;
  /// Share out by the time that blocks took in the kernel since that was done last, instead of by steps alone: where
  /// some cells cost more than others, or some ranks are slower. The result is the same, but who has what is not.
  bool weighs_by_time = false;
  exchange::Strategy strategy = exchange::Strategy::automatic;
};

/// Where the time of a simulation went, on this rank. Seconds.
struct SimulationSeconds {
  double kernel = 0.0;       ///< in the workers
  double fill = 0.0;         ///< ghosts of tiles: copies, interpolation, ends
  double exchange = 0.0;     ///< packing, sending, waiting for ghosts
  double coarse_fine = 0.0;  ///< what levels give each other, refluxing
  double time_step = 0.0;    ///< finding it
  double regrid = 0.0;
  double all = 0.0;
};

/// A state to go on from.
template <std::size_t D>
struct SavedState {
  double time = 0.0;
  std::int64_t n_steps = 0;
  std::vector<int> n_since_regrid;  ///< steps of each level since finer ones were chosen
  std::vector<BlockId<D>> blocks;   ///< of all levels; each from one rank, whichever
  /// Fill in the values of the blocks that this rank got. Collective.
  std::function<void(GridFunction<double, D>& state)> fill;
};

/// Solve a system of hyperbolic equations on levels of blocks that follow its solution (Berger and Oliger 1984, Berger
/// and Colella 1989): Heun's method in time, with subcycling and refluxing.
///
/// The result is the same to the last bit on any number of ranks, under every strategy of messages, and with every
/// instruction set.
template <std::size_t D>
class Simulation {
 public:
  /// Refine the initial values and begin. Collective. The system is shared.
  /// @throws AgreedError{usage} for options that cannot be
  Simulation(mpi::Context& context, std::shared_ptr<const System<D>> system, SimulationOptions<D> options);
  /// Go on from a state, to the bits that would have come without the break. Collective. `initial` is not needed.
  /// @throws AgreedError{usage} for options that cannot be; {bad_input} for blocks that cannot
  Simulation(mpi::Context& context, std::shared_ptr<const System<D>> system, SimulationOptions<D> options,
             const SavedState<D>& saved);
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) = delete;
  ~Simulation();

  /// One step of the coarsest level, a shorter one if it would reach beyond a time, which is above time(). Collective:
  /// a reduction for the time step; all else goes to neighbours.
  /// @throws AgreedError naming a cell whose state cannot be: {bad_input} before the first step, then {failed};
  /// the same for a given time step above CFL number 1; {failed} if more cells are to be refined than max_cells or
  /// max_bytes allows
  void step(double end_time = std::numeric_limits<double>::infinity());

  [[nodiscard]] const System<D>& system() const& noexcept;
  [[nodiscard]] double time() const noexcept;
  [[nodiscard]] std::int64_t n_steps() const noexcept;
  /// Steps of each level since finer ones were chosen anew.
  [[nodiscard]] std::vector<int> n_since_regrid() const;
  /// Steps of cells on this rank so far, each through all stages.
  [[nodiscard]] std::int64_t n_updates() const noexcept;
  [[nodiscard]] const SimulationSeconds& seconds() const noexcept;
  [[nodiscard]] const Hierarchy<D>& hierarchy() const& noexcept;
  [[nodiscard]] const GridFunction<double, D>& state() const& noexcept;

  /// Mark the cells of a block of this rank that finer blocks cover. Local. @param marks  one a cell, the first axis
  /// first: 1 if it is covered, else 0
  void mark_covered(int level, std::size_t block, std::span<std::uint8_t> marks) const noexcept;

  /// Gives `n` numbers for a cell by its middle and its variables.
  using CellFunction =
      std::function<void(const std::array<double, D>& x, std::span<const double> u, std::span<double> out)>;
  /// The integral of each of n functions over the domain, of the finest cells at each place, summed exactly and rounded
  /// once. Collective. The function must throw on all ranks or on none.
  [[nodiscard]] std::vector<double> integrals(int n, const CellFunction& function) const;
  /// The integral of each variable over the domain, summed exactly and rounded once. Collective.
  [[nodiscard]] std::vector<double> totals() const;
  /// Of all values of all levels; the same for the same bits, however they are shared out. Collective.
  [[nodiscard]] std::uint64_t checksum() const;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

extern template class Simulation<2>;
extern template class Simulation<3>;

}  // namespace barrio::amr
