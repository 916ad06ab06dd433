#include "barrio/rankmap/map_document.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace barrio::rankmap {
namespace {

Json figures_json(const PlacementFigures& figures) {
  return Json{{"cost", figures.cost},
              {"inter_node_weight", figures.inter_node_weight},
              {"inter_node_share", figures.inter_node_share()},
              {"max_node_out_bytes", figures.max_node_out_bytes}};
}

Json square_json(const std::vector<double>& values, int n) {
  Json rows = Json::array();
  for (std::int64_t i = 0; i < n; ++i) {
    const auto begin = values.begin() + i * n;
    rows.push_back(std::vector<double>(begin, begin + n));
  }
  return rows;
}

[[noreturn]] void refuse_document(const std::string& subject, std::string cause) {
  throw Error(ErrorCode::bad_input, {.subject = subject,
                                     .cause = std::move(cause),
                                     .remedy = "give a document that 'barrio map --json' wrote for this machine"});
}

}  // namespace

Json to_json(const MapResult& result, const TrafficMatrix& traffic, const Machine& machine) {
  Json document = json_document(map_schema, map_schema_version);
  document["ranks"] = result.placement.n_ranks();
  document["cores"] = machine.n_cores();
  document["nodes"] = machine.n_nodes();
  document["machine"] = machine.text();
  document["weight"] = name_of(result.weight);
  document["method"] = result.method;
  document["complete"] = result.is_complete;
  document["seconds"] = result.seconds;
  document["total_weight"] = result.before.total_weight;
  document["lower_bound"] = result.lower_bound;
  document["cost_construction"] = std::isnan(result.cost_construction) ? Json() : Json(result.cost_construction);
  document["before"] = figures_json(result.before);
  document["after"] = figures_json(result.after);
  document["before"]["mixed_cost"] = result.mixed_before;
  document["after"]["mixed_cost"] = result.mixed_after;
  document["warnings"] = Json::array();
  if (std::string fault = machine.fault_of_distances(); !fault.empty())
    document["warnings"].push_back(std::move(fault));
  document["placement"] = result.placement.core_of_rank();
  document["given"] = result.given.core_of_rank();
  if (machine.n_nodes() <= max_names_in_document) {
    Json names = Json::array();
    for (int node = 0; node < machine.n_nodes(); ++node) names.push_back(machine.node_name(node));
    document["node_names"] = std::move(names);
    Json counts = Json::array();
    for (int node = 0; node < machine.n_nodes(); ++node) counts.push_back(machine.cores_of_node(node));
    document["cores_of_nodes"] = std::move(counts);
  }
  if (machine.n_nodes() <= max_nodes_in_document) {
    document["before"]["node_bytes"] =
        square_json(compute_node_bytes(traffic, machine, result.given), machine.n_nodes());
    document["after"]["node_bytes"] =
        square_json(compute_node_bytes(traffic, machine, result.placement), machine.n_nodes());
  }
  return document;
}

Placement placement_from_json(const Json& document, int n_cores, const std::string& subject) {
  const auto cores = document.find("cores");
  if (cores == document.end() || !cores->is_number_integer()) refuse_document(subject, "has no whole number \"cores\"");
  if (*cores != n_cores)
    refuse_document(subject, fmt::format("is for a machine of {} cores, not {}", cores->dump(), n_cores));
  const auto list = document.find("placement");
  if (list == document.end() || !list->is_array()) refuse_document(subject, "has no list \"placement\"");
  std::vector<int> core_of_rank;
  for (const Json& core : *list) {
    if (!core.is_number_integer() || core < 0 || core >= n_cores)
      refuse_document(subject, fmt::format("placement[{}] is {}, not a core in 0..{}", core_of_rank.size(), core.dump(),
                                           n_cores - 1));
    core_of_rank.push_back(core.get<int>());
  }
  try {
    return {std::move(core_of_rank), n_cores};
  } catch (const Error& error) {
    refuse_document(subject, error.what());
  }
}

std::vector<int> nodes_from_json(const Json& document, const std::string& subject) {
  const auto counts = document.find("cores_of_nodes");
  if (counts == document.end() || !counts->is_array()) refuse_document(subject, "does not state the node of each core");
  std::vector<int> node_of_core;
  int node = 0;
  for (const Json& count : *counts) {
    if (!count.is_number_integer() || count < 1 || count > Machine::max_cores ||
        node_of_core.size() + count.get<std::size_t>() > Machine::max_cores)
      refuse_document(subject, fmt::format("says {} where the number of a node's cores is expected", count.dump()));
    node_of_core.insert(node_of_core.end(), count.get<std::size_t>(), node++);
  }
  const Placement placement = placement_from_json(document, static_cast<int>(node_of_core.size()), subject);
  std::vector<int> nodes;
  for (const int core : placement.core_of_rank()) nodes.push_back(node_of_core[core]);
  return nodes;
}

}  // namespace barrio::rankmap
