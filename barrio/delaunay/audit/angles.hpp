#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/audit/chains.hpp"
#include "barrio/delaunay/audit/exact.hpp"

namespace barrio::delaunay::detail {

/// Check of angles: none is below the bound, except where segments meet in small angles.
class AngleCheck {
 public:
  AngleCheck(const AuditedMesh& mesh, std::span<const Point> points, std::span<const PlanarGraph::Edge> segments,
             const Chains& chains, ExactSigns& signs)
      : mesh_(&mesh), points_(points), segments_(segments), chains_(&chains), signs_(&signs) {}

  /// Check all angles against a bound in degrees.
  [[nodiscard]] Audit::Check run(double min_angle);
  /// Return the smallest angle, in degrees, after `run`.
  [[nodiscard]] double smallest() const noexcept { return smallest_; }

 private:
  [[nodiscard]] std::pair<double, std::size_t> smallest_of(std::size_t triangle) const;
  [[nodiscard]] bool is_at_small_angle(std::size_t triangle, std::size_t i);
  [[nodiscard]] std::vector<std::uint32_t> segments_at(std::int32_t v) const;
  [[nodiscard]] bool touches(std::uint32_t s, std::uint32_t r) const;
  [[nodiscard]] bool meet_in_small_angle(std::uint32_t s, std::uint32_t r) const;
  [[nodiscard]] const Point& corner(std::size_t t, std::size_t i) const {
    return mesh_->points[mesh_->triangles[t][i % 3]];
  }
  [[nodiscard]] const Point& end_of(std::uint32_t segment, std::size_t which) const {
    return points_[segments_[segment].ends[which]];
  }

  const AuditedMesh* mesh_;
  std::span<const Point> points_;
  std::span<const PlanarGraph::Edge> segments_;
  const Chains* chains_;
  ExactSigns* signs_;
  std::vector<std::pair<std::int32_t, std::uint32_t>> pieces_at_;  // vertex, segment
  double smallest_ = 180.0;
};

}  // namespace barrio::delaunay::detail
