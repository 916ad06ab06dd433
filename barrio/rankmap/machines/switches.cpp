#include "barrio/rankmap/machines/switches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/line_reader.hpp"
#include "barrio/rankmap/hosts.hpp"
#include "barrio/rankmap/text/words.hpp"

namespace barrio::rankmap {
namespace {

constexpr const char* form = "write 'SwitchName=s1 Nodes=n[1-16]' or 'SwitchName=top Switches=s[1-4]'";

struct Switch {
  std::string name;
  int line = 0;
  std::vector<std::string> nodes, switches;
  bool has_parent = false;
};

class SwitchFile {
 public:
  explicit SwitchFile(const std::string& path) : reader_(path) {
    while (reader_.next_line()) read_line();
    if (switches_.empty()) reader_.fail("names no switch", form);
    for (Switch& one : switches_) {
      for (const std::string& name : one.switches) {
        const auto found = places_.find(name);
        if (found == places_.end())
          fail_at(one, fmt::format("switch {} contains {}, which is not a switch", one.name, name));
        Switch& below = switches_[found->second];
        if (below.has_parent) fail_at(one, fmt::format("switch {} is under two switches", name));
        below.has_parent = true;
      }
    }
  }

  [[nodiscard]] Switches tree() {
    for (const Switch& one : switches_)
      if (!one.has_parent) descend(one, {});
    if (n_visited_ != std::ssize(switches_)) fail_at(switches_.front(), "some switches contain each other in a ring");
    std::size_t depth = 0;
    for (const auto& path : paths_) depth = std::max(depth, path.size());
    Switches made{.nodes = std::move(nodes_), .levels = std::vector<std::vector<int>>(depth)};
    // From the nodes outwards: the last switch of a path is the node's own.
    for (std::size_t level = 0; level < depth; ++level) {
      int number = -1;
      const std::vector<int>* last = nullptr;
      for (const auto& path : paths_) {
        const bool is_same = last != nullptr && path.size() > level && last->size() == path.size() &&
                             std::equal(path.begin(), path.end() - level, last->begin());
        if (!is_same) ++number;
        made.levels[level].push_back(number);
        last = &path;
      }
    }
    return made;
  }

 private:
  [[noreturn]] void fail_at(const Switch& one, std::string cause) const {
    throw Error(ErrorCode::bad_input,
                {.subject = fmt::format("{}:{}", reader_.path(), one.line), .cause = std::move(cause), .remedy = form});
  }

  void read_line() {
    Switch one{.name = {}, .line = reader_.line_number(), .nodes = {}, .switches = {}};
    std::vector<std::string_view> words = reader_.words();
    while (!words.empty() && words.back() == "\\") {  // continues on the next line
      words.pop_back();
      if (!reader_.next_line()) break;
      for (const std::string_view more : reader_.words()) words.push_back(more);
    }
    for (const std::string_view word : words) {
      if (word.starts_with('#')) break;
      const std::size_t equal = word.find('=');
      if (equal == std::string_view::npos) reader_.fail(fmt::format("'{}' must be KEY=VALUE", word), form);
      const std::string key = detail::lower(word.substr(0, equal));
      const std::string_view value = word.substr(equal + 1);
      if (key == "switchname") one.name = value;
      if (key == "nodes") one.nodes = names_in(value);
      if (key == "switches") one.switches = names_in(value);
    }
    if (one.name.empty() && one.nodes.empty() && one.switches.empty()) return;  // empty, or another kind of line
    if (one.name.empty() || (one.nodes.empty() == one.switches.empty()))
      reader_.fail("must be a switch with either nodes or switches under it", form);
    if (!places_.emplace(one.name, switches_.size()).second)
      reader_.fail(fmt::format("switch {} appears twice", one.name), form);
    for (const std::string& node : one.nodes)
      if (!known_.insert(node).second) reader_.fail(fmt::format("node {} is under two switches", node), form);
    switches_.push_back(std::move(one));
  }

  [[nodiscard]] std::vector<std::string> names_in(std::string_view value) const {
    try {
      return expand_names(value);
    } catch (const Error& error) {
      reader_.fail(error.cause(), form);
    }
  }

  void descend(const Switch& one, std::vector<int> path) {
    path.push_back(n_visited_++);
    for (const std::string& node : one.nodes) {
      nodes_.push_back(node);
      paths_.push_back(path);
    }
    for (const std::string& name : one.switches) descend(switches_[places_.at(name)], path);
  }

  LineReader reader_;
  std::vector<Switch> switches_;
  std::unordered_map<std::string, std::size_t> places_;
  std::unordered_set<std::string> known_;
  std::vector<std::string> nodes_;
  std::vector<std::vector<int>> paths_;  // by node: the switches above it, outermost first
  int n_visited_ = 0;
};

}  // namespace

Switches read_topology_conf(const std::string& path) { return SwitchFile(path).tree(); }

Switches keep_nodes(const Switches& switches, std::span<const std::string> names) {
  const std::unordered_set<std::string> wanted(names.begin(), names.end());
  Switches kept{.nodes = {}, .levels = std::vector<std::vector<int>>(switches.levels.size())};
  for (std::size_t node = 0; node < switches.nodes.size(); ++node) {
    if (!wanted.contains(switches.nodes[node])) continue;
    kept.nodes.push_back(switches.nodes[node]);
    for (std::size_t level = 0; level < switches.levels.size(); ++level)
      kept.levels[level].push_back(switches.levels[level][node]);
  }
  if (kept.nodes.size() < wanted.size()) {
    const std::unordered_set<std::string> found(kept.nodes.begin(), kept.nodes.end());
    const auto missing = std::ranges::find_if(names, [&](const std::string& name) { return !found.contains(name); });
    throw Error(ErrorCode::bad_input, {.subject = fmt::format("host {}", *missing),
                                       .cause = "is under no switch of the machine",
                                       .remedy = "name hosts of the topology"});
  }
  // Number the remaining switches, and drop levels that distinguish no more nodes than another level does.
  std::vector<std::vector<int>> levels;
  std::vector<int> inner(kept.nodes.size());
  std::iota(inner.begin(), inner.end(), 0);
  for (const std::vector<int>& old : kept.levels) {
    std::vector<int> level;
    for (std::size_t node = 0; node < old.size(); ++node)
      level.push_back(node == 0 ? 0 : level.back() + (old[node] != old[node - 1] ? 1 : 0));
    if (level.empty() || level == inner || level.back() == 0) continue;
    inner = level;
    levels.push_back(std::move(level));
  }
  kept.levels = std::move(levels);
  return kept;
}

}  // namespace barrio::rankmap
