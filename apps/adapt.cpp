#include "barrio/adapt/adapt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/command.hpp"
#include "apps/degenerate.hpp"
#include "apps/text/table.hpp"
#include "barrio/adapt/size_fields.hpp"
#include "barrio/base/path.hpp"
#include "barrio/base/temporary_file.hpp"
#include "barrio/base/text.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"

namespace barrio::apps {
namespace {

constexpr std::array adapt_steps{WorkStep{"io.read", 0.1}, WorkStep{"adapt.rounds", 0.8}, WorkStep{"io.write", 0.1}};

class Adapt : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "adapt"; }
  [[nodiscard]] std::string summary() const override {
    return "Change the tetrahedra of a mesh until their edges have the lengths you want";
  }
  [[nodiscard]] std::string example() const override {
    return "barrio --ranks 2 adapt box.h5m --size plane,x=0.5,finest=0.02,largest=0.2 -o fine.h5m";
  }
  [[nodiscard]] bool is_parallel() const override { return true; }
  [[nodiscard]] std::span<const WorkStep> work_steps() const override { return adapt_steps; }
  void add_options(CLI::App& app) override {
    app.add_option("IN", input_, fmt::format("Mesh file ({})", io::readable_formats))->required();
    app.add_option("-s,--size", sizes_,
                   "Wanted edge length: a number, or plane,x=X|y=Y|z=Z,finest=F,largest=L[,width=W][,growth=G], or "
                   "sphere,x=X,y=Y,z=Z,radius=R,finest=F,...; of several the smallest counts");
    app.add_option("--size-field", size_field_,
                   "Instead: a field or tag of the file with the wanted length at each vertex");
    CLI::Option* const errors = app.add_option(
        "--error-field", error_field_,
        "Instead: a field or tag of the file with an error for each cell, to become --target-error in all");
    CLI::Option* const target = app.add_option("--target-error", target_.error, "Error that each cell is to have")
                                    ->check(CLI::PositiveNumber)
                                    ->needs(errors);
    errors->needs(target);
    app.add_option("--error-order", target_.order, "p, where half the size leaves 2^-p of the error")
        ->check(CLI::PositiveNumber)
        ->capture_default_str()
        ->needs(errors);
    app.add_option("--finest", options_.limits.finest, "No wanted length is smaller");
    app.add_option("--largest", options_.limits.largest, "No wanted length is larger");
    app.add_option("--growth", options_.limits.growth,
                   "Lengths in a field grow by no more than this for each unit of length, 0.4 say");
    app.add_option("-o,--output", output_,
                   "File to write (.h5m for a restart, .vtkhdf for pictures, .mesh or .meshb for Mmg)")
        ->required();
    app.add_option("--feature-angle", options_.feature_angle,
                   "Edges where the boundary turns by more stay edges, degrees")
        ->check(CLI::Range(0.0, 180.0))
        ->capture_default_str();
    app.add_option("--min-quality", options_.min_quality,
                   "No change makes a cell worse than both this and what was there (mean ratio, 1 is regular)")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--frozen", options_.frozen_sets,
                   "Sets whose cells and faces stay as they are, by name or as 'material 3'");
    app.add_option("--parent-field", options_.parent_field,
                   "Add a field to the cells: id of the one in whose place it is, and 1 if it was changed");
    app.add_option("--max-cells", options_.max_cells_per_rank, "Refuse sizes that need more on each rank")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--max-seconds", options_.max_seconds, "End after that, with the mesh as far as it is")
        ->check(CLI::NonNegativeNumber);
    app.add_flag("--leave-out", options_.leaves_out,
                 "Go on without values on faces and edges, and listed edges, which cannot be kept yet");
    degenerate_.add_to(app);
  }
  Json run(mpi::Context* context) override {
    (void)io::written_format(output_);
    mpi::agree_after(*context, [&] {
      if (!context->is_root()) return;
      if (const std::string reason = why_not_replaceable(output_); !reason.empty()) throw cannot_write(output_, reason);
    });
    std::vector<adapt::SizeFunction> sizes;
    mpi::agree_after(*context, [&] {
      const int n_given = (sizes_.empty() ? 0 : 1) + (size_field_.empty() ? 0 : 1) + (error_field_.empty() ? 0 : 1);
      if (n_given != 1)
        refuse(ErrorCode::usage, "wanted lengths", "come from one of --size, --size-field and --error-field");
      for (const std::string& text : sizes_) sizes.push_back(adapt::parse_size(text));
    });
    io::ReadOptions reading;
    reading.degenerate = degenerate_.value();
    mesh::Mesh mesh = io::read(*context, input_, reading);
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
                         {"finest", options_.limits.finest},
                         {"largest", text_of(options_.limits.largest)},
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
    result["quality"] = {{"least", report.min_quality}, {"mean", report.mean_quality}};
    result["edges_in_range"] = report.in_range;
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
    text +=
        fmt::format("  mean ratio {:.2f} at least, {:.2f} in the mean; {:.0f} % of the edges have the wanted length\n",
                    r["quality"]["least"].get<double>(), r["quality"]["mean"].get<double>(),
                    100 * r["edges_in_range"].get<double>());
    constexpr double few = 0.5;
    if (r["edges_in_range"].get<double>() < few && r["is_complete"].get<bool>())
      text += fmt::format(
          "  few edges have the wanted length: other changes would make cells worse than what was there and than "
          "--min-quality ({}); a lower one may allow them\n",
          r["options"]["min_quality"].get<double>());
    if (!r["is_complete"].get<bool>()) text += "  the time was over before all was done\n";
    if (!r["left_out"].empty())
      text += fmt::format("  left out: {}\n", fmt::join(r["left_out"].get<std::vector<std::string>>(), ", "));
    return text;
  }

 private:
  /// JSON has no infinity.
  static Json text_of(double limit) { return std::isfinite(limit) ? Json(limit) : Json(); }
  /// The field with sizes; made here if errors are given. Collective.
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
  DegenerateOption degenerate_;
};

}  // namespace

std::unique_ptr<Command> make_adapt() { return std::make_unique<Adapt>(); }

}  // namespace barrio::apps
