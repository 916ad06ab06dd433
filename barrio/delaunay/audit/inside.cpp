#include "barrio/delaunay/audit/inside.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace barrio::delaunay::detail {

InsideTest::InsideTest(const AuditedMesh& mesh, std::vector<EdgeTable::Use> boundary)
    : mesh_(&mesh), boundary_(std::move(boundary)) {
  constexpr std::int64_t max_strips = 4096;
  n_strips_ = static_cast<std::int32_t>(std::clamp<std::int64_t>(std::ssize(boundary_), 1, max_strips));
  low_ = std::numeric_limits<double>::infinity();
  high_ = -low_;
  const auto span_of = [&](const EdgeTable::Use& use) {
    return std::minmax(mesh_->points[use.low][1], mesh_->points[use.high][1]);
  };
  for (const EdgeTable::Use& use : boundary_) {
    low_ = std::min(low_, span_of(use).first);
    high_ = std::max(high_, span_of(use).second);
  }
  // count, then place
  first_.assign(n_strips_ + 1, 0);
  const auto for_each = [&](auto&& visit) {
    for (std::size_t i = 0; i < boundary_.size(); ++i) {
      const auto [from, to] = span_of(boundary_[i]);
      for (std::size_t s = strip(from); s <= strip(to); ++s) visit(s, i);
    }
  };
  for_each([&](std::size_t s, std::size_t) { ++first_[s + 1]; });
  for (std::int32_t s = 0; s < n_strips_; ++s) first_[s + 1] += first_[s];
  edges_.resize(first_.back());
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  for_each([&](std::size_t s, std::size_t i) { edges_[next[s]++] = i; });
}

std::size_t InsideTest::strip(double y) const noexcept {
  const double part = high_ > low_ ? (y - low_) / (high_ - low_) : 0.0;
  return static_cast<std::size_t>(std::clamp(part * n_strips_, 0.0, n_strips_ - 1.0));
}

InsideTest::Place InsideTest::find(const Point& p, ExactSigns& signs) const {
  if (!(p[1] >= low_ && p[1] <= high_)) return Place::outside;
  bool is_odd = false;
  const std::size_t s = strip(p[1]);
  for (std::size_t k = first_[s]; k < first_[s + 1]; ++k) {
    const EdgeTable::Use& use = boundary_[edges_[k]];
    const Point& a = mesh_->points[use.low];
    const Point& b = mesh_->points[use.high];
    if (p == a || p == b) return Place::boundary;
    if (a[1] == p[1] && b[1] == p[1] && (a[0] < p[0]) == (p[0] < b[0])) return Place::boundary;
    if ((a[1] > p[1]) == (b[1] > p[1])) continue;
    const int side = a[1] < b[1] ? signs.orientation(a, b, p) : signs.orientation(b, a, p);
    if (side == 0) return Place::boundary;
    if (side > 0) is_odd = !is_odd;
  }
  return is_odd ? Place::inside : Place::outside;
}

}  // namespace barrio::delaunay::detail
