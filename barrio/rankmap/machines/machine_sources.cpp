#include "barrio/rankmap/machine_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <unordered_map>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/json.hpp"
#include "barrio/base/line_reader.hpp"
#include "barrio/rankmap/machines/node_inside.hpp"
#include "barrio/rankmap/machines/switches.hpp"
#include "barrio/rankmap/measured_machine.hpp"

namespace barrio::rankmap {
namespace {

enum class FileKind { none, hosts, topology, matrix, measured };

bool is_number(std::string_view word) {
  double value = 0.0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  return problem != std::errc::invalid_argument && end == word.data() + word.size();
}

FileKind kind_of(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::exists(path, ignored)) return FileKind::none;
  LineReader reader(path);
  while (reader.next_line()) {
    const auto words = reader.words();
    if (words.empty() || words.front().starts_with('#') || words.front().starts_with('%')) continue;
    if (words.front().starts_with('{')) return FileKind::measured;
    if (words.front().starts_with('<'))
      reader.fail("is XML, which describes the inside of a node", "give it with --node, and the nodes with --hosts");
    if (words.front().find('=') != std::string_view::npos) return FileKind::topology;
    return std::ranges::all_of(words, is_number) ? FileKind::matrix : FileKind::hosts;
  }
  reader.fail("is empty", "give a host file, topology.conf, a matrix of distances or the result of --measure");
}

std::vector<HostRun> hosts_in(const std::string& list_or_file) {
  std::error_code ignored;
  if (list_or_file.empty()) return {};
  return std::filesystem::exists(list_or_file, ignored) ? read_host_file(list_or_file) : parse_hosts(list_or_file);
}

/// Make a tree: the nodes in the order of the machine, each with its inside, under switches.
Machine tree_of(const std::vector<HostRun>& nodes, const Switches& switches, const std::optional<NodeInside>& inside,
                std::vector<double> distances) {
  Machine::Branches branches;
  const std::size_t n_inner = inside ? inside->levels.size() : 0;
  const bool has_groups = inside && inside->group_sizes.size() > 1;  // a node is then a level of its own
  const std::size_t n_levels = n_inner + (has_groups ? 1 : 0) + switches.levels.size();
  branches.levels.resize(n_levels);
  std::vector<int> first_branch(n_inner, 0);
  std::vector<std::string> names;
  for (int node = 0; node < std::ssize(nodes); ++node) {
    const NodeInside its = inside ? first_cores(*inside, nodes[node].count) : plain_node(nodes[node].count);
    for (std::size_t group = 0; group < its.group_sizes.size(); ++group) {
      branches.group_sizes.push_back(its.group_sizes[group]);
      std::size_t level = 0;
      for (; level < n_inner; ++level) branches.levels[level].push_back(first_branch[level] + its.levels[level][group]);
      if (has_groups) branches.levels[level++].push_back(node);
      for (const std::vector<int>& above : switches.levels) branches.levels[level++].push_back(above[node]);
    }
    for (std::size_t level = 0; level < n_inner; ++level)
      if (!its.levels[level].empty()) first_branch[level] += its.levels[level].back() + 1;
    names.push_back(nodes[node].name);
  }
  branches.n_node_levels = static_cast<int>(n_inner) + (has_groups ? 2 : 1);
  const std::size_t n_inside = branches.n_node_levels;
  if (distances.empty())
    for (int level = 0; std::cmp_less(level, n_levels + 2); ++level) {
      const int n_outside = level + 1 - branches.n_node_levels;
      distances.push_back(n_outside < 1 ? level + 1 : 10.0 * n_outside);
    }
  if (distances.size() != n_levels + 2)
    refuse(ErrorCode::usage, "--distances",
           fmt::format("are {}, but the machine has {} levels: {} inside a node, {} between nodes", distances.size(),
                       n_levels + 2, n_inside, n_levels + 2 - n_inside),
           "give one per level, from the inside out, as in 1:10");
  branches.distances = std::move(distances);
  Machine machine = Machine::uneven_tree(std::move(branches));
  machine.set_node_names(std::move(names));
  return machine;
}

/// Make a machine of hosts, under switches if these are known.
Machine machine_of(std::vector<HostRun> hosts, const std::optional<Switches>& switches, const MachineSources& sources,
                   std::vector<double> distances) {
  std::optional<NodeInside> inside;
  if (!sources.node.empty()) inside = read_hwloc(sources.node);
  for (HostRun& host : hosts) {
    if (host.count > 0) continue;
    host.count = sources.cores_per_node > 0 ? sources.cores_per_node : inside ? inside->n_cores() : 0;
    if (host.count == 0)
      refuse(ErrorCode::usage, fmt::format("host {}", host.name), "has an unknown number of cores",
             "state it: --cores 8, or 'n01:8' in the list of hosts, or the inside of a node with --node");
  }
  if (!switches) return tree_of(hosts, {}, inside, std::move(distances));
  // The machine's nodes are in the order of the tree, but the launcher fills them in the order of the list.
  std::vector<std::string> names;
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    names.push_back(hosts[i].name);
    places.emplace(hosts[i].name, i);
  }
  const Switches kept = keep_nodes(*switches, names);
  std::vector<HostRun> nodes;
  std::vector<int> fill_order(hosts.size());
  for (int node = 0; node < std::ssize(kept.nodes); ++node) {
    const std::size_t place = places.at(kept.nodes[node]);
    fill_order[place] = node;
    nodes.push_back(hosts[place]);
  }
  Machine machine = tree_of(nodes, kept, inside, std::move(distances));
  machine.set_fill_order(std::move(fill_order));
  return machine;
}

