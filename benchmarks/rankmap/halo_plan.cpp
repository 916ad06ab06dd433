#include "benchmarks/rankmap/halo_plan.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/mpi/report.hpp"
#include "barrio/rankmap/search/construct.hpp"
#include "barrio/rankmap/search/exchange.hpp"
#include "barrio/rankmap/solve.hpp"
#include "benchmarks/rankmap/cloud.hpp"
#include "benchmarks/rankmap/halo_files.hpp"

namespace barrio::bench {
namespace {

using namespace rankmap;

void write_hosts(const std::string& path, const Machine& machine, const Placement& placement) {
  std::string text;  // without comments, which the simulator does not support
  for (const int core : placement.core_of_rank()) text += machine.node_name(machine.node_of(core)) + '\n';
  write_file_atomically(path, text);
}

/// Write the levels. @return the traffic of one cycle
TrafficMatrix write_levels(mpi::Context& context, const HaloPlanOptions& options, Json& levels) {
  const std::vector<int> visits = visits_of(options.cycle);
  std::vector<TrafficMatrix> traffic;
  std::vector<double> factors;
  Level level{.grid = options.is_structured ? wing_grid() : plate_cloud(600'000), .part = {}};
  level.part = cut_points(context, level.grid, options.cut, options.n_ranks);
  for (int i = 0; i < n_levels_of(options.cycle); ++i) {
    if (i > 0) level = coarsen(level);
    traffic.push_back(compute_traffic(level.grid, level.part, options.n_ranks));
    factors.push_back(static_cast<double>(std::ranges::count(visits, i)));
    write_level(level_path(options.folder, i), level.part, traffic.back());
    double halo_points = 0.0;
    for (const TrafficEntry& entry : traffic.back().entries()) halo_points += entry.points;
    levels.push_back({{"points", level.grid.n_points()},
                      {"halo_points", halo_points},
                      {"messages", traffic.back().entries().size()},
                      {"visits", factors.back()}});
  }
  return sum(traffic, factors);
}

}  // namespace

Json make_halo_plan(mpi::Context& context, const HaloPlanOptions& options) {
  const Machine machine = Machine::parse(options.machine);
  Json document = mpi::document(context, "barrio.bench.rankmap_halo_plan", 1);
  document["mesh"] = options.is_structured ? "wing" : "cloud";
  document["cut"] = name_of(options.cut);
  document["cycle"] = name_of(options.cycle);
  document["machine"] = machine.text();
  document["levels"] = Json::array();
  const TrafficMatrix traffic = write_levels(context, options, document["levels"]);
  const CommunicationGraph graph = traffic.compute_graph(Weight::bytes);

  const auto add = [&](const char* name, const Placement& placement) {
    write_hosts(options.folder + '/' + name + ".hosts", machine, placement);
    const PlacementFigures figures = compute_figures(traffic, machine, placement);
    document["orders"][name] = {{"cost", figures.cost},
                                {"inter_node_share", figures.inter_node_share()},
                                {"max_node_out_bytes", figures.max_node_out_bytes}};
  };
  add("given", Placement::in_order(options.n_ranks, machine.n_cores()));
  Placement papers = construct(graph, machine);
  add("construction", papers);
  exchange_in_blocks(graph, machine, papers, MapOptions().block);
  add("improvement", papers);
  const MapResult ours = map(traffic, machine, {.bottleneck = options.bottleneck});
  add("ours", ours.placement);
  document["found_by"] = ours.method;
  document["is_complete"] = ours.is_complete;
  return document;
}

}  // namespace barrio::bench
