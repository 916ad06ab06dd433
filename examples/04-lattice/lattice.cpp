// A reactor core: assemblies of a dozen kinds, each meshed once, copied, moved to their positions, and joined where
// they touch. Each vertex is in the file once.
//
//   barrio --ranks 4 exec lattice --rings 5 -o core
//   barrio --ranks 4 exec lattice --squares 7 5 -o core
//
// This is the problem of table I in Tautges et al. 2012, section V; table.py prints both results.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <barrio/io/write.hpp>
#include <barrio/mesh/join.hpp>
#include <barrio/mesh/mesh.hpp>
#include <barrio/mpi/collectives.hpp>
#include <barrio/mpi/report.hpp>
#include <barrio/mpi/run.hpp>
#include <cmath>
#include <cstdio>
#include <optional>

#include "core.hpp"

namespace {

using barrio::AgreedError;
using barrio::Dim;
using barrio::ErrorCode;
using barrio::Json;
using barrio::mesh::Joint;
using barrio::mesh::MeshTables;

struct Options {
  lattice::Core core;
  double tolerance = 1e-6;
  std::string output;
};

std::optional<Options> parse(barrio::Context& context, int argc, char** argv) {
  Options options;
  std::vector<int> squares;
  lattice::Core& core = options.core;
  CLI::App app{"A reactor core: assemblies of several kinds, copied, moved and joined"};
  app.add_option("--rings", core.n_rings, "Number of rings of hexagonal assemblies")
      ->check(CLI::Range(1, 30))
      ->capture_default_str();
  app.add_option("--squares", squares, "Use square assemblies, this many along x and y")
      ->expected(2)
      ->check(CLI::Range(1, 60))
      ->excludes("--rings");
  app.add_option("--kinds", core.n_kinds, "Kinds of assembly")
      ->check(CLI::Range(1, lattice::max_kinds))
      ->capture_default_str();
  app.add_option("--pins", core.n_pins, "Pins along a side of an assembly")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--cells-per-pin", core.cells_per_pin, "Hexes along a side of the cell around a pin; must be even")
      ->check(CLI::Range(4, 100))
      ->capture_default_str();
  app.add_option("--layers", core.n_layers, "Hexes along the height")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--tolerance", options.tolerance, "Merge vertices within this distance; sides have the length 1")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("-o,--output", options.output, "Write OUTPUT.h5m and OUTPUT.vtkhdf");
  try {
    app.parse(argc, argv);
    if (core.cells_per_pin % 2 != 0)
      throw CLI::ValidationError("--cells-per-pin", fmt::format("{} is not even", core.cells_per_pin));
  } catch (const CLI::Success& wanted) {
    if (context.is_root()) app.exit(wanted);
    return {};
  } catch (const CLI::ParseError& error) {
    throw AgreedError(ErrorCode::usage, {.subject = "lattice", .cause = error.what(), .remedy = "see --help"});
  }
  if (!squares.empty()) {
    core.shape = lattice::Shape::square;
    core.n = {squares[0], squares[1]};
  }
  return options;
}

/// Stopwatch for phases: seconds of the slowest rank, by name.
class Laps {
 public:
  explicit Laps(barrio::Context& context) : context_(context) { barrier(); }
  void lap(const char* name) {
    seconds_[name] = barrio::mpi::max(context_, MPI_Wtime() - begin_);
    barrier();
  }
  [[nodiscard]] const Json& seconds() const { return seconds_; }

