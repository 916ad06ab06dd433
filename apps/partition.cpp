#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "apps/command.hpp"
#include "apps/parts.hpp"
#include "apps/reading.hpp"
#include "apps/text/table.hpp"
#include "barrio/base/text.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/cell_weights.hpp"
#include "barrio/mesh/drop_geometry.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/partition_quality.hpp"
#include "barrio/mpi/report.hpp"

namespace barrio::apps {
namespace {

constexpr RegionName judge_region{"partition.judge"};
constexpr std::array partition_steps{WorkStep{"io.read", 0.02}, WorkStep{cut_region.text, 0.13},
                                     WorkStep{judge_region.text, 0.4}, WorkStep{reorder_region.text, 0.39},
                                     WorkStep{"io.write", 0.06}};

class Partition : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "partition"; }
  [[nodiscard]] std::string summary() const override {
    return "Cut a mesh into parts, order the file by part, and rate the cut";
  }
  [[nodiscard]] std::string example() const override { return "barrio --ranks 2 partition wing.msh -n 8 -o wing8.h5m"; }
  [[nodiscard]] bool is_parallel() const override { return true; }
  [[nodiscard]] std::span<const WorkStep> work_steps() const override { return partition_steps; }
  [[nodiscard]] std::vector<Output> outputs() const override { return {{output_}}; }
  void add_options(CLI::App& app) override {
    app.add_option("IN", input_, fmt::format("Mesh file ({})", io::readable_formats))->required();
    app.add_option("-n,--parts", n_parts_, "Number of parts")->required()->check(positive_integer());
    app.add_option("-m,--method", method_,
                   "rcb or hilbert (coordinates), metis or ptscotch (graph), hypergraph (Zoltan)")
        ->capture_default_str();
    app.add_option("--weight", weights_.tag, "Tag with the work of each cell");
    app.add_option("--type-weight", type_weights_,
                   "TYPE=N: a cell of this type counts as N times the work, as in hex=3; may be repeated")
        ->allow_extra_args(false);  // IN may follow
    app.add_flag("--keep-order", keeps_order_, "Keep cells and vertices in the order of the input");
    app.add_option("--tag", h5m_.partition_tag,
                   "Name of the partition in the file: a new name adds one to those of IN, a known name replaces one")
        ->capture_default_str();
    app.add_option("--drop", drop_,
                   "Drop a part of the mesh: geometry (its sets, and faces and edges that are only in these)")
        ->check(CLI::IsMember({"geometry"}));
    reading_.add_to(app);
    app.add_option("-o,--output", output_, "File to write (.h5m)")->required()->check(suffix(".h5m"));
  }
  Json run(mpi::Context* context) override {
    const io::TableOptions options{.partition_tag = h5m_.partition_tag, .may_lack_partition_tag = true};
    mesh::MeshTables tables = io::read_tables(*context, input_, reading_.in(options));
    check_n_parts(n_parts_, tables);
    if (drop_ == "geometry") tables = mesh::drop_geometry(*context, std::move(tables));
    weights_.by_type = parse_type_weights();
    const std::vector<std::int64_t> weights = mesh::compute_cell_weights(*context, tables, weights_);
    {
      const Region region(context->trace(), cut_region);
      mesh::partition_cells(*context, tables, n_parts_, method_, weights);
    }
    Json result = mpi::document(*context, "barrio.partition", 1);
    result["input"] = input_;
    result["output"] = output_;
    result["method"] = method_;
    result["tag"] = h5m_.partition_tag;
    result["parts"] = n_parts_;
    result["cells"] = tables.n_global(tables.top_dim());
    result["vertices"] = tables.vertices.n_rows;
    {
      const Region region(context->trace(), judge_region);
      result.update(mesh::to_json(mesh::partition_quality(*context, tables, weights)));
    }
    if (!keeps_order_) {
      const Region region(context->trace(), reorder_region);
      tables = mesh::reorder_by_part(*context, std::move(tables));
    }
    io::write_h5m(*context, tables, output_, h5m_);
    return result;
  }
  [[nodiscard]] std::string render(const Json& r) const override {
    std::vector<std::pair<std::string, std::string>> rows{{"cells", format_count(r["cells"].get<std::int64_t>())},
                                                          {"parts", fmt::format("{} by {}", n_parts_, method_)}};
    const auto count = [&](const char* key) { return format_count(r[key].get<std::int64_t>()); };
    rows.emplace_back("imbalance", fmt::format("{:.4f} (largest part / mean)", r["imbalance"].get<double>()));
    if (!weights_.tag.empty() || !type_weights_.empty())
      rows.emplace_back("in weight", fmt::format("{:.4f}", r["weight_imbalance"].get<double>()));
    if (r.contains("cut_sides")) rows.emplace_back("cut sides", count("cut_sides"));
    rows.emplace_back("ghost cells",
                      fmt::format("{}, {} at most in a part", count("ghost_cells"), count("max_ghost_cells")));
    rows.emplace_back("shared vertices",
                      fmt::format("{}, {} at most in a part", count("shared_vertices"), count("max_shared_vertices")));
    rows.emplace_back("neighbours", fmt::format("{:.1f} parts on average, {} at most",
                                                r["mean_neighbours"].get<double>(), count("max_neighbours")));
    if (r["empty_parts"] != 0) rows.emplace_back("empty parts", count("empty_parts"));
    if (r.value("split_parts", 0) != 0)
      rows.emplace_back("split parts",
                        fmt::format("{} of {} parts are not connected: each has several pieces that share no face; "
                                    "another --method may avoid that",
                                    count("split_parts"), format_count(n_parts_)));
    return output_ + "\n" + two_columns(rows);
  }

 private:
  [[nodiscard]] std::map<mesh::CellType, std::int64_t> parse_type_weights() const {
    std::vector<std::string> names;
    for (int t = 0; t < mesh::n_cell_types; ++t)
      names.emplace_back(mesh::topology(static_cast<mesh::CellType>(t)).name);
    std::map<mesh::CellType, std::int64_t> weights;
    for (const std::string& text : type_weights_) {
      const std::size_t sign = std::min(text.find('='), text.size());
      const auto type = std::find(names.begin(), names.end(), text.substr(0, sign));
      std::int64_t n = -1;
      const bool is_number = sign < text.size() && CLI::detail::lexical_cast(text.substr(sign + 1), n);
      if (type == names.end() || !is_number || n < 0 || n > 1'000'000'000) {
        throw AgreedError(ErrorCode::usage,
                          {.subject = "--type-weight " + text,
                           .cause = "is not of the form TYPE=N." + did_you_mean(text.substr(0, sign), names),
                           .remedy = "give a type of cell and a whole number from 0 to 10^9, as in hex=3"});
      }
      weights[static_cast<mesh::CellType>(type - names.begin())] = n;
    }
    return weights;
  }
  Reading reading_;
  std::string input_;
  std::string output_;
  std::string method_ = "rcb";
  std::string drop_;
  mesh::CellWeights weights_;
  std::vector<std::string> type_weights_;
  io::H5mOptions h5m_;
  int n_parts_ = 0;
  bool keeps_order_ = false;
};

}  // namespace

std::unique_ptr<Command> make_partition() { return std::make_unique<Partition>(); }

}  // namespace barrio::apps
