#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/formula.hpp"
#include "barrio/amr/euler.hpp"
#include "barrio/amr/simulation.hpp"

namespace barrio::apps {

/// When something is done again and again.
struct Every {
  double time = 0.0;       ///< after so much of it; 0: not so
  std::int64_t steps = 0;  ///< after so many; 0: not so
  [[nodiscard]] bool is_never() const noexcept { return time <= 0.0 && steps <= 0; }
};

using NamedFormulas = std::vector<std::pair<std::string, Formula>>;

/// A picture of a plane, at the begin, at intervals and at the end.
struct SliceCase {
  std::string file;  ///< "{}" in it becomes the number of the picture
  std::string quantity;
  Every every;
  std::size_t axis = 2;          ///< across the plane, in 3-D
  double place = 0.0;            ///< along it
  std::optional<double> lowest;  ///< for the first colour; else the least value
  std::optional<double> highest;
  bool has_boxes = true;  ///< outlines of blocks
};

/// What changes in cells besides what flows.
struct SourceCase {
  std::vector<Formula> acceleration;             ///< along each axis, or none
  std::optional<Formula> heating;                ///< energy per unit of volume and time
  std::vector<std::pair<int, Formula>> species;  ///< number from 1, and mass made of it per unit of volume and time
  [[nodiscard]] bool is_any() const noexcept { return !acceleration.empty() || heating || !species.empty(); }
};

/// What a case file asks for. Formulas are of x, y, z, t, and for cells of what `quantities` names too.
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
  bool sharpens_contacts = false;
  amr::RiemannSolver riemann_solver = amr::RiemannSolver::hllc;
  std::vector<std::string> quantities;  ///< names of the numbers of a cell, as Euler::quantities
  /// Density, velocity along the axes, pressure, parts of species.
  std::vector<Formula> initial;
  std::vector<Formula> inflow;
  SourceCase source;

  std::vector<std::pair<int, double>> jumps;           ///< quantity and most change from a cell to the next
  std::vector<std::pair<int, double>> relative_jumps;  ///< by the smaller of the two
  std::optional<Formula> where;                        ///< of `level` too
  int regrid_interval = 8;
  int buffer_cells = 4;
  std::int64_t max_cells = 0;
  std::int64_t max_bytes = 0;  ///< 0: any

  double end_time = std::numeric_limits<double>::infinity();
  std::int64_t n_steps = std::numeric_limits<std::int64_t>::max();
  double cfl = 0.4;
  double time_step = 0.0;
  bool is_subcycled = true;
  bool has_reflux = true;
  amr::Partition partition = amr::Partition::by_level;
  bool weighs_by_time = false;

  std::string output_file;
  Every output_every;
  std::vector<std::string> output_quantities;
  std::string checkpoint_file;
  Every checkpoint_every;
  std::vector<SliceCase> slices;

  NamedFormulas integrals;
  Every series_every;
  NamedFormulas exact;
  std::map<std::string, double> max_error;  ///< of a quantity, and "together"

  /// Names of what formulas for places are given, and those for cells.
  static std::vector<std::string> place_names() { return {"x", "y", "z", "t"}; }
  [[nodiscard]] std::vector<std::string> cell_names() const;
};

/// Read a case from the text of its file. Local. @param settings  laid over it
/// @throws Error{bad_input} with file, line and key; {usage} for a setting that is none
[[nodiscard]] AmrCase read_case(const std::string& file, const std::string& text,
                                const std::vector<std::string>& settings);

}  // namespace barrio::apps
