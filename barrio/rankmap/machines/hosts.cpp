#include "barrio/rankmap/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/base/line_reader.hpp"

namespace barrio::rankmap {
namespace {

constexpr std::size_t max_names = 1 << 20;
constexpr int max_places = 1 << 20;  // of one host

[[noreturn]] void refuse_names(std::string_view text, std::string cause) {
  throw Error(ErrorCode::usage, {.subject = fmt::format("hosts '{}'", text),
                                 .cause = std::move(cause),
                                 .remedy = "write names separated by ',', as in 'n01,n[02-04]' or 'n01:8,n02:8'"});
}

std::optional<int> count_in(std::string_view text) {
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || problem != std::errc{} || end != text.data() + text.size() || value < 0) return {};
  if (value > max_places) return {};
  return value;
}

/// Split at the commas outside of brackets.
std::vector<std::string_view> split_outside_brackets(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') ++depth;
    if (i < text.size() && text[i] == ']') --depth;
    if (i < text.size() && (text[i] != ',' || depth != 0)) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

/// Return the numbers of "01-03,7", each in the width in which it is written.
std::vector<std::string> numbers_of(std::string_view list, std::string_view whole) {
  std::vector<std::string> numbers;
  for (const std::string_view range : split_outside_brackets(list)) {
    const std::size_t dash = range.find('-');
    const std::string_view low = range.substr(0, dash);
    const auto first = count_in(low);
    const auto last = dash == std::string_view::npos ? first : count_in(range.substr(dash + 1));
    if (!first || !last || *last < *first) refuse_names(whole, fmt::format("'{}' is not a number or range", range));
    if (std::cmp_greater_equal(*last - *first, max_names))
      refuse_names(whole, fmt::format("'{}' has too many numbers", range));
    for (int number = *first; number <= *last; ++number) numbers.push_back(fmt::format("{:0{}}", number, low.size()));
  }
  return numbers;
}

void expand_one(std::string_view name, std::string_view whole, std::vector<std::string>& names) {
  std::vector<std::string> made{""};
  while (!name.empty()) {
    const std::size_t open = name.find('[');
    for (std::string& start : made) start += name.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = name.find(']', open);
    if (close == std::string_view::npos) refuse_names(whole, "has a '[' without ']'");
    const auto numbers = numbers_of(name.substr(open + 1, close - open - 1), whole);
    if (made.size() * numbers.size() > max_names) refuse_names(whole, "has too many names");
    std::vector<std::string> longer;
    for (const std::string& start : made)
      for (const std::string& number : numbers) longer.push_back(start + number);
    made = std::move(longer);
    name.remove_prefix(close + 1);
  }
  for (std::string& one : made) {
    if (one.empty() || one.find_first_of(" \t[]=/\\\"'#") != std::string::npos)
      refuse_names(whole, fmt::format("'{}' is not a host name", one));
    names.push_back(std::move(one));
  }
}

}  // namespace

std::vector<std::string> expand_names(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view name : split_outside_brackets(text)) {
    if (name.empty()) refuse_names(text, "has nothing between two ','");
    expand_one(name, text, names);
  }
  return names;
}

std::vector<HostRun> parse_hosts(std::string_view text) {
  std::vector<HostRun> hosts;
  for (const std::string_view item : split_outside_brackets(text)) {
    const std::size_t colon = item.rfind(':');
    const auto count = colon == std::string_view::npos ? std::optional(0) : count_in(item.substr(colon + 1));
    if (!count || (colon != std::string_view::npos && *count == 0))
      refuse_names(text, fmt::format("'{}' must have a count of 1 to {} after its ':'", item, max_places));
    for (std::string& name : expand_names(item.substr(0, colon))) hosts.push_back({std::move(name), *count});
  }
  return hosts;
}

std::vector<HostRun> read_host_file(const std::string& path) {
  LineReader reader(path);
  std::vector<HostRun> hosts;
  while (reader.next_line()) {
    std::vector<std::string_view> words = reader.words();
    words.erase(std::ranges::find_if(words, [](std::string_view word) { return word.starts_with('#'); }), words.end());
    if (words.empty()) continue;
    std::string_view name = words.front();
    std::optional<int> count;
    if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos) {
      count = count_in(name.substr(colon + 1));
      if (!count || *count == 0)
        reader.fail(fmt::format("'{}' must have a count of 1 to {} after its ':'", name, max_places));
      name = name.substr(0, colon);
    }
    for (std::size_t i = 1; i < words.size(); ++i) {
      std::string_view word = words[i];
      if (word.starts_with("slots=")) {
        word.remove_prefix(6);
      } else if (i > 1 || word.find('=') != std::string_view::npos) {
        continue;  // such as max_slots=, user=
      }
      count = count_in(word);
      if (!count || *count == 0) reader.fail(fmt::format("'{}' must be a count of 1 to {}", words[i], max_places));
    }
    try {
      for (std::string& one : expand_names(name)) hosts.push_back({std::move(one), count.value_or(0)});
    } catch (const Error& error) {
      reader.fail(error.cause(), "give one host per line, as 'n01', 'n01:8' or 'n01 slots=8'");
    }
  }
  if (hosts.empty()) reader.fail("names no host", "give one host per line, as 'n01', 'n01:8' or 'n01 slots=8'");
  // A host that is named repeatedly has one slot per line.
  std::unordered_map<std::string, int> lines;
  for (const HostRun& host : hosts) ++lines[host.name];
  for (HostRun& host : hosts)
    if (host.count == 0 && lines[host.name] > 1) host.count = 1;
  return hosts;
}

std::vector<HostRun> merge_hosts(std::span<const HostRun> runs) {
  std::vector<HostRun> hosts;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const HostRun& run : runs) {
    const auto [place, is_new] = places.try_emplace(run.name, hosts.size());
    if (is_new)
      hosts.push_back(run);
    else
      hosts[place->second].count = std::min(hosts[place->second].count + run.count, Machine::max_cores);
  }
  return hosts;
}

Placement placement_of_hosts(std::span<const HostRun> ranks, const Machine& machine) {
  std::unordered_map<std::string, int> nodes;
  for (int node = 0; node < machine.n_nodes(); ++node) nodes.emplace(machine.node_name(node), node);
  std::vector<int> used(machine.n_nodes(), 0);
  std::vector<int> cores;
  for (const HostRun& run : ranks) {
    const auto found = nodes.find(run.name);
    if (found == nodes.end())
      throw Error(ErrorCode::bad_input,
                  {.subject = fmt::format("host {}", run.name),
                   .cause = "has ranks, but is not in the machine",
                   .remedy = "describe the machine on which the program ran, or name another order with --given"});
    int& first = used[found->second];
    if (first + run.count > machine.cores_of_node(found->second))
      throw Error(ErrorCode::bad_input,
                  {.subject = fmt::format("host {}", run.name),
                   .cause = fmt::format("has at least {} ranks, but {} cores in the machine", first + run.count,
                                        machine.cores_of_node(found->second)),
                   .remedy = "describe the machine on which the program ran, or name another order with --given"});
    for (int i = 0; i < run.count; ++i) cores.push_back(machine.first_core(found->second) + first++);
  }
  return {std::move(cores), machine.n_cores()};
}

}  // namespace barrio::rankmap
