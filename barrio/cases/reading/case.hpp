#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "barrio/amr/euler.hpp"
#include "barrio/amr/simulation.hpp"
#include "barrio/cases/formula.hpp"

namespace barrio::cases {

/// Interval of a recurring action.
struct Every {
  double time = 0.0;       ///< interval of time; 0: not by time
  std::int64_t steps = 0;  ///< interval in steps; 0: not by steps
  [[nodiscard]] bool is_never() const noexcept { return time <= 0.0 && steps <= 0; }
};

using NamedFormulas = std::vector<std::pair<std::string, Formula>>;

/// Pictures of a plane: at the start if there is an interval, at intervals, and at the end.
struct SliceCase {
  std::string file;  ///< "{}" in it becomes the number of the picture
  std::string quantity;
  Every every;
  std::size_t axis = 2;           ///< across the plane, in 3-D
  double place = 0.0;             ///< of the plane along that axis
  std::optional<double> lowest;   ///< value of the first colour; else the minimum of the picture
  std::optional<double> highest;  ///< value of the last colour; else the maximum of the picture
  bool has_boxes = true;          ///< outlines of blocks
};

/// Source terms.
struct SourceCase {
  std::vector<Formula> acceleration;             ///< along each axis, or empty
  std::optional<Formula> heating;                ///< energy per unit of volume and time
  std::vector<std::pair<int, Formula>> species;  ///< number from 1, and mass produced per unit of volume and time
  [[nodiscard]] bool is_any() const noexcept { return !acceleration.empty() || heating || !species.empty(); }
};

/// Case: the content of a case file. Formulas are of x, y, z and t; those for cells also of `quantities`.
struct AmrCase {
  std::string title;
  std::size_t n_axes = 0;
  std::array<std::int64_t, 3> n_cells{};
  std::array<double, 3> low{};
  std::array<double, 3> high{};
  std::array<std::array<amr::BoundaryCondition, 2>, 3> boundary{};
  std::array<bool, 3> is_periodic{};
  int n_levels = 1;
  int ratio = 2;
  int block_cells = 16;

  double gamma = 0.0;
  int n_species = 0;
  bool flattens_shocks = false;
  bool falls_back = true;
  bool sharpens_contacts = false;
  amr::RiemannSolver riemann_solver = amr::RiemannSolver::hllc;
  std::vector<std::string> quantities;  ///< names of the numbers of a cell, in the order of Euler::quantities
  /// Density, velocity along the axes, pressure, mass fractions of species.
  std::vector<Formula> initial;
  std::vector<Formula> inflow;
  SourceCase source;

  std::vector<std::pair<int, double>> jumps;  ///< quantity, and largest change to the next cell without refining
  std::vector<std::pair<int, double>> relative_jumps;  ///< the same over the smaller of both values
  std::optional<Formula> where;                        ///< also of `level`
  int regrid_interval = 8;
  int buffer_cells = 4;
  std::int64_t max_cells = 0;
  std::int64_t max_bytes = 0;  ///< 0: by the memory there is

  double end_time = std::numeric_limits<double>::infinity();
  std::int64_t n_steps = std::numeric_limits<std::int64_t>::max();
  double cfl = 0.4;
  double time_step = 0.0;
  double wall_time = 0.0;  ///< seconds after which the run ends early; 0: never
  bool is_subcycled = true;
  bool has_reflux = true;
  amr::Partition partition = amr::Partition::by_level;
  bool weigh_by_time = false;

  std::string output_file;
  Every output_every;
  bool is_one_file = true;
  std::vector<std::string> output_quantities;
  std::string checkpoint_file;
  Every checkpoint_every;
  std::vector<SliceCase> slices;

  NamedFormulas integrals;
  Every series_every;
  NamedFormulas exact;
  std::map<std::string, double> max_error;  ///< of a quantity, and "together"

  /// Names that formulas of a point may use; formulas of cells may use `cell_names`.
  static std::vector<std::string> place_names() { return {"x", "y", "z", "t"}; }
  [[nodiscard]] std::vector<std::string> cell_names() const;
};

/// Read a case from the text of its file. Local. @param settings  replace values of the file
/// @throws Error{bad_input} with file, line and key; {usage} for an invalid setting
[[nodiscard]] AmrCase read_case(const std::string& file, const std::string& text,
                                const std::vector<std::string>& settings);

}  // namespace barrio::cases
