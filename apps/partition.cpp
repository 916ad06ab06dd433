#include <fmt/format.h>

#include <algorithm>

#include "apps/command.hpp"
#include "apps/parts.hpp"
#include "apps/table.hpp"
#include "barrio/base/text.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/dual_graph.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mpi/report.hpp"

namespace barrio::apps {
namespace {

constexpr RegionName cut_region{"partition.cut"};
constexpr RegionName judge_region{"partition.judge"};
constexpr RegionName reorder_region{"partition.reorder"};

class Partition : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "partition"; }
  [[nodiscard]] std::string summary() const override {
    return "Cut a mesh into parts, put them in order in the file, and judge the cut";
  }
  [[nodiscard]] std::string example() const override { return "barrio --ranks 2 partition wing.msh -n 8 -o wing8.h5m"; }
  [[nodiscard]] bool is_parallel() const override { return true; }
  void add_options(CLI::App& app) override {
    app.add_option("IN", input_, "Mesh file (.h5m, Gmsh 4.1, Exodus II or CGNS)")->required();
    app.add_option("-n,--parts", n_parts_, "Number of parts")->required()->check(at_least_one());
    app.add_option("-m,--method", method_, "rcb (coordinates), metis or ptscotch (graph)")->capture_default_str();
    app.add_flag("--keep-order", keeps_order_, "Leave cells and vertices in the order of the input");
    app.add_option("-o,--output", output_, "File to write (.h5m)")->required()->check(suffix(".h5m"));
  }
  Json run(mpi::Context* context) override {
    mesh::MeshTables tables = io::read_tables(*context, input_);
    check_n_parts(n_parts_, tables);
    {
      const Region region(context->trace(), cut_region);
      mesh::partition_cells(*context, tables, n_parts_, method_);
    }
    Json result = mpi::document(*context, "barrio.partition", 1);
    result["input"] = input_;
    result["output"] = output_;
    result["method"] = method_;
    result["parts"] = n_parts_;
    result["cells"] = tables.n_global(tables.top_dim());
    result["vertices"] = tables.vertices.n_rows;
    if (has_graph(tables)) {
      const Region region(context->trace(), judge_region);
      const partition::Graph graph = mesh::dual_graph(*context, tables);
      const auto quality = partition::cut_quality(*context, graph, parts_by_row(*context, tables, graph), n_parts_);
      result["cut_sides"] = quality.n_cut_edges;
      result["imbalance"] = quality.imbalance;
      result["empty_parts"] = quality.n_empty_parts;
    }
    if (!keeps_order_) {
      const Region region(context->trace(), reorder_region);
      tables = mesh::reorder_by_part(*context, std::move(tables));
    }
    io::write_h5m(*context, tables, output_);
    return result;
  }
  [[nodiscard]] std::string render(const Json& r) const override {
    std::vector<std::pair<std::string, std::string>> rows{{"cells", format_count(r["cells"].get<std::int64_t>())},
                                                          {"parts", fmt::format("{} by {}", n_parts_, method_)}};
    if (r.contains("imbalance")) {
      rows.emplace_back("imbalance", fmt::format("{:.4f} (largest part / mean)", r["imbalance"].get<double>()));
      rows.emplace_back("cut sides", format_count(r["cut_sides"].get<std::int64_t>()));
      if (r["empty_parts"] != 0) rows.emplace_back("empty parts", format_count(r["empty_parts"].get<std::int64_t>()));
    }
    return output_ + "\n" + two_columns(rows);
  }

 private:
  static bool has_graph(const mesh::MeshTables& tables) {
    return std::all_of(tables.blocks.begin(), tables.blocks.end(), [](const mesh::CellBlock& b) {
      return b.type != mesh::CellType::knife && b.type != mesh::CellType::polyhedron;
    });
  }
  /// Parts in the order of the graph's rows.
  static std::vector<std::int32_t> parts_by_row(mpi::Context& context, const mesh::MeshTables& tables,
                                                const partition::Graph& graph) {
    struct Label {
      GlobalId cell;
      std::int32_t part;
    };
    const auto ids = mesh::top_ids(context, tables);
    std::vector<Rank> to;
    std::vector<Label> labels;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      to.push_back(graph.vertices.rank_of(ids[i]));
      labels.push_back({ids[i], tables.parts[i]});
    }
    labels = exchange::route(context, exchange::pack_by_rank<Label>(to, labels)).items;
    std::sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.cell < b.cell; });
    std::vector<std::int32_t> parts;
    for (const Label& label : labels) parts.push_back(label.part);
    return parts;
  }
  std::string input_;
  std::string output_;
  std::string method_ = "rcb";
  int n_parts_ = 0;
  bool keeps_order_ = false;
};

}  // namespace

std::unique_ptr<Command> make_partition() { return std::make_unique<Partition>(); }

}  // namespace barrio::apps
