// Heat conduction on a distributed mesh of tets: load by parts, one layer of ghosts, and a ghost exchange in every
// stage that overlaps with the interior. First-order explicit Chebyshev steps (RKC) advance the stiff problem to its
// steady state. That is known exactly: the boundary temperature is linear, and so are the elements.
//
//   mpiexec -n 4 heat wing8.h5m -o heat.vtkhdf --result heat.json --traffic traffic.json
//
// Chebyshev steps: Verwer 1996, "Explicit Runge-Kutta methods for parabolic partial differential equations".
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <optional>

#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/part_traffic.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"
#include "barrio/mpi/run.hpp"
#include "conduction.hpp"

namespace {

using barrio::Dim;
using barrio::index;
using barrio::LocalId;
using barrio::mesh::LocalRange;

constexpr barrio::RegionName load_region{"heat.load"};
constexpr barrio::RegionName assemble_region{"heat.assemble"};
constexpr barrio::RegionName solve_region{"heat.solve"};
constexpr barrio::RegionName interior_region{"heat.interior"};
constexpr barrio::RegionName fringe_region{"heat.fringe"};
constexpr barrio::RegionName wait_region{"heat.wait"};
constexpr barrio::RegionName output_region{"heat.output"};

constexpr double cold = 250.0;  // initial temperature, kelvin

struct Options {
  std::string mesh;
  std::string output;
  std::string result;
  std::string traffic;
  std::string insulated = "symmetry";
  bool names_insulated = false;
  double end_time = 20.0;
  int n_frames = 16;
};

/// Return the steady temperature, which the boundary has from the start. It is constant along y, so y = 0 may be
/// insulated.
double steady_temperature(const double* x) { return 300.0 + 10.0 * x[0] + 5.0 * x[2]; }

/// Advance over a span of time by one Chebyshev step with as many stages as stability needs.
class Stepper {
 public:
  Stepper(barrio::Mesh& mesh, const heat::Conduction& conduction, barrio::mesh::Field<double> temperature,
          double spectral_bound)
      : trace_(mesh.context().trace()),
        conduction_(conduction),
        interior_(mesh.interior(Dim::vertex)),
        fringe_(mesh.fringe(Dim::vertex)),
        bound_(spectral_bound),
        now_(temperature),
        halo_(mesh.plan(temperature)),
        before_(mesh.n_owned(Dim::vertex)),
        rate_(mesh.n_owned(Dim::vertex)) {}

  /// Advance the temperature. Collective. @return number of stages
  int advance(double span) {
    // With this damping every stiff mode shrinks at least by 1 / cosh(sqrt(2 damping)) = 1/43 per step, and n stages
    // are stable up to span * bound = 2 n^2 tanh(sqrt(2 damping)) / sqrt(2 damping) = 0.447 n^2.
    constexpr double damping = 10.0;
    const int n = std::max(2, static_cast<int>(std::ceil(std::sqrt(span * bound_ / 0.44))) + 1);
    const double w0 = 1.0 + damping / (static_cast<double>(n) * n);
    // Chebyshev polynomials and their derivatives at w0, by recurrence.
    double t0 = 1.0;
    double t1 = w0;
    double d0 = 0.0;
    double d1 = 1.0;
    for (int j = 2; j <= n; ++j) {
      const double t2 = 2.0 * w0 * t1 - t0;
      const double d2 = 2.0 * t1 + 2.0 * w0 * d1 - d0;
      t0 = t1;
      t1 = t2;
      d0 = d1;
      d1 = d2;
    }
    const double w1 = t1 / d1;
    double* const now = now_.values().data();
    const std::size_t n_owned = before_.size();

    compute_rate();
    for (std::size_t v = 0; v < n_owned; ++v) {
      before_[v] = now[v];
      now[v] += w1 / w0 * span * rate_[v];
    }
    double t_before = 1.0;
    double t_now = w0;
    for (int j = 2; j <= n; ++j) {
      const double t_next = 2.0 * w0 * t_now - t_before;
      const double mu = 2.0 * w0 * t_now / t_next;
      const double nu = -t_before / t_next;
      const double step = 2.0 * w1 * t_now / t_next * span;
      compute_rate();
      for (std::size_t v = 0; v < n_owned; ++v) {
        const double next = mu * now[v] + nu * before_[v] + step * rate_[v];
        before_[v] = now[v];
        now[v] = next;
      }
      t_before = t_now;
      t_now = t_next;
    }
    return n;
  }
  void exchange() { halo_.exchange(); }
  [[nodiscard]] std::uint64_t n_exchanges() const { return halo_.n_exchanges(); }

