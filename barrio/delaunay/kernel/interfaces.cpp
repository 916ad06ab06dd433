#include "barrio/delaunay/kernel/interfaces.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace barrio::delaunay::detail {
void Interfaces::add(const Triangulation& mesh, const std::array<std::int32_t, 2>& ends, std::int32_t segment) {
  const Point& a = mesh.point(ends[0]);
  const Point& b = mesh.point(ends[1]);
  const std::int32_t axis = std::abs(b[0] - a[0]) >= std::abs(b[1] - a[1]) ? 0 : 1;
  pieces_.emplace(edge_key(ends[0], ends[1]), Piece{.interface = size()});
  const bool is_ascending = a[axis] < b[axis];
  const std::pair first(ends[0], a);
  const std::pair second(ends[1], b);
  entries_.push_back({.segment = segment,
                      .axis = axis,
                      .is_ascending = is_ascending,
                      .ends = {is_ascending ? first : second, is_ascending ? second : first},
                      .vertices = {}});
}

std::int32_t Interfaces::find(std::int32_t a, std::int32_t b) const noexcept {
  const auto found = pieces_.find(edge_key(a, b));
  return found == pieces_.end() ? -1 : found->second.interface;
}

void Interfaces::split(const Triangulation& mesh, std::int32_t interface, std::int32_t from, std::int32_t to,
                       std::int32_t vertex) {
  pieces_.erase(edge_key(from, to));
  pieces_.emplace(edge_key(from, vertex), Piece{.interface = interface});
  pieces_.emplace(edge_key(vertex, to), Piece{.interface = interface});
  const Point& p = mesh.point(vertex);
  entries_[interface].vertices.emplace_back(vertex, p);
  entries_[interface].is_sorted = false;
  if (!is_wanted(interface, p)) splits_.push_back({interface, p});
}

void Interfaces::sort(Entry& entry) {
  if (std::exchange(entry.is_sorted, true)) return;
  std::ranges::sort(entry.vertices, {}, [axis = entry.axis](const auto& one) { return one.second[axis]; });
}

std::vector<std::int32_t> Interfaces::rows_to_split() {
  std::vector<std::int32_t> rows;
  std::pair<std::int32_t, std::int32_t> latest(-1, -1);
  for (const Wanted& wanted : wanted_) {
    Entry& entry = entries_[wanted.interface];
    sort(entry);
    const auto along = [axis = entry.axis](const auto& one) { return one.second[axis]; };
    const auto next = std::ranges::lower_bound(entry.vertices, wanted.along, {}, along);
    if (next != entry.vertices.end() && along(*next) == wanted.along) continue;  // it was split there
    const std::int32_t from = next == entry.vertices.begin() ? entry.ends[0].first : std::prev(next)->first;
    const std::int32_t to = next == entry.vertices.end() ? entry.ends[1].first : next->first;
    if (std::exchange(latest, std::pair(from, to)) == latest) continue;
    if (const auto piece = pieces_.find(edge_key(from, to)); piece != pieces_.end()) rows.push_back(piece->second.row);
  }
  return rows;
}

std::vector<InterfaceSplit> Interfaces::take_splits() { return std::exchange(splits_, {}); }

void Interfaces::append_chain(std::int32_t interface, std::vector<std::int32_t>& to) {
  Entry& entry = entries_[interface];
  sort(entry);
  const auto first = std::ssize(to);
  for (const auto& [vertex, at] : entry.vertices) to.push_back(vertex);
  if (!entry.is_ascending) std::reverse(to.begin() + first, to.end());
}

void Interfaces::want(std::int32_t interface, std::span<const Point> positions) {
  Entry& entry = entries_[interface];
  sort(entry);
  const auto along = [axis = entry.axis](const auto& one) { return one.second[axis]; };
  for (const Point& p : positions) {
    const auto found = std::ranges::lower_bound(entry.vertices, p[entry.axis], {}, along);
    if (found == entry.vertices.end() || found->second != p) wanted_.push_back({interface, p[entry.axis], p});
  }
}

void Interfaces::sort_wanted() {
  std::ranges::sort(wanted_, {}, [](const Wanted& one) { return std::pair(one.interface, one.along); });
}

bool Interfaces::must_split(const Triangulation& mesh, std::int32_t interface, std::int32_t a,
                            std::int32_t b) const noexcept {
  if (wanted_.empty()) return false;
  const std::int32_t axis = entries_[interface].axis;
  const auto [low, high] = std::minmax(mesh.point(a)[axis], mesh.point(b)[axis]);
  const auto next = std::ranges::upper_bound(wanted_, std::pair(interface, low), {},
                                             [](const Wanted& one) { return std::pair(one.interface, one.along); });
  return next != wanted_.end() && next->interface == interface && next->along < high;
}

bool Interfaces::is_wanted(std::int32_t interface, const Point& p) const noexcept {
  if (wanted_.empty()) return false;
  const std::pair key(interface, p[entries_[interface].axis]);
  const auto found =
      std::ranges::lower_bound(wanted_, key, {}, [](const Wanted& one) { return std::pair(one.interface, one.along); });
  return found != wanted_.end() && found->interface == interface && found->p == p;
}

}  // namespace barrio::delaunay::detail