 private:
  void barrier() {
    barrio::mpi::barrier(context_);
    begin_ = MPI_Wtime();
  }
  barrio::Context& context_;
  double begin_ = 0.0;
  Json seconds_;
};

/// Return the volume of all cells, each of six tets around the diagonal. Collective.
double volume_of(const barrio::Mesh& mesh) {
  constexpr std::array<std::array<std::size_t, 2>, 6> edges{{{1, 2}, {2, 3}, {3, 7}, {7, 4}, {4, 5}, {5, 1}}};
  const auto& x = mesh.vertices().coordinates;
  double sum = 0.0;
  for (std::size_t cell = 0; cell < mesh.n_owned(Dim::volume); ++cell) {
    const auto nodes = mesh.cells().nodes_of(cell);
    const auto from_first = [&](std::size_t corner) {
      std::array<double, 3> d{};
      for (std::size_t k = 0; k < 3; ++k) d[k] = x[3 * index(nodes[corner]) + k] - x[3 * index(nodes[0]) + k];
      return d;
    };
    const auto c = from_first(6);
    for (const auto& [i, j] : edges) {
      const auto a = from_first(i);
      const auto b = from_first(j);
      sum += (a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
              a[2] * (b[0] * c[1] - b[1] * c[0])) /
             6.0;
    }
  }
  return barrio::mpi::sum(mesh.context(), sum);
}

/// Count the sides on which all vertices of both assemblies have a partner.
std::int64_t n_whole_sides(const std::vector<Joint>& joints, std::int64_t n_on_side) {
  return std::ranges::count_if(joints, [&](const Joint& joint) {
    return joint.n_matched == 2 * n_on_side && joint.n_ambiguous == 0 && joint.n_chained == 0;
  });
}

void check(const lattice::Expected& expected, const barrio::mesh::JoinReport& report, const barrio::Mesh& mesh,
           double volume) {
  const auto fail = [](const std::string& cause) {
    throw AgreedError(ErrorCode::differs, {.subject = "lattice", .cause = cause, .remedy = "try another tolerance"});
  };
  if (mesh.n_global(Dim::volume) != expected.n_cells)
    fail(fmt::format("has {} cells, but must have {}", mesh.n_global(Dim::volume), expected.n_cells));
  if (const auto n = n_whole_sides(report.joints, expected.n_on_side); n != expected.n_sides)
    fail(fmt::format("has {} completely joined sides, but must have {}", n, expected.n_sides));
  if (report.n_vertices != expected.n_vertices)
    fail(fmt::format("has {} vertices after joining, but must have {}", report.n_vertices, expected.n_vertices));
  if (std::abs(volume - expected.volume) > 1e-9 * expected.volume)
    fail(fmt::format("has the volume {}, but must have {}", volume, expected.volume));
}

void run(barrio::Context& context, const Options& options) {
  const std::vector<lattice::Slot> slots = slots_of(options.core);
  Laps laps(context);
  std::vector<MeshTables> kinds;
  for (int kind = 0; kind < options.core.n_kinds; ++kind) kinds.push_back(make_assembly(context, options.core, kind));
  laps.lap("make_kinds");
  std::vector<MeshTables> pieces;
  for (const lattice::Slot& slot : slots) pieces.push_back(lattice::moved(kinds[slot.kind], slot.at));
  laps.lap("copy_move");
  const auto joined = barrio::mesh::join(context, std::move(pieces), {.tolerance = options.tolerance});
  laps.lap("join");
  const barrio::Mesh mesh(context, joined.tables);  // each assembly is a part; each rank has some of the parts
  laps.lap("distribute");
  const double volume = volume_of(mesh);
  const lattice::Expected expected = lattice::expected(options.core);
  check(expected, joined.report, mesh, volume);
  if (!options.output.empty()) {
    laps.lap("check");
    barrio::io::write_h5m(context, joined.tables, options.output + ".h5m");
    laps.lap("write_h5m");
    barrio::io::write(mesh, options.output + ".vtkhdf");
    laps.lap("write_vtkhdf");
  }
  Json document = barrio::mpi::document(context, "barrio.example.lattice", 1);
  document["shape"] = options.core.shape == lattice::Shape::hexagon ? "hexagons" : "squares";
  document["assemblies"] = slots.size();
  document["kinds"] = options.core.n_kinds;
  document["cells"] = expected.n_cells;
  document["vertices_before"] = joined.report.n_vertices_before;
  document["vertices"] = joined.report.n_vertices;
  document["joined_sides"] = expected.n_sides;
  document["volume"] = volume;
  document["checksum"] = fmt::format("{:016x}", mesh.checksum());
  document["seconds"] = laps.seconds();
  if (context.is_root()) std::fputs((document.dump(2) + "\n").c_str(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    if (const auto options = parse(context, argc, argv)) run(context, *options);
  });
}
