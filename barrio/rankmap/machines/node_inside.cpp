#include "barrio/rankmap/machines/node_inside.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <pugixml.hpp>
#include <string_view>

#include "barrio/base/error.hpp"

namespace barrio::rankmap {
namespace {

// From the outside in; a package of hwloc 2 was a socket in hwloc 1.
enum Kind : std::size_t { package, numa, die, cache, n_kinds };

struct Core {
  std::array<int, n_kinds> inside{};  // the object of each kind that contains it
};

class Walker {
 public:
  void walk(const pugi::xml_node& object, std::array<int, n_kinds> inside, int depth = 0) {
    if (depth > 64) return;
    const std::string_view type = object.attribute("type").value();
    if (type == "Package" || type == "Socket") inside[package] = ++n_objects_;
    if (type == "Die" || type == "Group") inside[die] = ++n_objects_;
    if (type == "L3Cache" || (type == "Cache" && std::string_view(object.attribute("depth").value()) == "3"))
      inside[cache] = ++n_objects_;
    // In version 2 the memory is attached beside the cores: the object that has it is the NUMA node.
    if ((type == "NUMANode" && object.child("object")) || has_memory(object)) inside[numa] = ++n_objects_;
    if (type == "Core") cores.push_back({inside});
    if (type == "PU") units.push_back({inside});
    for (const pugi::xml_node child : object.children("object")) walk(child, inside, depth + 1);
  }
  std::vector<Core> cores, units;

 private:
  static bool has_memory(const pugi::xml_node& object) {
    for (const pugi::xml_node child : object.children("object"))
      if (std::string_view(child.attribute("type").value()) == "NUMANode" && !child.child("object")) return true;
    return false;
  }
  int n_objects_ = 0;
};

}  // namespace

int NodeInside::n_cores() const noexcept { return std::accumulate(group_sizes.begin(), group_sizes.end(), 0); }

NodeInside plain_node(int n_cores) { return {.group_sizes = {n_cores}, .levels = {}}; }

NodeInside read_hwloc(const std::string& path) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_file(path.c_str());
  constexpr const char* remedy = "make it on a node of the machine with 'lstopo node.xml'";
  if (parsed.status == pugi::status_file_not_found || parsed.status == pugi::status_io_error)
    throw Error(ErrorCode::failed, {.subject = path, .cause = "cannot be read", .remedy = "check the name"});
  Walker walker;
  for (const pugi::xml_node object : document.child("topology").children("object")) walker.walk(object, {});
  if (!parsed || (walker.cores.empty() && walker.units.empty()))
    throw Error(ErrorCode::bad_input,
                {.subject = path,
                 .cause = parsed ? "holds no cores" : fmt::format("is not XML: {}", parsed.description()),
                 .remedy = remedy});
  const std::vector<Core>& cores = walker.cores.empty() ? walker.units : walker.cores;
  // The branch of each core by kind, from the inside out; consecutive cores of a branch have one number.
  std::vector<std::vector<int>> levels;
  for (const Kind kind : {cache, die, numa, package}) {
    std::vector<int> level{0};
    for (std::size_t core = 1; core < cores.size(); ++core) {
      const Core &one = cores[core], &before = cores[core - 1];
      const bool is_same = one.inside[kind] == before.inside[kind] && one.inside[package] == before.inside[package];
      level.push_back(level.back() + (is_same ? 0 : 1));
    }
    const bool is_whole = level.back() == 0, is_of_single_cores = level.back() + 1 == std::ssize(cores);
    if (is_whole || is_of_single_cores || (!levels.empty() && levels.back() == level)) continue;
    // Skip a level that cuts across the one inside it: it would mislead more than it tells.
    bool is_nested = true;
    for (std::size_t core = 1; !levels.empty() && core < cores.size(); ++core)
      is_nested = is_nested && !(levels.back()[core] == levels.back()[core - 1] && level[core] != level[core - 1]);
    if (is_nested) levels.push_back(std::move(level));
  }
  NodeInside node;
  if (levels.empty()) return plain_node(static_cast<int>(cores.size()));
  const std::vector<int>& groups = levels.front();
  node.levels.resize(levels.size() - 1);
  for (std::size_t core = 0; core < cores.size(); ++core) {
    if (core > 0 && groups[core] == groups[core - 1]) {
      ++node.group_sizes.back();
      continue;
    }
    node.group_sizes.push_back(1);
    for (std::size_t level = 1; level < levels.size(); ++level) node.levels[level - 1].push_back(levels[level][core]);
  }
  return node;
}

NodeInside first_cores(const NodeInside& node, int n_cores) {
  if (n_cores > node.n_cores())
    throw Error(ErrorCode::bad_input,
                {.subject = "node",
                 .cause = fmt::format("has {} cores, but {} are to be used", node.n_cores(), n_cores),
                 .remedy = "describe the node that the job runs on, or use fewer cores"});
  NodeInside first{.group_sizes = {}, .levels = std::vector<std::vector<int>>(node.levels.size())};
  for (std::size_t group = 0; group < node.group_sizes.size() && n_cores > 0; ++group) {
    first.group_sizes.push_back(std::min(n_cores, node.group_sizes[group]));
    n_cores -= first.group_sizes.back();
    for (std::size_t level = 0; level < node.levels.size(); ++level)
      first.levels[level].push_back(node.levels[level][group]);
  }
  return first;
}

}  // namespace barrio::rankmap
