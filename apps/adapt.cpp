#include "barrio/adapt/adapt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/command.hpp"
#include "apps/reading.hpp"
#include "apps/text/table.hpp"
#include "barrio/adapt/size_fields.hpp"
#include "barrio/base/text.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"

namespace barrio::apps {
namespace {

constexpr const char* rounds_step = "adapt.rounds";
constexpr std::array adapt_steps{WorkStep{"io.read", 0.05}, WorkStep{rounds_step, 0.9}, WorkStep{"io.write", 0.05}};

class Adapt : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "adapt"; }
  [[nodiscard]] std::string summary() const override {
    return "Change the tetrahedra of a mesh until their edges have the lengths you want";
  }
  [[nodiscard]] std::string example() const override {
    return "barrio --ranks 2 adapt box.h5m --size plane,x=0.5,min_size=0.02,max_size=0.2 -o fine.h5m";
  }
  [[nodiscard]] bool is_parallel() const override { return true; }
  [[nodiscard]] std::span<const WorkStep> work_steps() const override { return adapt_steps; }
  void show_on(Progress& progress, mpi::Context& context) override {
    Command::show_on(progress, context);
    options_.progress = [&progress](double part) { progress.update(rounds_step, part); };
  }
  [[nodiscard]] std::vector<Output> outputs() const override { return {{output_}}; }
  void add_options(CLI::App& app) override {
    app.add_option("IN", input_, fmt::format("Mesh file ({})", io::readable_formats))->required();
    app.add_option("-s,--size", sizes_,
                   "Wanted edge length: a number, or plane,x=X|y=Y|z=Z,min_size=F,max_size=L[,width=W][,growth=G], or "
                   "sphere,x=X,y=Y,z=Z,radius=R,min_size=F,...; may be repeated: the smallest length counts")
        ->allow_extra_args(false);  // IN may follow
    app.add_option("--size-field", size_field_,
                   "Field or tag of the file with the wanted length at each vertex, instead of --size");
    CLI::Option* const errors = app.add_option(
        "--error-field", error_field_,
        "Field or tag of the file with an error for each cell, instead of --size: lengths make it --target-error");
    CLI::Option* const target = app.add_option("--target-error", target_.error, "Wanted error of each cell")
                                    ->check(positive_number())
                                    ->needs(errors);
    errors->needs(target);
    app.add_option("--error-order", target_.order, "p, where halving the size of a cell leaves 2^-p of its error")
        ->check(positive_number())
        ->capture_default_str()
        ->needs(errors);
    app.add_option("--min-size", options_.limits.min_size, "Lower bound of wanted lengths");
    app.add_option("--max-size", options_.limits.max_size, "Upper bound of wanted lengths");
    app.add_option("--growth", options_.limits.growth,
                   "Largest growth of lengths in a field per unit of length, for instance 0.4");
    app.add_option("-o,--output", output_,
                   "File to write (.h5m for a restart, .vtkhdf for pictures, .mesh or .meshb for Mmg)")
        ->required();
    app.add_option("--feature-angle", options_.feature_angle,
                   "Degrees: where the boundary turns by more there is a feature edge, which stays")
        ->check(CLI::Range(0.0, 180.0))
        ->capture_default_str();
    app.add_option("--tolerance", options_.tolerance,
                   "Distance by which vertices may leave planes and straight lines (default: a few units of the last "
                   "digit of the coordinates)")
        ->check(positive_number());
    app.add_option(
           "--min-quality", options_.min_quality,
           "Mean ratio (1 is regular): no change but the halving of long edges makes a cell worse than both this "
           "and the cells before")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--frozen", options_.frozen_sets,
                   "Sets whose cells and faces stay as they are, by name or as 'material 3'");
    app.add_option("--parent-field", options_.parent_field,
                   "Name of a field to add on cells: GLOBAL_ID of the parent, and 1 if the cell was changed, else 0");
    app.add_option("--held-field", options_.held_field,
                   "Name of a field to add on vertices: what keeps edges there too short: 1 a curved boundary, 2 a "
                   "corner or set, 3 --frozen, 4 quality; 5 an edge is too long; else 0");
    app.add_option("--max-cells", options_.max_cells_per_rank,
                   "Refuse sizes that need more cells on each rank (default: as many as fit into the memory)")
        ->check(positive_number());
    app.add_option("--max-seconds", options_.max_seconds,
                   "Stop after that, with a valid mesh that is not fully adapted")
        ->check(number_from_0());
    app.add_flag(
        "--leave-out", options_.leaves_out,
        "Drop data that cannot be kept yet: values that are entities, and many different values on faces and edges");
    reading_.add_to(app);
  }
  Json run(mpi::Context* context) override {
    (void)io::written_format(output_);
    std::vector<adapt::SizeFunction> sizes;
    mpi::agree_after(*context, [&] {
      const int n_given = (sizes_.empty() ? 0 : 1) + (size_field_.empty() ? 0 : 1) + (error_field_.empty() ? 0 : 1);
      if (n_given != 1)
        refuse(ErrorCode::usage, "wanted lengths", "must come from one of --size, --size-field and --error-field");
      for (const std::string& text : sizes_) sizes.push_back(adapt::parse_size(text));
    });
    mesh::Mesh mesh = io::read(*context, input_, reading_.in(io::ReadOptions{}));
    const adapt::AdaptReport report = sizes.empty() ? adapt::adapt(mesh, size_field_in(mesh), options_)
                                                    : adapt::adapt(mesh, adapt::smallest_size(sizes), options_);
    io::write(mesh, output_);
    Json result = mpi::document(*context, "barrio.adapt", 1);
    result["input"] = input_;
    result["output"] = output_;
    result["size"] = sizes_;
    result["size_field"] = size_field_;
    result["error_field"] = error_field_;
    result["options"] = {{"target_error", target_.error},
                         {"error_order", target_.order},
                         {"min_size", options_.limits.min_size},
                         {"max_size", text_of(options_.limits.max_size)},
                         {"growth", text_of(options_.limits.growth)},
                         {"feature_angle", options_.feature_angle},
                         {"min_quality", options_.min_quality},
                         {"frozen", options_.frozen_sets}};
    result["cells_before"] = report.n_cells_before;
    result["cells"] = report.n_cells;
    result["vertices"] = mesh.n_global(mesh::Dim::vertex);
    result["checksum"] = hex(mesh.checksum());
    result["left_out"] = report.left_out;
    result["cells_unchanged"] = report.n_unchanged;
    result["quality"] = {{"min", report.min_quality}, {"mean", report.mean_quality}};
    result["edges_in_range"] = report.in_range;
    result["cells_wanted"] = report.n_cells_wanted;
    result["edges"] = {{"all", report.edges.n_edges},
                       {"in_range", report.edges.n_in_range},
                       {"beyond_2", report.edges.n_beyond},
                       {"held",
                        {{"curved", report.edges.n_held_curved},
                         {"fixed", report.edges.n_held_fixed},
                         {"frozen", report.edges.n_held_frozen},
                         {"quality", report.edges.n_held_by_quality}}}};
    result["tolerance"] = report.tolerance;
    result["measures"] = Json::array();
    for (const adapt::SetMeasure& one : report.measures)
      result["measures"].push_back(
          {{"set", one.name}, {"dimension", mesh::value(one.dim)}, {"before", one.before}, {"after", one.after}});
    result["is_complete"] = report.is_complete;
    result["seconds"] = mpi::max(*context, report.seconds);
    result["seconds_of_balance"] = mpi::max(*context, report.balance_seconds);
    const auto counts = [](const adapt::ChangeCounts& of) {
      return Json{{"made", of.n_made}, {"tried", of.n_tried}, {"rounds", of.n_rounds}, {"passes", of.n_passes}};
    };
    result["changes"] = {{"splits", counts(report.splits)},
                         {"collapses", counts(report.collapses)},
                         {"swaps", counts(report.swaps)},
                         {"moves", counts(report.moves)}};
    return result;
  }
  [[nodiscard]] std::string render(const Json& r) const override {
    const auto n = [&](const Json& of) { return format_count(of.get<std::int64_t>()); };
    const Json& changes = r["changes"];
    std::string text = fmt::format("{}: {} cells, {} vertices, of {} cells in {}\n", output_, n(r["cells"]),
                                   n(r["vertices"]), n(r["cells_before"]), format_seconds(r["seconds"].get<double>()));
    text += fmt::format("  {} edges split, {} collapsed; {} swaps, {} vertices moved; checksum {}\n",
                        n(changes["splits"]["made"]), n(changes["collapses"]["made"]), n(changes["swaps"]["made"]),
                        n(changes["moves"]["made"]), r["checksum"].get<std::string>());
    text += fmt::format("  mean ratio at least {:.2f}, mean {:.2f}; {:.0f} % of the edges have the wanted length\n",
                        r["quality"]["min"].get<double>(), r["quality"]["mean"].get<double>(),
                        100 * r["edges_in_range"].get<double>());
    text += render_measures(r["measures"], r["tolerance"].get<double>());
    text += render_hindered(r);
    if (!r["is_complete"].get<bool>()) text += "  --max-seconds ended the adaptation early\n";
    if (!r["left_out"].empty())
      text += fmt::format("  left out: {}\n", fmt::join(r["left_out"].get<std::vector<std::string>>(), ", "));
    return text;
  }

 private:
  /// Render what kept edges from getting the wanted length, if many have another.
  static std::string render_hindered(const Json& r) {
    constexpr double most = 0.9;
    std::string text;
    if (const auto n = r["edges"]["beyond_2"].get<std::int64_t>(); n > 0)
      text += fmt::format("  {} edges are more than twice as long as wanted\n", format_count(n));
    const double wanted = r["cells_wanted"].get<double>();
    if (constexpr double part = 0.5; r["cells"].get<double>() < part * wanted)
      text += fmt::format("  about {} cells are needed for these lengths: {}\n", format_count(std::llround(wanted)),
                          r["is_complete"].get<bool>() ? "adapt the result once more" : "the time was too short");
    if (r["edges_in_range"].get<double>() >= most) return text;
    const Json& held = r["edges"]["held"];
    constexpr std::array<std::pair<const char*, const char*>, 4> reasons{
        {{"curved", "lie on curved boundaries, which are not coarsened yet"},
         {"fixed", "are corners, or at the border of a set of vertices"},
         {"frozen", "are frozen"},
         {"quality", "would leave cells too bad (--min-quality) or edges too long"}}};
    for (const auto& [key, words] : reasons)
      if (const auto n = held[key].get<std::int64_t>(); n > 0)
        text += fmt::format("  {} vertices at edges that are too short {}\n", format_count(n), words);
    return text;
  }
  /// Render the volume of the mesh, and the sets whose area or volume has changed most.
  static std::string render_measures(const Json& measures, double tolerance) {
    constexpr double rounding = 1e-12;
    constexpr std::size_t max_lines = 5;
    std::vector<std::pair<double, const Json*>> changed;
    for (const Json& one : measures) {
      const double before = one["before"].get<double>();
      const double change = std::abs(one["after"].get<double>() - before) / before;
      if (change > rounding) changed.emplace_back(change, &one);
    }
    if (changed.empty())
      return fmt::format("  volumes, areas and lengths of all sets as before; planes and lines to {:.1e}\n", tolerance);
    std::ranges::sort(changed, std::ranges::greater{}, &std::pair<double, const Json*>::first);
    std::string text;
    for (const auto& [change, one] : std::span(changed).first(std::min(changed.size(), max_lines))) {
      const std::string of = (*one)["set"].get<std::string>();
      text += fmt::format("  {} of {}: {:.10g}, before {:.10g} (relative change {:.1e})\n",
                          std::array{"", "length", "area", "volume"}[(*one)["dimension"].get<std::size_t>()],
                          of.empty() ? "the mesh" : of, (*one)["after"].get<double>(), (*one)["before"].get<double>(),
                          change);
    }
    if (changed.size() > max_lines) text += fmt::format("  and {} more sets\n", changed.size() - max_lines);
    return text + fmt::format("  planes and lines are kept to {:.1e} (--tolerance)\n", tolerance);
  }
  /// Return a limit for JSON, which has no infinity.
  static Json text_of(double limit) { return std::isfinite(limit) ? Json(limit) : Json(); }
  /// Return the name of the field with sizes; it is computed here if errors are given. Collective.
  std::string size_field_in(mesh::Mesh& mesh) const {
    if (error_field_.empty()) return size_field_;
    const std::vector<double> errors = adapt::real_values(mesh, error_field_, mesh.cell_dim());
    const std::vector<double> sizes = adapt::sizes_from_errors(mesh, errors, target_);
    const std::string name = error_field_ + " size";
    std::ranges::copy(sizes, mesh.add_field<double>(name, mesh::Dim::vertex).values().begin());
    return name;
  }

  std::string input_;
  std::string output_;
  std::vector<std::string> sizes_;
  std::string size_field_;
  std::string error_field_;
  adapt::ErrorTarget target_;
  adapt::AdaptOptions options_;
  Reading reading_;
};

}  // namespace

std::unique_ptr<Command> make_adapt() { return std::make_unique<Adapt>(); }

}  // namespace barrio::apps
