#include <fmt/format.h>

#include <filesystem>

#include "apps/command.hpp"
#include "apps/reading.hpp"
#include "apps/text/table.hpp"
#include "barrio/base/text.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/join.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::apps {
namespace {

class Join : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "join"; }
  [[nodiscard]] std::string summary() const override {
    return "Merge pieces of a mesh by the positions of their vertices, and report what did not match";
  }
  [[nodiscard]] std::string example() const override {
    return "barrio --ranks 2 join left.h5m right.h5m --tolerance 1e-6 -o whole.h5m";
  }
  [[nodiscard]] bool is_parallel() const override { return true; }
  [[nodiscard]] std::vector<Output> outputs() const override { return {{output_}}; }
  void add_options(CLI::App& app) override {
    app.add_option("PIECE", inputs_, fmt::format("Mesh files ({})", io::readable_formats))->required();
    app.add_option("-o,--output", output_, "File to write (.h5m)")->required()->check(suffix(".h5m"));
    app.add_option(
           "-t,--tolerance", tolerance_,
           "Merge vertices of different pieces within this distance, model units (default 1e-8 of the diagonal)")
        ->check(number_from_0());
    app.add_option("--joint", joints_,
                   "Tolerance between two pieces, as A:B:TOLERANCE; pieces are numbered from 0; may be repeated")
        ->allow_extra_args(false);  // PIECE may follow
    app.add_flag("--require-conforming", options_.require_conforming,
                 "Leave a joint open unless every vertex there has exactly one partner; exit code 4 if one is open");
    app.add_flag("--within", options_.within_pieces, "Also merge vertices within a piece");
    reading_.add_to(app);
  }
  Json run(mpi::Context* context) override {
    if (tolerance_ >= 0.0) options_.tolerance = tolerance_;
    for (const std::string& text : joints_) options_.joints.push_back(parse_joint(text));
    std::vector<mesh::MeshTables> pieces;
    for (const std::string& input : inputs_)
      pieces.push_back(io::read_tables(*context, input, reading_.in(io::TableOptions{})));
    // GLOBAL_ID numbers the rows of each piece; the whole mesh gets new numbers.
    for (mesh::MeshTables& piece : pieces)
      std::erase_if(piece.tags, [](const mesh::TagTable& tag) { return tag.info.name == "GLOBAL_ID"; });
    const double begin = MPI_Wtime();
    const mesh::Joined joined = mesh::join(*context, std::move(pieces), options_);
    const double seconds = mpi::max(*context, MPI_Wtime() - begin);
    io::write_h5m(*context, joined.tables, output_);
    Json result = json_document("barrio.join", 1);
    result["pieces"] = inputs_;
    result["output"] = output_;
    result["seconds"] = seconds;
    result["cells"] = joined.tables.n_global(joined.tables.top_dim());
    result["report"] = mesh::to_json(joined.report);
    return result;
  }
  [[nodiscard]] std::string render(const Json& r) const override {
    const Json& report = r["report"];
    std::string text =
        fmt::format("{}: {} cells, {} vertices of {}\n", output_, format_count(r["cells"].get<std::int64_t>()),
                    format_count(report["vertices"].get<std::int64_t>()),
                    format_count(report["vertices_before"].get<std::int64_t>()));
    for (const Json& joint : report["joints"]) {
      const auto name = [&](const char* piece) {
        return std::filesystem::path(inputs_[joint[piece].get<std::size_t>()]).filename().string();
      };
      const auto n = [&](const char* what) { return joint[what].get<std::int64_t>(); };
      text += fmt::format("  {} - {}: {} vertices have a partner", name("a"), name("b"), format_count(n("matched")));
      if (n("unmatched") > 0) text += fmt::format(", {} have none", format_count(n("unmatched")));
      if (n("ambiguous") > 0) text += fmt::format(", {} have several", format_count(n("ambiguous")));
      if (n("chained") > 0) text += fmt::format(", {} were merged through others", format_count(n("chained")));
      if (!joint["nearest_miss"].is_null())
        text += fmt::format("; the nearest miss is {:.3g} apart", joint["nearest_miss"].get<double>());
      text += joint["joined"].get<bool>() ? "\n" : "; not joined\n";
    }
    if (report["joints"].empty() && inputs_.size() > 1) text += "  no two pieces come near each other\n";
    return text;
  }
  [[nodiscard]] int exit_code(const Json& r) const override {
    constexpr int differs = 4;
    for (const Json& joint : r["report"]["joints"])
      if (options_.require_conforming && !joint["joined"].get<bool>()) return differs;
    return 0;
  }

 private:
  mesh::JointOptions parse_joint(const std::string& text) const {
    mesh::JointOptions joint{};
    char rest = 0;
    if (std::sscanf(text.c_str(), "%d:%d:%lf%c", &joint.a, &joint.b, &joint.tolerance, &rest) != 3) {
      throw AgreedError(ErrorCode::usage, {.subject = fmt::format("--joint {}", text),
                                           .cause = "is not of the form A:B:TOLERANCE",
                                           .remedy = "for example --joint 0:1:1e-5"});
    }
    return joint;
  }
  std::vector<std::string> inputs_;
  std::string output_;
  double tolerance_ = -1.0;
  std::vector<std::string> joints_;
  mesh::JoinOptions options_;
  Reading reading_;
};

}  // namespace

std::unique_ptr<Command> make_join() { return std::make_unique<Join>(); }

}  // namespace barrio::apps