Machine with_names(Machine machine, const std::vector<HostRun>& hosts) {
  if (hosts.empty()) return machine;
  std::vector<std::string> names;
  for (int node = 0; node < std::ssize(hosts); ++node) {
    const HostRun& host = hosts[node];
    if (host.count > 0 && node < machine.n_nodes() && host.count != machine.cores_of_node(node))
      refuse(ErrorCode::usage, fmt::format("host {}", host.name),
             fmt::format("has {} cores in --hosts, but {} in the machine", host.count, machine.cores_of_node(node)),
             "state it once");
    names.push_back(host.name);
  }
  machine.set_node_names(std::move(names));
  return machine;
}

}  // namespace

std::vector<double> read_distance_matrix(const std::string& path, int& n_cores) {
  LineReader reader(path);
  std::vector<double> values;
  std::size_t n = 0;
  constexpr std::size_t max_cores = 1 << 14;
  const char* const form = "give a matrix of distances between cores: n lines of n numbers";
  while (reader.next_line()) {
    const auto words = reader.words();
    if (words.empty() || words.front().starts_with('#') || words.front().starts_with('%')) continue;
    if (n == 0 && words.size() == 1 && values.empty() && words.front() != "0") continue;  // the number of rows
    if (n == 0) n = words.size();
    if (n > max_cores)
      reader.fail(fmt::format("is a row of {} cores, but a matrix has at most {}", n, max_cores), form);
    if (words.size() != n) reader.fail(fmt::format("has {} numbers, but the first row has {}", words.size(), n), form);
    if (values.size() == n * n) reader.fail(fmt::format("is more than {} rows of {} numbers", n, n), form);
    const std::size_t row = values.size() / n;
    for (std::size_t column = 0; column < n; ++column) {
      values.push_back(reader.amount(words[column], fmt::format("the distance of cores {} and {}", row, column)));
      if (column == row && values.back() != 0.0)
        reader.fail(fmt::format("gives core {} a distance of {} to itself, which must be 0", row, values.back()), form);
      if (column < row && values.back() != values[column * n + row])
        reader.fail(fmt::format("puts core {} at distance {} from core {}, but the line of core {} says {}", row,
                                values.back(), column, column, values[column * n + row]),
                    "make the matrix symmetric, for instance by the mean of both values");
    }
  }
  if (n == 0 || values.size() != n * n)
    reader.fail(fmt::format("ends after {} rows of {}", n == 0 ? 0 : values.size() / n, n), form);
  n_cores = static_cast<int>(n);
  return values;
}

Machine describe_machine(const MachineSources& sources, std::span<const HostRun> recorded) {
  std::vector<HostRun> hosts = merge_hosts(hosts_in(sources.hosts));
  const FileKind kind = kind_of(sources.machine);
  if (sources.machine.empty() && hosts.empty()) hosts = merge_hosts(recorded);
  if (sources.machine.empty() && hosts.empty())
    refuse(ErrorCode::usage, "--machine", "is required: the traffic does not say where its ranks were",
           "describe the machine, as in --machine 2x4, or name its nodes, as in --hosts n01:8,n02:8; see --help");
  switch (kind) {
    case FileKind::topology: {
      const Switches switches = read_topology_conf(sources.machine);
      if (hosts.empty())
        for (const std::string& name : switches.nodes) hosts.push_back({name, 0});
      return machine_of(std::move(hosts), switches, sources, sources.distances);
    }
    case FileKind::hosts:
      if (!hosts.empty())
        refuse(ErrorCode::usage, "--hosts", "is given, but --machine is a host file too", "give one of them");
      return machine_of(merge_hosts(read_host_file(sources.machine)), {}, sources, sources.distances);
    case FileKind::measured: {
      const MeasuredMachine measured = read_measured_machine(sources.machine);
      if (hosts.empty()) hosts = merge_hosts(measured.hosts);
      return machine_of(std::move(hosts), {}, sources,
                        sources.distances.empty() ? measured.distances() : sources.distances);
    }
    case FileKind::matrix: {
      if (!sources.node.empty() || !sources.distances.empty())
        refuse(ErrorCode::usage, fmt::format("machine '{}'", sources.machine),
               "is a matrix, which already has all distances", "leave out --node and --distances");
      int n_cores = 0;
      std::vector<double> distances = read_distance_matrix(sources.machine, n_cores);
      const int per_node = sources.cores_per_node > 0 ? sources.cores_per_node : 1;
      return with_names(Machine::dense(n_cores, std::move(distances), per_node), hosts);
    }
    case FileKind::none: break;
  }
  if (sources.machine.empty()) return machine_of(std::move(hosts), {}, sources, sources.distances);
  if (!sources.node.empty() || !sources.distances.empty() || sources.cores_per_node > 0)
    refuse(ErrorCode::usage, fmt::format("machine '{}'", sources.machine),
           "already has the cores of a node and the distances",
           "leave out --node, --cores and --distances, or name nodes with --hosts instead of --machine");
  if (sources.machine.find_first_of("./") != std::string::npos && sources.machine.find(';') == std::string::npos)
    refuse(ErrorCode::usage, fmt::format("machine '{}'", sources.machine), "is neither a machine nor an existing file",
           "check the name");
  return with_names(Machine::parse(sources.machine), hosts);
}

}  // namespace barrio::rankmap
