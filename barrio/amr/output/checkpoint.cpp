#include "barrio/amr/checkpoint.hpp"

#include <fmt/format.h>

#include <bit>
#include <span>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/files/writer.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::amr {
namespace {

constexpr std::int64_t version = 1;

std::string group_of(int level) { return fmt::format("/amr/level_{}", level); }

/// Description of a grid in numbers.
template <std::size_t D>
struct Description {
  std::vector<std::int64_t> integers;
  std::vector<double> reals;
};
template <std::size_t D>
Description<D> describe(const GridOptions<D>& grid, std::int64_t n_variables) {
  Description<D> of{.integers = {version, D, n_variables, grid.n_levels, grid.ratio, grid.block_cells}, .reals = {}};
  for (std::size_t k = 0; k < D; ++k) {
    of.integers.push_back(grid.n_cells[k]);
    of.integers.push_back(grid.is_periodic[k] ? 1 : 0);
    of.reals.push_back(grid.low[k]);
    of.reals.push_back(grid.cell_size[k]);
  }
  return of;
}

/// Return the row of this rank's first block of a level in the file.
template <std::size_t D>
std::int64_t first_row(const Hierarchy<D>& hierarchy, int level) {
  const std::int64_t n = std::ssize(hierarchy.blocks(level));
  return mpi::exclusive_sum(hierarchy.context(), n);
}

}  // namespace

template <std::size_t D>
void write_checkpoint(const Simulation<D>& simulation, const std::string& path) {
  const Hierarchy<D>& hierarchy = simulation.hierarchy();
  mpi::Context& context = hierarchy.context();
  const int n_variables = simulation.state().n_components();
  const std::int64_t row_size = hierarchy.space().block_size() * n_variables;
  std::uint64_t expected = 0;
  for (int level = 0; level < hierarchy.n_levels(); ++level)
    expected += hierarchy.n_global(level) * row_size * sizeof(double);
  const std::uint64_t checksum = simulation.checksum();
  files::FileWriter file(context, path, expected);
  file.make_group("/amr");
  file.write_attribute("/amr", "system", simulation.system().description());
  const Description<D> grid = describe(hierarchy.space().options(), n_variables);
  file.write_small<std::int64_t>("/amr/grid", grid.integers);
  file.write_small<double>("/amr/places", grid.reals);
  file.write_small<double>("/amr/time", std::vector<double>{simulation.time()});
  std::vector<std::int64_t> state{simulation.n_steps(), std::bit_cast<std::int64_t>(checksum)};
  for (const int n : simulation.n_since_regrid()) state.push_back(n);
  for (int level = 0; level < hierarchy.n_levels(); ++level) state.push_back(hierarchy.n_global(level));
  file.write_small<std::int64_t>("/amr/state", state);
  for (int level = 0; level < hierarchy.n_levels(); ++level) {
    if (hierarchy.n_global(level) == 0) continue;
    file.make_group(group_of(level));
    const auto blocks = hierarchy.blocks(level);
    std::vector<std::int64_t> places;
    for (const auto& block : blocks) places.insert(places.end(), block.at.begin(), block.at.end());
    const std::int64_t first = first_row(hierarchy, level);
    file.write_rows<std::int64_t>(group_of(level) + "/blocks", hierarchy.n_global(level), D, first, places);
    const auto values = file.make_rows<double>(group_of(level) + "/values", hierarchy.n_global(level), row_size);
    for (std::int64_t b = 0; b < std::ssize(blocks); ++b)
      file.put_rows<double>(values, first + b, simulation.state().values(level, b));
  }
  file.close();
}

