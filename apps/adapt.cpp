#include "barrio/adapt/adapt.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "apps/command.hpp"
#include "apps/degenerate.hpp"
#include "apps/table.hpp"
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
    return "Change the cells of a mesh of tetrahedra until its edges have the lengths you want";
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
                   "sphere,x=X,y=Y,z=Z,radius=R,finest=F,...; of several the smallest counts")
        ->required();
    app.add_option("-o,--output", output_, "File to write (.h5m for a restart, .vtkhdf for pictures)")->required();
    app.add_option("--feature-angle", options_.feature_angle,
                   "Edges where the boundary turns by more stay edges, degrees")
        ->check(CLI::Range(0.0, 180.0))
        ->capture_default_str();
    app.add_option("--least-quality", options_.least_quality,
                   "No change makes a cell worse than both this and what was there (mean ratio, 1 is regular)")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_flag("--leave-out", options_.leaves_out, "Go on without tags and listed edges, which cannot be kept yet");
    degenerate_.add_to(app);
  }
  Json run(mpi::Context* context) override {
    (void)io::written_format(output_);
    std::vector<adapt::SizeFunction> sizes;
    mpi::agree_after(*context, [&] {
      for (const std::string& text : sizes_) sizes.push_back(adapt::parse_size(text));
    });
    io::ReadOptions reading;
    reading.degenerate = degenerate_.value();
    mesh::Mesh mesh = io::read(*context, input_, reading);
    const adapt::AdaptReport report = adapt::adapt(mesh, adapt::smallest_size(sizes), options_);
    io::write(mesh, output_);
    Json result = mpi::document(*context, "barrio.adapt", 1);
    result["input"] = input_;
    result["output"] = output_;
    result["size"] = sizes_;
    result["cells_before"] = report.n_cells_before;
    result["cells"] = report.n_cells;
    result["vertices"] = mesh.n_global(mesh::Dim::vertex);
    result["checksum"] = hex(mesh.checksum());
    result["left_out"] = report.left_out;
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
    std::string text = fmt::format("{}: {} tets, {} vertices, of {} tets in {}\n", output_, n(r["cells"]),
                                   n(r["vertices"]), n(r["cells_before"]), format_seconds(r["seconds"].get<double>()));
    text += fmt::format("  {} edges split, {} collapsed; {} swaps, {} vertices moved; checksum {}\n",
                        n(changes["splits"]["made"]), n(changes["collapses"]["made"]), n(changes["swaps"]["made"]),
                        n(changes["moves"]["made"]), r["checksum"].get<std::string>());
    if (!r["left_out"].empty())
      text += fmt::format("  left out: {}\n", fmt::join(r["left_out"].get<std::vector<std::string>>(), ", "));
    return text;
  }

 private:
  std::string input_;
  std::string output_;
  std::vector<std::string> sizes_;
  adapt::AdaptOptions options_;
  DegenerateOption degenerate_;
};

}  // namespace

std::unique_ptr<Command> make_adapt() { return std::make_unique<Adapt>(); }

}  // namespace barrio::apps