 private:
  void compute_rate() {
    halo_.begin();  // send ghosts ...
    {
      const barrio::Region region(trace_, interior_region);
      for (LocalRange block = first_block(); !block.empty(); block = next_block(block)) {
        conduction_.compute_rate(block, now_.values().data(), rate_.data());  // ... while the interior is computed,
        halo_.progress();                                                     // and let MPI make progress
      }
    }
    {
      const barrio::Region region(trace_, wait_region);
      halo_.end();
    }
    const barrio::Region region(trace_, fringe_region);
    conduction_.compute_rate(fringe_, now_.values().data(), rate_.data());
  }
  /// Return the first block of the interior; each takes a few microseconds.
  [[nodiscard]] LocalRange first_block() const { return next_block({interior_.first, interior_.first}); }
  [[nodiscard]] LocalRange next_block(LocalRange block) const {
    constexpr std::size_t most = 512;
    const std::size_t first = barrio::index(block.last);
    return {block.last, barrio::local_id(std::min(first + most, barrio::index(interior_.last)))};
  }

  barrio::Trace& trace_;
  const heat::Conduction& conduction_;
  LocalRange interior_;
  LocalRange fringe_;
  double bound_;
  barrio::mesh::Field<double> now_;
  barrio::exchange::HaloExchange<double> halo_;
  std::vector<double> before_;
  std::vector<double> rate_;
};

/// Mark the vertices of all boundary faces except insulated ones, on their owners. Collective.
std::vector<char> find_fixed(barrio::Mesh& mesh, const std::string& insulated) {
  auto mark = mesh.add_field<std::int32_t>("fixed", Dim::vertex);
  for (const auto& set : mesh.sets()) {
    if (set.info.kind != barrio::mesh::SetKind::neumann || set.info.name == insulated) continue;
    for (const LocalId face : set.entities[2])
      for (const LocalId v : mesh.entities(Dim::face).nodes_of(index(face))) mark[v] = 1;
  }
  // Only a neighbour may have the face, so marks on copies are sent to the owner.
  mesh.plan(mark).reduce([](std::int32_t a, std::int32_t b) { return std::max(a, b); });
  return {mark.values().begin(), mark.values().begin() + static_cast<std::ptrdiff_t>(mesh.n_owned(Dim::vertex))};
}

void check_tets(const barrio::Mesh& mesh, const std::string& path) {
  const auto& cells = mesh.cells();
  bool all_tets = mesh.cell_dim() == Dim::volume;
  for (std::size_t c = 0; c < cells.size(); ++c)
    all_tets = all_tets && cells.type(c) == barrio::mesh::CellType::tet && cells.nodes_of(c).size() == 4;
  barrio::agree_after(mesh.context(), [&] {
    if (!all_tets)
      throw barrio::Error(
          barrio::ErrorCode::bad_input,
          {.subject = path, .cause = "has other cells than linear tets, which this example does not handle"});
  });
}

void solve(barrio::Context& context, const Options& options) {
  const double begin = MPI_Wtime();
  barrio::Mesh mesh = [&] {
    const barrio::Region region(context.trace(), load_region);
    return barrio::io::read(context, options.mesh, {.ghost_layers = 1});
  }();
  check_tets(mesh, options.mesh);
  if (options.names_insulated)  // throws for an unknown name, with "did you mean"
    barrio::agree_after(context,
                        [&] { static_cast<void>(mesh.set(barrio::mesh::SetKind::neumann, options.insulated)); });

  auto temperature = mesh.add_field<double>("temperature", Dim::vertex);
  const auto& x = mesh.vertices().coordinates;
  heat::Conduction conduction = [&] {
    const barrio::Region region(context.trace(), assemble_region);
    return heat::Conduction(mesh);
  }();
  const std::vector<char> is_fixed = find_fixed(mesh, options.insulated);
  for (std::size_t v = 0; v < mesh.n_owned(Dim::vertex); ++v) {
    temperature.values()[v] = is_fixed[v] != 0 ? steady_temperature(&x[3 * v]) : cold;
    if (is_fixed[v] != 0) conduction.fix(barrio::local_id(v));
  }
  const double bound = barrio::mpi::max(context, conduction.local_spectral_bound());
  Stepper stepper(mesh, conduction, temperature, bound);

  std::unique_ptr<barrio::io::VtkhdfWriter> writer;
  const auto write_frame = [&](double time) {
    if (!writer) return;
    const barrio::Region region(context.trace(), output_region);
    stepper.exchange();
    writer->write_step(time);
  };
  if (!options.output.empty())
    writer = std::make_unique<barrio::io::VtkhdfWriter>(
        mesh, options.output, barrio::io::VtkhdfOptions{.fields = {"temperature"}, .has_steps = true});
  write_frame(0.0);

  // The time between frames grows, since heat moves fast at first.
  const double first_time = options.end_time / 1000.0;
  const double growth = std::pow(options.end_time / first_time, 1.0 / std::max(options.n_frames - 1, 1));
  std::int64_t n_stages = 0;
  double time = 0.0;
  for (int frame = 0; frame < options.n_frames; ++frame) {
    const double next = frame + 1 == options.n_frames ? options.end_time : first_time * std::pow(growth, frame);
    {
      const barrio::Region region(context.trace(), solve_region);
      n_stages += stepper.advance(next - time);
    }
    time = next;
    write_frame(time);
  }
  if (writer) writer->close();

  double error = 0.0;
  for (std::size_t v = 0; v < mesh.n_owned(Dim::vertex); ++v)
    error = std::max(error, std::abs(temperature.values()[v] - steady_temperature(&x[3 * v])));
  error = barrio::mpi::max(context, error);
  const double seconds = barrio::mpi::max(context, MPI_Wtime() - begin);
  const auto n_exchanges = static_cast<std::int64_t>(stepper.n_exchanges());
  if (!options.traffic.empty())
    barrio::exchange::write_traffic(context, options.traffic, mesh.n_parts(),
                                    barrio::mesh::part_traffic(mesh, n_exchanges, sizeof(double)));

  barrio::Json result = barrio::mpi::document(context, "barrio.heat", 1);
  result["mesh"] = options.mesh;
  result["parts"] = mesh.n_parts();
  result["vertices"] = mesh.n_global(Dim::vertex);
  result["cells"] = mesh.n_global(Dim::volume);
  result["end_time"] = options.end_time;
  result["stages"] = n_stages;
  result["exchanges"] = n_exchanges;
  result["spectral_bound"] = bound;
  result["mesh_checksum"] = fmt::format("{:016x}", mesh.checksum());
  for (const auto& field : mesh.fields())
    if (field->name == "temperature") result["temperature_checksum"] = fmt::format("{:016x}", mesh.checksum(*field));
  constexpr double tolerance = 1e-6;  // kelvin
  result["max_error"] = error;
  result["tolerance"] = tolerance;
  result["seconds"] = seconds;
  const auto summary = barrio::mpi::summarise(context);
  result["phases"] = barrio::mpi::to_json(summary);
  barrio::agree_after(context, [&] {
    if (!context.is_root()) return;
    fmt::print(
        "{}\n  {} tets in {} parts on {} ranks, {} stages, {:.2f} s\n  mesh checksum         {}\n  temperature "
        "checksum  {}\n"
        "  largest error         {:.3g} K against the steady state (tolerance {:.0e} K)\n",
        options.mesh, mesh.n_global(Dim::volume), mesh.n_parts(), context.size(), n_stages, seconds,
        result["mesh_checksum"].get<std::string>(), result["temperature_checksum"].get<std::string>(), error,
        tolerance);
    std::fflush(stdout);
    if (!options.result.empty()) barrio::write_file_atomically(options.result, result.dump(1) + "\n");
  });
  if (!(error <= tolerance)) {
    throw barrio::AgreedError(barrio::ErrorCode::differs,
                              {.subject = "temperature",
                               .cause = fmt::format("differs by {:.3g} K from the known steady state", error),
                               .remedy = "raise --end-time; if that does not help, it is a bug"});
  }
}

/// Parse the command line. @return nothing after printing help
std::optional<Options> parse(barrio::Context& context, int argc, char** argv) {
  Options options;
  CLI::App app{"Heat conduction on a distributed mesh of tets"};
  app.add_option("MESH", options.mesh, "Mesh of tets (.h5m or Gmsh 4.1), best with a partition")->required();
  app.add_option("-o,--output", options.output, "Time series to write (.vtkhdf)")->check([](const std::string& path) {
    return path.ends_with(".vtkhdf") ? std::string() : path + " does not end in .vtkhdf";
  });
  app.add_option("--result", options.result, "Result to write (.json), for barrio report");
  app.add_option("--traffic", options.traffic, "Traffic between parts to write (.json), for barrio map");
  const CLI::Option* const insulated =
      app.add_option("--insulated", options.insulated,
                     "Boundary set without heat flow; all others are kept at the steady temperature")
          ->capture_default_str();
  app.add_option("--end-time", options.end_time, "Time to reach, with unit diffusivity")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--frames", options.n_frames, "Frames to write after the initial one")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {
    if (context.is_root()) app.exit(wanted);
    return {};
  } catch (const CLI::ParseError& error) {  // the same on all ranks
    throw barrio::AgreedError(barrio::ErrorCode::usage,
                              {.subject = "heat", .cause = error.what(), .remedy = "see heat --help"});
  }
  options.names_insulated = insulated->count() > 0;
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  return barrio::run(argc, argv, [&](barrio::Context& context) {
    if (const std::optional<Options> options = parse(context, argc, argv)) solve(context, *options);
  });
}
