#include "barrio/amr/simulation_file.hpp"

#include <algorithm>
#include <array>

namespace barrio::amr {
namespace {

template <std::size_t D>
files::AmrGeometry geometry_of(const BlockSpace<D>& space) {
  files::AmrGeometry geometry;
  const double thickness = *std::ranges::min_element(space.options().cell_size);
  double of_level = 1.0;
  for (std::size_t k = 0; k < D; ++k) geometry.origin[k] = space.options().low[k];
  for (int level = 0; level < space.n_levels(); ++level, of_level *= space.ratio()) {
    std::array<double, 3> size{0.0, 0.0, thickness / of_level};
    std::ranges::copy(space.cell_size(level), size.begin());
    geometry.spacing.push_back(size);
  }
  return geometry;
}

/// Return the layers of a plane grid. It is one coarse cell thick on each level: readers hide a cell only where finer
/// cells cover all of it.
template <std::size_t D>
std::int64_t layers_of(const BlockSpace<D>& space, int level) {
  std::int64_t n = 1;
  if (D == 2)
    for (int l = 0; l < level; ++l) n *= space.ratio();
  return n;
}

template <std::size_t D>
std::uint64_t expected_bytes(const Simulation<D>& simulation, std::span<const OutputQuantity> quantities) {
  std::uint64_t n = 0;
  for (int level = 0; level < simulation.hierarchy().n_levels(); ++level)
    n += simulation.hierarchy().n_global(level) * simulation.hierarchy().space().block_size() *
         layers_of(simulation.hierarchy().space(), level);
  std::uint64_t width = 0;
  for (const OutputQuantity& one : quantities) width += one.width;
  return n * width * sizeof(double);
}

template <std::size_t D>
std::vector<OutputQuantity> or_all_variables(const Simulation<D>& simulation, std::vector<OutputQuantity> quantities) {
  if (!quantities.empty()) return quantities;
  for (const std::string& name : simulation.system().variables()) {
    const std::size_t v = quantities.size();
    quantities.push_back({.name = name, .width = 1, .compute = [v](std::span<const double> u, std::span<double> out) {
                            out[0] = u[v];
                          }});
  }
  return quantities;
}

}  // namespace

template <std::size_t D>
SimulationFile<D>::SimulationFile(const std::string& path, const Simulation<D>& simulation,
                                  std::vector<OutputQuantity> quantities)
    : quantities_(or_all_variables(simulation, std::move(quantities))),
      file_(simulation.hierarchy().context(), path, expected_bytes<D>(simulation, quantities_),
            geometry_of(simulation.hierarchy().space()), true) {}

template <std::size_t D>
void SimulationFile<D>::write(const Simulation<D>& simulation) {
  const Hierarchy<D>& hierarchy = simulation.hierarchy();
  const BlockSpace<D>& space = hierarchy.space();
  std::vector<std::vector<files::OverlappingAmrFile::Box>> boxes(hierarchy.n_levels());
  for (int level = 0; level < hierarchy.n_levels(); ++level) {
    for (const auto& block : hierarchy.blocks(level)) {
      files::OverlappingAmrFile::Box box{{0, 0, 0}, {1, 1, layers_of(space, level)}};
      const auto cells = space.cells(block.at);
      std::ranges::copy(cells.low, box.low.begin());
      std::ranges::copy(cells.high, box.high.begin());
      boxes[level].push_back(box);
    }
  }
  file_.make_boxes(boxes);
  const std::size_t n_cells = space.block_size();
  const std::size_t n_variables = simulation.state().n_components();
  std::vector<double> u(n_variables);
  std::vector<double> values;
  for (const OutputQuantity& quantity : quantities_) {
    const auto rows = file_.make_array<double>(quantity.name, quantity.width);
    const std::size_t width = quantity.width;
    for (int level = 0; level < hierarchy.n_levels(); ++level) {
      const std::size_t n_layers = layers_of(space, level);
      values.resize(n_cells * width * n_layers);
      for (std::size_t b = 0; b < hierarchy.blocks(level).size(); ++b) {
        const std::span<const double> state = simulation.state().values(level, b);
        for (std::size_t n = 0; n < n_cells; ++n) {
          for (std::size_t v = 0; v < n_variables; ++v) u[v] = state[v * n_cells + n];
          quantity.compute(u, std::span(values).subspan(n * width, width));
        }
        for (std::size_t layer = 1; layer < n_layers; ++layer)
          std::copy_n(values.begin(), n_cells * width, values.begin() + layer * n_cells * width);
        file_.put_array<double>(rows, level, b, values);
      }
    }
  }
  file_.end_step(simulation.time());
}

template class SimulationFile<2>;
template class SimulationFile<3>;

}  // namespace barrio::amr