namespace {

/// Check the description in a checkpoint, and return its numbers of the state, the same on all ranks. Collective.
template <std::size_t D>
std::vector<std::int64_t> read_description(files::SharedFile& file, mpi::Context& context, const std::string& path,
                                           const System<D>& system, const SimulationOptions<D>& options) {
  if (!files::has(file.get(), "/amr/grid"))
    refuse_together(ErrorCode::bad_input, path, "is not a checkpoint of barrio amr");
  const Description<D> wanted = describe(options.grid, std::ssize(system.variables()));
  const std::vector<std::int64_t> integers = files::read_integers(file.get(), "/amr/grid");
  if (integers.empty() || integers.front() != version)
    refuse_together(ErrorCode::bad_input, path, "was written by another version of barrio");
  agree_after(context, [&] {
    const files::NativeValues text = files::read_native_attribute(file.get(), "/amr", "system");
    const std::string written = files::trimmed({reinterpret_cast<const char*>(text.bytes.data()), text.bytes.size()});
    if (written != system.description())
      refuse(ErrorCode::bad_input, path, fmt::format("was written for another system: {}", written),
             fmt::format("this run has: {}", system.description()));
  });
  if (integers != wanted.integers || files::read_reals(file.get(), "/amr/places") != wanted.reals)
    refuse_together(ErrorCode::bad_input, path, "was written for another grid",
                    "give the grid that it was written with");
  std::vector<std::int64_t> state = files::read_integers(file.get(), "/amr/state");
  if (std::ssize(state) != 2 + 2 * options.grid.n_levels)
    refuse_together(ErrorCode::bad_input, path, "does not have the state of each level", damaged_remedy);
  return state;
}

/// Read an equal part of the blocks on each rank; the hierarchy finds their owners.
template <std::size_t D>
std::vector<BlockId<D>> read_blocks(files::SharedFile& file, mpi::Context& context, std::span<const std::int64_t> n) {
  std::vector<BlockId<D>> blocks;
  for (int level = 0; level < std::ssize(n); ++level) {
    if (n[level] == 0) continue;
    const std::int64_t first = n[level] * context.rank() / context.size();
    const std::int64_t end = n[level] * (context.rank() + 1) / context.size();
    const std::vector<std::int64_t> places =
        files::read_integers(file.get(), group_of(level) + "/blocks", {.first = first, .count = end - first});
    for (std::size_t i = 0; i + D <= places.size(); i += D) {
      BlockId<D> block{.at = {}, .level = level};
      for (std::size_t k = 0; k < D; ++k) block.at[k] = places[i + k];
      blocks.push_back(block);
    }
  }
  return blocks;
}

/// Read the values of this rank's blocks: one run of rows on each level, since both follow the curve.
template <std::size_t D>
void read_values(files::SharedFile& file, const std::string& path, GridFunction<double, D>& state) {
  const Hierarchy<D>& hierarchy = state.hierarchy();
  const std::size_t row_size = hierarchy.space().block_size() * state.n_components();
  for (int level = 0; level < hierarchy.n_levels(); ++level) {
    if (hierarchy.n_global(level) == 0) continue;
    const std::int64_t n = std::ssize(hierarchy.blocks(level));
    const std::int64_t first = first_row(hierarchy, level);
    const std::vector<double> values =
        files::read_reals(file.get(), group_of(level) + "/values", {.first = first, .count = n});
    agree_after(hierarchy.context(), [&] {
      if (values.size() != n * row_size)
        refuse(ErrorCode::bad_input, path, fmt::format("level {} has rows of another length", level), damaged_remedy);
    });
    for (std::int64_t b = 0; b < n; ++b)
      std::ranges::copy(std::span(values).subspan(b * row_size, row_size), state.values(level, b).begin());
  }
}

}  // namespace

template <std::size_t D>
Simulation<D> read_checkpoint(mpi::Context& context, std::shared_ptr<const System<D>> system,
                              SimulationOptions<D> options, const std::string& path) {
  files::SharedFile file = files::open_to_read(context, path);
  return files::or_close(file, [&] {
    const std::vector<std::int64_t> numbers = read_description(file, context, path, *system, options);
    const int n_levels = options.grid.n_levels;
    SavedState<D> saved;
    const std::vector<double> time = files::read_reals(file.get(), "/amr/time");
    if (time.size() != 1) refuse_together(ErrorCode::bad_input, path, "has no time", damaged_remedy);
    saved.time = time.front();
    saved.n_steps = numbers[0];
    for (int level = 0; level < n_levels; ++level) saved.n_since_regrid.push_back(static_cast<int>(numbers[2 + level]));
    saved.blocks = read_blocks<D>(file, context, std::span(numbers).subspan(2 + n_levels));
    saved.fill = [&](GridFunction<double, D>& state) { read_values(file, path, state); };
    Simulation<D> simulation(context, std::move(system), std::move(options), saved);
    if (simulation.checksum() != std::bit_cast<std::uint64_t>(numbers[1]))
      refuse_together(ErrorCode::bad_input, path, "has other values than were written", damaged_remedy);
    file.close();
    return simulation;
  });
}

template void write_checkpoint<2>(const Simulation<2>&, const std::string&);
template void write_checkpoint<3>(const Simulation<3>&, const std::string&);
template Simulation<2> read_checkpoint<2>(mpi::Context&, std::shared_ptr<const System<2>>, SimulationOptions<2>,
                                          const std::string&);
template Simulation<3> read_checkpoint<3>(mpi::Context&, std::shared_ptr<const System<3>>, SimulationOptions<3>,
                                          const std::string&);

}  // namespace barrio::amr
