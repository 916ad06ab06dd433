#include "barrio/delaunay/parallel/corners.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <utility>

#include "barrio/delaunay/kernel/insertion.hpp"

namespace barrio::delaunay::detail {
namespace {

constexpr double degree = std::numbers::pi / 180;

double angle_at(const Triangulation& mesh, std::int32_t row, std::uint32_t corner) noexcept {
  const Triangle& t = mesh.triangle(row);
  const Point& p = mesh.point(t.vertices[corner]);
  const Point& a = mesh.point(t.vertices[next_corner(corner)]);
  const Point& b = mesh.point(t.vertices[previous_corner(corner)]);
  const Point u{a[0] - p[0], a[1] - p[1]};
  const Point v{b[0] - p[0], b[1] - p[1]};
  return std::atan2(u[0] * v[1] - u[1] * v[0], u[0] * v[0] + u[1] * v[1]);
}

/// Triangles around a vertex between two segments, or all around it, in runs of one part.
class Fan {
 public:
  Fan(const Triangulation& mesh, std::vector<std::int32_t>& part_of) : mesh_(&mesh), part_of_(&part_of) {}

  /// A run of triangles of one part.
  struct Sector {
    std::size_t first = 0;  // in the fan
    std::size_t last = 0;
    double angle = 0.0;  // radians
    std::int32_t part = 0;
  };

  /// Collect the fan of a vertex that a triangle belongs to.
  void gather(std::int32_t vertex, std::int32_t row) {
    rows_.clear();
    std::int32_t first = row;
    is_closed_ = false;
    for (;;) {  // turn clockwise to a segment, or once around
      const Triangle& t = mesh_->triangle(first);
      const std::uint32_t e = previous_corner(corner_of(t, vertex));  // from the vertex to the next corner
      if (t.is_segment(e) || !t.neighbours[e]) break;
      first = t.neighbours[e].triangle();
      if (first == row) {
        is_closed_ = true;
        break;
      }
    }
    std::int32_t at = first;
    do {
      const Triangle& t = mesh_->triangle(at);
      const std::uint32_t i = corner_of(t, vertex);
      rows_.push_back({at, angle_at(*mesh_, at, i)});
      const std::uint32_t e = next_corner(i);
      if (t.is_segment(e) || !t.neighbours[e]) break;
      at = t.neighbours[e].triangle();
    } while (at != first);
    find_sectors();
  }
  [[nodiscard]] std::span<const Sector> sectors() const noexcept { return sectors_; }
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }

  /// Assign a sector to another part. @return the rows that it has
  template <class Visit>
  void assign(const Sector& sector, std::int32_t part, Visit&& visit) {
    for (std::size_t i = sector.first; i < sector.last; ++i) {
      const std::int32_t row = rows_[i % rows_.size()].row;
      (*part_of_)[row] = part;
      visit(row);
    }
  }

 private:
  struct InFan {
    std::int32_t row;
    double angle;
  };
  [[nodiscard]] std::int32_t part(std::size_t i) const noexcept { return (*part_of_)[rows_[i % rows_.size()].row]; }

  void find_sectors() {
    sectors_.clear();
    const std::size_t n = rows_.size();
    std::size_t start = 0;  // of a sector, if the fan is closed and has more than one
    while (is_closed_ && start < n && part(start) == part(start + n - 1)) ++start;
    if (start == n) start = 0;
    for (std::size_t i = start; i < start + n; ++i) {
      if (sectors_.empty() || sectors_.back().part != part(i)) sectors_.push_back({i, i, 0.0, part(i)});
      sectors_.back().last = i + 1;
      sectors_.back().angle += rows_[i % n].angle;
    }
  }

  const Triangulation* mesh_;
  std::vector<std::int32_t>* part_of_;
  std::vector<InFan> rows_;  // counterclockwise
  std::vector<Sector> sectors_;
  bool is_closed_ = false;
};

/// Widening of the corners of all parts.
class CornerWidening {
 public:
  CornerWidening(const Triangulation& mesh, std::vector<std::int32_t>& part_of)
      : mesh_(&mesh), part_of_(&part_of), fan_(mesh, part_of), n_changes_(part_of.size(), 0) {}

  double run() {
    for (std::int32_t row = 0; row < std::ssize(mesh_->triangles); ++row)
      if (is_at_cut(row)) add(row);
    while (!waiting_.empty()) {
      const auto [vertex, row] = waiting_.back();
      waiting_.pop_back();
      widen(vertex, row);
    }
    double least = std::numbers::pi;
    for (std::int32_t row = 0; row < std::ssize(mesh_->triangles); ++row) {
      if (!is_at_cut(row)) continue;
      for (const std::int32_t v : mesh_->triangle(row).vertices) {
        fan_.gather(v, row);
        if (fan_.sectors().size() < 2) continue;
        for (const Fan::Sector& sector : fan_.sectors()) least = std::min(least, sector.angle);
      }
    }
    return least / degree;
  }

 private:
  [[nodiscard]] bool is_at_cut(std::int32_t row) const noexcept {
    const Triangle& t = mesh_->triangle(row);
    if (!t.is_used()) return false;
    return std::ranges::any_of(t.neighbours,
                               [&](Side side) { return side && (*part_of_)[side.triangle()] != (*part_of_)[row]; });
  }
  void add(std::int32_t row) {
    for (const std::int32_t v : mesh_->triangle(row).vertices) waiting_.push_back({v, row});
  }

  /// Give the sharpest sector of a fan to the wider one of its neighbours. Triangles that have changed often only get
  /// later parts, so that it ends.
  void widen(std::int32_t vertex, std::int32_t row) {
    fan_.gather(vertex, row);
    const auto sectors = fan_.sectors();
    const std::size_t n = sectors.size();
    if (n < 2) return;
    const auto sharpest = std::ranges::min_element(sectors, {}, &Fan::Sector::angle);
    if (sharpest->angle >= min_corner * degree) return;
    const auto k = static_cast<std::size_t>(sharpest - sectors.begin());
    const Fan::Sector* const before = k > 0 ? &sectors[k - 1] : fan_.is_closed() ? &sectors[n - 1] : nullptr;
    const Fan::Sector* const after = k + 1 < n ? &sectors[k + 1] : fan_.is_closed() ? &sectors[0] : nullptr;
    const Fan::Sector wider =
        *(before == nullptr || (after != nullptr && after->angle > before->angle) ? after : before);
    const Fan::Sector narrow = *sharpest;
    constexpr std::uint8_t often = 4;
    bool is_often = false;
    fan_.assign(narrow, narrow.part, [&](std::int32_t in) { is_often = is_often || n_changes_[in] >= often; });
    const bool goes_up = wider.part > narrow.part;
    const Fan::Sector& changed = is_often && !goes_up ? wider : narrow;
    const std::int32_t part = is_often ? std::max(wider.part, narrow.part) : wider.part;
    fan_.assign(changed, part, [&](std::int32_t in) {
      if (n_changes_[in] < often) ++n_changes_[in];
      add(in);
    });
  }

  const Triangulation* mesh_;
  std::vector<std::int32_t>* part_of_;
  Fan fan_;
  std::vector<std::uint8_t> n_changes_;                         // of each row
  std::vector<std::pair<std::int32_t, std::int32_t>> waiting_;  // vertices, each with a triangle there
};

}  // namespace

double widen_corners(const Triangulation& mesh, std::vector<std::int32_t>& part_of) {
  return CornerWidening(mesh, part_of).run();
}

}  // namespace barrio::delaunay::detail
