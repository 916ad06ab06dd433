#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>

#include "apps/command.hpp"
#include "apps/reading.hpp"
#include "apps/text/table.hpp"
#include "barrio/base/text.hpp"
#include "barrio/io/read.hpp"
#include "barrio/io/write.hpp"
#include "barrio/mesh/part_traffic.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/report.hpp"

namespace barrio::apps {
namespace {

constexpr RegionName load_region{"load"};
constexpr RegionName validate_region{"load.validate"};
constexpr std::array load_steps{WorkStep{"io.read", 0.15},          WorkStep{"mesh.cells", 0.15},
                                WorkStep{"mesh.share", 0.03},       WorkStep{"mesh.ghosts", 0.07},
                                WorkStep{"mesh.number", 0.2},       WorkStep{"mesh.sides", 0.1},
                                WorkStep{validate_region.text, 0.3}};

/// Return min, mean, max and total of a number over ranks. Collective.
Json spread(mpi::Context& context, std::int64_t mine) {
  const auto low = mpi::min(context, mine);
  const auto high = mpi::max(context, mine);
  const auto total = mpi::sum(context, mine);
  return Json{{"min", low}, {"mean", static_cast<double>(total) / context.size()}, {"max", high}, {"total", total}};
}

class Load : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "load"; }
  [[nodiscard]] std::string summary() const override {
    return "Read a mesh in parallel, find the entities that ranks share, add ghosts, and report time, memory, "
           "neighbours, traffic";
  }
  [[nodiscard]] std::string example() const override {
    return "barrio --ranks 4 load wing8.h5m --ghosts 1 --vtkhdf ghosts.vtkhdf";
  }
  [[nodiscard]] bool is_parallel() const override { return true; }
  [[nodiscard]] std::span<const WorkStep> work_steps() const override {
    return std::span(load_steps).first(validates_ ? load_steps.size() : load_steps.size() - 1);
  }
  [[nodiscard]] std::vector<Output> outputs() const override { return {{vtkhdf_}, {traffic_}, {part_traffic_}}; }
  void add_options(CLI::App& app) override {
    app.add_option("IN", input_, fmt::format("Mesh file ({})", io::readable_formats))->required();
    app.add_option("-g,--ghosts", options_.ghost_layers, "Layers of ghost cells")->capture_default_str();
    app.add_option("-m,--method", options_.partitioner,
                   "Partitioner for files without a partition: rcb, hilbert, metis, ptscotch, hypergraph")
        ->capture_default_str();
    app.add_option("--partition-tag", options_.partition_tag,
                   "Partition to use of a .h5m file that has several: a tag of sets, or an integer tag of cells")
        ->capture_default_str();
    reading_.add_to(app);
    app.add_flag("--validate", validates_, "Check all invariants of the mesh");
    app.add_option("--vtkhdf", vtkhdf_, "Write the distributed mesh with its ghosts, one piece per rank")
        ->check(suffix(".vtkhdf"));
    app.add_option("--traffic", traffic_,
                   "Write the traffic between ranks in one exchange of a vertex field, for barrio map");
    app.add_option("--part-traffic", part_traffic_, "The same, as if each part had its own rank");
  }
  Json run(mpi::Context* context) override {
    options_ = reading_.in(std::move(options_));
    const double begin = MPI_Wtime();
    std::optional<mesh::Mesh> loaded;
    {
      const Region region(context->trace(), load_region);
      loaded.emplace(io::read(*context, input_, options_));
    }
    const double seconds = mpi::max(*context, MPI_Wtime() - begin);
    mesh::Mesh& mesh = *loaded;
    if (validates_) {
      const Region region(context->trace(), validate_region);
      mesh.validate();
    }
    Json result = mpi::document(*context, "barrio.load", 1);
    result["input"] = input_;
    result["seconds"] = seconds;
    result["parts"] = mesh.n_parts();
    result["ghost_layers"] = mesh.ghost_layers();
    result["validated"] = validates_;
    result["checksum"] = hex(mesh.checksum());
    result["cell_dim"] = value(mesh.cell_dim());
    Json counts = Json::object();
    counts["vertices"] = mesh.n_global(mesh::Dim::vertex);
    for (int d = 1; d <= value(mesh.cell_dim()); ++d) {
      static constexpr std::array<const char*, 4> names{"vertices", "edges", "faces", "volumes"};
      counts[names[d]] = mesh.n_global(mesh::Dim{d});
    }
    result["counts"] = counts;
    const auto as_count = [](std::size_t n) { return static_cast<std::int64_t>(n); };
    result["owned_cells"] = spread(*context, as_count(mesh.n_owned(mesh.cell_dim())));
    result["ghost_cells"] = spread(*context, as_count(mesh.n_ghost(mesh.cell_dim())));
    result["shared_vertices"] = spread(*context, as_count(mesh.vertices().shared.size()));
    result["neighbours"] = spread(*context, as_count(mesh.neighbours().size()));
    result["memory_bytes"] = spread(*context, mesh.memory_bytes());
    result["peak_resident_bytes"] = spread(*context, peak_resident_bytes());

    // Traffic of one exchange, one number per vertex.
    auto field = mesh.add_field<double>("exchanged", mesh::Dim::vertex);
    auto halo = mesh.plan(field);
    halo.exchange();
    std::int64_t bytes = 0;
    for (const exchange::TrafficRow& row : halo.traffic()) bytes += row.bytes;
    result["exchange_messages"] = spread(*context, as_count(halo.plan().readers.size()));
    result["exchange_bytes"] = spread(*context, bytes);
    if (!traffic_.empty()) exchange::write_traffic(*context, traffic_, context->size(), halo.traffic());
    if (!part_traffic_.empty())
      exchange::write_traffic(*context, part_traffic_, mesh.n_parts(), mesh::part_traffic(mesh, 1, sizeof(double)));
    if (!vtkhdf_.empty()) {
      io::VtkhdfWriter writer(mesh, vtkhdf_, {.pieces = io::Pieces::ranks_with_ghosts});
      writer.close();
    }
    return result;
  }
  [[nodiscard]] std::string render(const Json& r) const override {
    const auto span = [](const std::string& low, const std::string& high, const std::string& what) {
      return fmt::format("{} per rank", low == high ? low + what : fmt::format("{} to {}{}", low, high, what));
    };
    const auto show = [&](const Json& s, const std::string& what = "") {
      return span(format_count(s["min"].get<std::int64_t>()), format_count(s["max"].get<std::int64_t>()), what);
    };
    const auto show_bytes = [&](const Json& s) {
      return span(format_bytes(s["min"].get<std::uint64_t>()), format_bytes(s["max"].get<std::uint64_t>()), "");
    };
    std::vector<std::string> counts;
    for (const auto& [what, n] : r["counts"].items())
      if (n != 0) counts.push_back(fmt::format("{} {}", format_count(n.get<std::int64_t>()), what));
    std::vector<std::pair<std::string, std::string>> rows{
        {"mesh", fmt::format("{}", fmt::join(counts, ", "))},
        {"parts",
         fmt::format("{} on {} rank{}", r["parts"].get<int>(), r["ranks"].get<int>(), r["ranks"] == 1 ? "" : "s")},
        {"checksum", r["checksum"].get<std::string>()},
        {"time", format_seconds(r["seconds"].get<double>())},
        {"owned cells", show(r["owned_cells"])},
        {"ghost cells", show(r["ghost_cells"])},
        {"shared vertices", show(r["shared_vertices"])},
        {"neighbours", show(r["neighbours"])},
        {"exchange", fmt::format("{}, {}", show(r["exchange_messages"], " messages"), show_bytes(r["exchange_bytes"]))},
        {"mesh memory", show_bytes(r["memory_bytes"])},
        {"peak memory", show_bytes(r["peak_resident_bytes"])}};
    if (validates_) rows.emplace_back("validated", "yes");
    if (!vtkhdf_.empty()) rows.emplace_back("wrote", vtkhdf_);
    if (!traffic_.empty()) rows.emplace_back("wrote", traffic_);
    if (!part_traffic_.empty()) rows.emplace_back("wrote", part_traffic_);
    return input_ + "\n" + two_columns(rows);
  }

 private:
  std::string input_;
  std::string vtkhdf_;
  std::string traffic_;
  std::string part_traffic_;
  io::ReadOptions options_;
  Reading reading_;
  bool validates_ = false;
};

}  // namespace

std::unique_ptr<Command> make_load() { return std::make_unique<Load>(); }

}  // namespace barrio::apps
