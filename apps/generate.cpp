#include <fmt/format.h>

#include <array>

#include "apps/command.hpp"
#include "apps/parts.hpp"
#include "apps/text/table.hpp"
#include "barrio/base/text.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/box.hpp"
#include "barrio/mesh/partition_cells.hpp"

namespace barrio::apps {
namespace {

constexpr RegionName box_region{"generate.box"};
// Shares, here and in other commands, were measured with millions of tets on two ranks.
constexpr std::array generate_steps{WorkStep{box_region.text, 0.01}, WorkStep{cut_region.text, 0.25},
                                    WorkStep{reorder_region.text, 0.64}, WorkStep{"io.write", 0.1}};

class Generate : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "generate"; }
  [[nodiscard]] std::string summary() const override { return "Make a mesh of any size, in parallel"; }
  [[nodiscard]] std::string example() const override {
    return "barrio --ranks 2 generate box --cells 100 100 100 --tets -o box.h5m";
  }
  [[nodiscard]] bool is_parallel() const override { return true; }
  [[nodiscard]] std::span<const WorkStep> work_steps() const override { return generate_steps; }
  [[nodiscard]] std::vector<Output> outputs() const override { return {{output_}}; }
  void add_options(CLI::App& app) override {
    app.add_option("SHAPE", shape_, "Shape to make: box")->required();
    app.add_option("-c,--cells", cells_, "Cells along x, y and z")->expected(3)->capture_default_str();
    app.add_option("--low", low_, "Lower corner")->expected(3)->capture_default_str();
    app.add_option("--high", high_, "Upper corner")->expected(3)->capture_default_str();
    app.add_flag("--tets", options_.tets, "Cut each hex into six tets");
    app.add_option("--volumes", options_.volumes,
                   "Volumes of the model along x, y and z, with sets of materials, surfaces, curves and points")
        ->capture_default_str();
    CLI::Option* parts =
        app.add_option("-n,--parts", n_parts_, "Also cut it into this many parts")->check(positive_integer());
    app.add_option("--blocks", options_.parts,
                   "Also cut it into this many boxes of cells along x, y and z, one part each")
        ->excludes(parts);
    app.add_option("-o,--output", output_, "File to write (.h5m)")->required()->check(suffix(".h5m"));
  }
  Json run(mpi::Context* context) override {
    if (shape_ != "box") {
      throw AgreedError(ErrorCode::usage,
                        {.subject = fmt::format("shape '{}'", shape_),
                         .cause = "is not known." + did_you_mean(shape_, std::vector<std::string>{"box"}),
                         .remedy = "the only shape is box"});
    }
    for (std::size_t k = 0; k < 3; ++k) {
      options_.n[k] = cells_[k];
      options_.low[k] = low_[k];
      options_.high[k] = high_[k];
    }
    mesh::MeshTables tables;
    {
      const Region region(context->trace(), box_region);
      tables = mesh::make_box(*context, options_);
    }
    if (n_parts_ > 0) {
      check_n_parts(n_parts_, tables);
      const Region region(context->trace(), cut_region);
      mesh::partition_cells(*context, tables, n_parts_);
    }
    if (tables.n_parts > 0) {
      const Region region(context->trace(), reorder_region);
      tables = mesh::reorder_by_part(*context, std::move(tables));
    }
    io::write_h5m(*context, tables, output_);
    Json result = json_document("barrio.generate", 1);
    result["output"] = output_;
    result["vertices"] = tables.vertices.n_rows;
    result["cells"] = tables.n_global(tables.top_dim());
    result["parts"] = tables.n_parts;
    return result;
  }
  [[nodiscard]] std::string render(const Json& r) const override {
    return fmt::format("{}: {} {}, {} vertices{}\n", output_, format_count(r["cells"].get<std::int64_t>()),
                       options_.tets ? "tets" : "hexes", format_count(r["vertices"].get<std::int64_t>()),
                       r["parts"].get<int>() > 0 ? fmt::format(", {} parts", r["parts"].get<int>()) : "");
  }

 private:
  std::string shape_;
  std::vector<std::int64_t> cells_{10, 10, 10};
  std::vector<double> low_{0.0, 0.0, 0.0};
  std::vector<double> high_{1.0, 1.0, 1.0};
  mesh::BoxOptions options_;
  int n_parts_ = 0;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> make_generate() { return std::make_unique<Generate>(); }

}  // namespace barrio::apps
