#include "barrio/delaunay/kernel/interfaces.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace barrio::delaunay::detail {
void Interfaces::add(const Triangulation& mesh, const std::array<std::int32_t, 2>& ends, std::int32_t segment) {
  const Point& a = mesh.point(ends[0]);
  const Point& b = mesh.point(ends[1]);
  const std::int32_t axis = std::abs(b[0] - a[0]) >= std::abs(b[1] - a[1]) ? 0 : 1;
  pieces_.emplace(edge_key(ends[0], ends[1]), Piece{.interface = size()});
  entries_.push_back({.segment = segment, .axis = axis, .is_ascending = a[axis] < b[axis], .vertices = {}});
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
  if (!is_wanted(interface, p)) splits_.push_back({interface, p});
}

std::vector<std::int32_t> Interfaces::rows_to_split(const Triangulation& mesh) const {
  struct Found {
    std::int32_t interface;
    double along;
    std::int32_t row;
  };
  std::vector<Found> found;
  for (const auto& [key, piece] : pieces_) {
    const auto a = static_cast<std::int32_t>(key >> 32U);
    const auto b = static_cast<std::int32_t>(key & 0xffffffffU);
    if (!must_split(mesh, piece.interface, a, b)) continue;
    const std::int32_t axis = entries_[piece.interface].axis;
    found.push_back({piece.interface, std::min(mesh.point(a)[axis], mesh.point(b)[axis]), piece.row});
  }
  std::ranges::sort(found, {}, [](const Found& one) { return std::pair(one.interface, one.along); });
  std::vector<std::int32_t> rows;
  rows.reserve(found.size());
  for (const Found& one : found) rows.push_back(one.row);
  return rows;
}

std::vector<InterfaceSplit> Interfaces::take_splits() { return std::exchange(splits_, {}); }

std::vector<std::int32_t> Interfaces::chain(std::int32_t interface) const {
  const Entry& entry = entries_[interface];
  auto sorted = entry.vertices;
  std::ranges::sort(sorted, {}, [&](const std::pair<std::int32_t, Point>& one) {
    const double along = one.second[entry.axis];
    return entry.is_ascending ? along : -along;
  });
  std::vector<std::int32_t> vertices;
  vertices.reserve(sorted.size());
  for (const auto& [vertex, at] : sorted) vertices.push_back(vertex);
  return vertices;
}

void Interfaces::want(std::int32_t interface, std::span<const Point> positions) {
  const Entry& entry = entries_[interface];
  std::vector<Point> present;
  present.reserve(entry.vertices.size());
  for (const auto& [vertex, at] : entry.vertices) present.push_back(at);
  std::ranges::sort(present);
  for (const Point& p : positions)
    if (!std::ranges::binary_search(present, p)) wanted_.push_back({interface, p[entry.axis], p});
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
