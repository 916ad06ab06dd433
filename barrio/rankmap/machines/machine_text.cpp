#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "barrio/base/error.hpp"
#include "barrio/rankmap/machine.hpp"

namespace barrio::rankmap {
namespace {

// Splits one text, and quotes all of it in messages.
class Parser {
 public:
  explicit Parser(std::string_view text) {
    for (const char c : text)
      if (c != ' ' && c != '\t') text_ += c;
  }

  [[nodiscard]] std::string_view text() const noexcept { return text_; }

  [[noreturn]] void fail(std::string cause) const {
    throw Error(
        ErrorCode::usage,
        {.subject = fmt::format("machine '{}'", text_),
         .cause = std::move(cause),
         .remedy = "write \"8:16:4;1:10:20\" (cores per node:nodes per switch:switches;distances), \"8,8,4;1:10\" "
                   "(nodes of different sizes), \"2x4\" (nodes x cores) or \"torus:4x4x2;8;1:10\" "
                   "(nodes;cores per node;inside:per hop)"});
  }

  static std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
    std::vector<std::string_view> parts;
    for (;;) {
      const std::size_t end = text.find_first_of(separators);
      parts.push_back(text.substr(0, end));
      if (end == std::string_view::npos) return parts;
      text.remove_prefix(end + 1);
    }
  }

  [[nodiscard]] std::vector<int> counts(std::string_view text, std::string_view separators) const {
    std::vector<int> found;
    for (const std::string_view word : split(text, separators)) {
      int value = 0;
      const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (problem != std::errc{} || end != word.data() + word.size() || value < 1)
        fail(fmt::format("'{}' must be a count of at least 1", word));
      found.push_back(value);
    }
    return found;
  }

  [[nodiscard]] std::vector<double> distances(std::string_view text) const {
    std::vector<double> found;
    for (const std::string_view word : split(text, ":")) {
      double value = 0.0;
      const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (problem != std::errc{} || end != word.data() + word.size() || !std::isfinite(value) || value < 0.0)
        fail(fmt::format("'{}' must be a distance >= 0", word));
      found.push_back(value);
    }
    return found;
  }

 private:
  std::string text_;
};

// "8,8,4,8;1:10", and with even levels outside: "8,8,4,8:2:2;1:10:20".
Machine parse_uneven(const Parser& parser, std::string_view levels, std::vector<double> distances) {
  const auto first_colon = levels.find(':');
  std::vector<int> sizes = parser.counts(levels.substr(0, first_colon), ",");
  std::vector<int> arities{static_cast<int>(sizes.size())};
  if (first_colon != std::string_view::npos) arities = parser.counts(levels.substr(first_colon + 1), ":");
  if (arities.size() + 1 != distances.size())
    parser.fail(fmt::format("has {} levels and {} distances", arities.size() + 1, distances.size()));
  std::int64_t n_groups = 1;
  for (const int arity : arities)
    if (n_groups <= std::ssize(sizes)) n_groups *= arity;
  if (n_groups != std::ssize(sizes))
    parser.fail(fmt::format("has {} nodes, but its levels have {}", sizes.size(), n_groups));
  std::vector<std::vector<int>> branches;
  int per_branch = 1;
  for (std::size_t level = 0; level + 1 < arities.size(); ++level) {
    per_branch *= arities[level];
    std::vector<int>& branch = branches.emplace_back();
    for (int group = 0; group < n_groups; ++group) branch.push_back(group / per_branch);
  }
  return Machine::uneven_tree(
      {.group_sizes = std::move(sizes), .levels = std::move(branches), .distances = std::move(distances)});
}

Machine parse_tree(const Parser& parser) {
  const auto parts = Parser::split(parser.text(), ";");
  if (parts.size() != 2) parser.fail(parts.size() == 1 ? "has no distances" : "has too many parts");
  if (parts[0].find(',') != std::string_view::npos) return parse_uneven(parser, parts[0], parser.distances(parts[1]));
  const auto arities = parser.counts(parts[0], ":/");
  const auto distances = parser.distances(parts[1]);
  if (arities.size() != distances.size())
    parser.fail(fmt::format("has {} levels and {} distances", arities.size(), distances.size()));
  int n_node_levels = 1;
  if (const std::size_t mark = parts[0].find('/'); mark != std::string_view::npos) {
    if (parts[0].find('/', mark + 1) != std::string_view::npos) parser.fail("has more than one '/'");
    n_node_levels = static_cast<int>(Parser::split(parts[0].substr(0, mark), ":").size());
  }
  return Machine::tree(arities, distances, n_node_levels);
}

Machine parse_torus(const Parser& parser, std::string_view text) {
  const auto parts = Parser::split(text, ";");
  if (parts.size() != 3) parser.fail("a torus must have three parts");
  const auto dimensions = parser.counts(parts[0], "x");
  const auto cores = parser.counts(parts[1], ":");
  const auto distances = parser.distances(parts[2]);
  if (cores.size() != 1) parser.fail("a torus must have one number of cores per node");
  if (distances.size() != 2) parser.fail("a torus must have two distances");
  return Machine::torus(dimensions, cores.front(), distances[0], distances[1]);
}

}  // namespace

Machine Machine::parse(std::string_view text) {
  const Parser parser(text);
  constexpr std::string_view torus_mark = "torus:";
  if (parser.text().empty()) parser.fail("is empty");
  if (parser.text().starts_with(torus_mark)) return parse_torus(parser, parser.text().substr(torus_mark.size()));
  if (parser.text().find_first_of(";:x") == std::string_view::npos) parser.fail("is not a machine");
  if (parser.text().find(';') == std::string_view::npos && parser.text().find('x') != std::string_view::npos) {
    const auto counts = parser.counts(parser.text(), "x");
    if (counts.size() != 2) parser.fail("has more parts than nodes and cores");
    return nodes(counts[0], counts[1]);
  }
  Machine machine = parse_tree(parser);
  machine.text_ = parser.text();
  return machine;
}

}  // namespace barrio::rankmap
