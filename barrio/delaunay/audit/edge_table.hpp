#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/delaunay/audit.hpp"

namespace barrio::delaunay::detail {

/// Table of the edges of all triangles, each from its lower vertex to its higher one. It stores four bytes for each
/// edge of a triangle, and four for each vertex.
class EdgeTable {
 public:
  /// Max number of triangles: a code names a triangle and a corner in 32 bits.
  static constexpr std::size_t max_triangles = std::size_t{1} << 30U;

  /// An edge of one triangle.
  struct Use {
    std::int32_t low;
    std::int32_t high;
    std::int32_t triangle;
    std::uint32_t corner;  ///< opposite it
    bool is_upward;        ///< whether it leads from low to high in the triangle
  };
  /// The uses of one edge. @pre the mesh is sound, so there are at most two
  class Uses {
   public:
    void add(const Use& use) noexcept {
      if (n_ < uses_.size()) uses_[n_++] = use;
    }
    [[nodiscard]] std::size_t size() const noexcept { return n_; }
    [[nodiscard]] bool empty() const noexcept { return n_ == 0; }
    [[nodiscard]] const Use& operator[](std::size_t i) const noexcept { return uses_[i]; }
    [[nodiscard]] const Use* begin() const noexcept { return uses_.data(); }
    [[nodiscard]] const Use* end() const noexcept { return uses_.data() + n_; }

   private:
    std::array<Use, 2> uses_{};
    std::size_t n_ = 0;
  };

  /// @pre the mesh has at most `max_triangles`, and no row out of range
  explicit EdgeTable(const AuditedMesh& mesh);

  /// Find the uses of an edge.
  [[nodiscard]] Uses find(std::int32_t a, std::int32_t b) const noexcept;
  [[nodiscard]] std::int64_t n_edges() const noexcept { return n_edges_; }

  /// Call `visit` with the uses of each edge.
  template <class Visit>
  void for_each(Visit&& visit) const {
    std::vector<Use> uses;
    for (std::size_t low = 0; low + 1 < first_.size(); ++low) {
      for (std::uint32_t i = first_[low]; i < first_[low + 1];) {
        uses.assign(1, use(codes_[i]));
        while (++i < first_[low + 1] && high(codes_[i]) == uses[0].high) uses.push_back(use(codes_[i]));
        visit(std::span<const Use>(uses));
      }
    }
  }

 private:
  [[nodiscard]] std::int32_t from(std::uint32_t code) const noexcept {
    return mesh_->triangles[code >> 2U][next_corner(code & 3U)];
  }
  [[nodiscard]] std::int32_t to(std::uint32_t code) const noexcept {
    return mesh_->triangles[code >> 2U][previous_corner(code & 3U)];
  }
  [[nodiscard]] std::int32_t high(std::uint32_t code) const noexcept { return std::max(from(code), to(code)); }
  [[nodiscard]] Use use(std::uint32_t code) const noexcept {
    const std::int32_t a = from(code);
    const std::int32_t b = to(code);
    return {.low = std::min(a, b),
            .high = std::max(a, b),
            .triangle = static_cast<std::int32_t>(code >> 2U),
            .corner = code & 3U,
            .is_upward = a < b};
  }

  const AuditedMesh* mesh_;
  std::vector<std::uint32_t> first_;  // of each vertex: its first edge to a higher one, in codes_
  std::vector<std::uint32_t> codes_;  // 4 * triangle + corner, by the lower vertex, then by the higher one
  std::int64_t n_edges_ = 0;
};

}  // namespace barrio::delaunay::detail
