#include "barrio/amr/simulation_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "barrio/base/error.hpp"
#include "barrio/base/json.hpp"
#include "barrio/base/path.hpp"
#include "barrio/base/temporary_file.hpp"
#include "barrio/files/overlapping_amr.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

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

/// Return the time below which a state is before another one, rounding aside.
double before(double time) { return time - 1e-9 * std::abs(time); }

constexpr std::string_view extension = ".vtkhdf";

}  // namespace

template <std::size_t D>
SimulationFile<D>::SimulationFile(std::string path, const Simulation<D>& simulation,
                                  std::vector<OutputQuantity> quantities, const SeriesOptions& options)
    : context_(simulation.hierarchy().context()),
      path_(std::move(path)),
      quantities_(or_all_variables(simulation, std::move(quantities))),
      options_(options),
      geometry_(geometry_of(simulation.hierarchy().space())) {
  if (!path_.ends_with(extension)) refuse_together(ErrorCode::usage, path_, fmt::format("must end in {}", extension));
  begin(simulation.time());
}

template <std::size_t D>
std::string SimulationFile<D>::in_folder(const std::string& name) const {
  return (std::filesystem::path(path_).parent_path() / name).string();
}

template <std::size_t D>
std::string SimulationFile<D>::name() const {
  return is_one_file_ ? path_ : list_name();
}

/// Return the start of the names of states.
template <std::size_t D>
std::string SimulationFile<D>::stem() const {
  const std::string name = std::filesystem::path(path_).filename().string();
  return name.substr(0, name.size() - extension.size()) + ".";
}

/// Tell whether a file has a name that this series gives: a list may name others.
template <std::size_t D>
bool SimulationFile<D>::is_of_series(const std::string& name) const {
  const std::size_t first = stem().size();
  if (!name.starts_with(stem()) || !name.ends_with(extension) || name.size() <= first + extension.size()) return false;
  return std::ranges::all_of(name.substr(first, name.size() - first - extension.size()),
                             [](char c) { return c >= '0' && c <= '9'; });
}

/// Find the states of an earlier run. Those that are not to remain do so until a state of this one is written.
template <std::size_t D>
void SimulationFile<D>::begin(double time) {
  mpi::agree_after(context_, [&] {
    if (!context_.is_root()) return;
    for (const std::string& name : {path_, list_name()})
      if (const std::string reason = why_not_replaceable(name); !reason.empty()) throw cannot_write(name, reason);
    std::error_code none;
    if (!std::filesystem::exists(list_name(), none)) return;
    const Json list = read_json_file(list_name());
    for (const Json& one : list.value("files", Json::array())) {
      if (!one.is_object()) continue;
      State state{one.value("name", ""), one.value("time", 0.0)};
      if (!is_of_series(state.name)) continue;
      if (options_.goes_on && state.time < before(time) && std::filesystem::exists(in_folder(state.name), none))
        states_.push_back(std::move(state));
      else
        replaced_.push_back(std::move(state.name));
    }
  });
  std::vector<double> times;
  std::string names;  // each with an end of line
  for (const State& state : states_) {
    times.push_back(state.time);
    names += state.name + "\n";
  }
  mpi::broadcast(context_, times);
  mpi::broadcast(context_, names);
  states_.resize(times.size());
  for (std::size_t i = 0, first = 0; i < states_.size(); ++i) {
    const std::size_t end = names.find('\n', first);
    states_[i] = {names.substr(first, end - first), times[i]};
    first = end + 1;
  }
  if (options_.goes_on) find_earlier(states_.empty() ? time : states_[0].time);
}

/// Count the states in the one file of an earlier run that are before a time.
template <std::size_t D>
void SimulationFile<D>::find_earlier(double time) {
  std::error_code none;
  if (mpi::max(context_, context_.is_root() && std::filesystem::exists(path_, none) ? 1 : 0) == 0) return;
  const files::OverlappingAmrSteps steps(context_, path_);
  n_earlier_ = std::ranges::count_if(steps.times(), [&](double one) { return one < before(time); });
}

/// Write the list of the states, in the format of ParaView, and remove those that they replace.
template <std::size_t D>
void SimulationFile<D>::write_list() {
  mpi::agree_after(context_, [&] {
    if (!context_.is_root()) return;
    Json list{{"file-series-version", "1.0"}, {"files", Json::array()}};
    for (const State& state : states_) list["files"].push_back({{"name", state.name}, {"time", state.time}});
    write_file_atomically(list_name(), list.dump(2) + "\n");
    std::error_code none;
    for (const std::string& name : replaced_)
      if (std::ranges::find(states_, name, &State::name) == states_.end())
        std::filesystem::remove(in_folder(name), none);
    replaced_.clear();
  });
}

template <std::size_t D>
void SimulationFile<D>::remove_states() {
  mpi::agree_after(context_, [&] {
    if (!context_.is_root()) return;
    std::error_code none;
    std::filesystem::remove(list_name(), none);
    for (const State& state : states_) std::filesystem::remove(in_folder(state.name), none);
    for (const std::string& name : replaced_) std::filesystem::remove(in_folder(name), none);
  });
}

template <std::size_t D>
void SimulationFile<D>::close() {
  if (!options_.is_one_file || is_one_file_) return;
  if (n_states() == 0) return;
  files::OverlappingAmrFile all(context_, path_, bytes_, geometry_, true);
  if (n_earlier_ > 0) {
    const files::OverlappingAmrSteps earlier(context_, path_);
    for (std::size_t step = 0; step < n_earlier_; ++step) earlier.copy(step, all);
  }
  for (const State& state : states_) files::OverlappingAmrSteps(context_, in_folder(state.name)).copy(0, all);
  all.close();
  remove_states();
  is_one_file_ = true;
}

template <std::size_t D>
void SimulationFile<D>::write(const Simulation<D>& simulation) {
  const Hierarchy<D>& hierarchy = simulation.hierarchy();
  const BlockSpace<D>& space = hierarchy.space();
  const State added{fmt::format("{}{:05}{}", stem(), n_states(), extension), simulation.time()};
  const std::uint64_t expected = expected_bytes<D>(simulation, quantities_);
  files::OverlappingAmrFile file(context_, in_folder(added.name), expected, geometry_, true);
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
  file.make_boxes(boxes);
  const std::size_t n_cells = space.block_size();
  const std::size_t n_variables = simulation.state().n_components();
  std::vector<double> u(n_variables);
  std::vector<double> values;
  for (const OutputQuantity& quantity : quantities_) {
    const auto rows = file.make_array<double>(quantity.name, quantity.width);
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
        file.put_array<double>(rows, level, b, values);
      }
    }
  }
  file.end_step(simulation.time());
  file.close();
  bytes_ += expected;
  states_.push_back(added);
  write_list();
}

template class SimulationFile<2>;
template class SimulationFile<3>;

}  // namespace barrio::amr
