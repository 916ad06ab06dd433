#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Return a key of the edge between two vertices, the same in both directions.
[[nodiscard]] inline std::uint64_t edge_key(std::int32_t a, std::int32_t b) noexcept {
  const auto low = static_cast<std::uint32_t>(std::min(a, b));
  const auto high = static_cast<std::uint32_t>(std::max(a, b));
  return (std::uint64_t{low} << 32U) | high;
}

/// A vertex that was made on an interface.
struct InterfaceSplit {
  std::int32_t interface = 0;
  Point at{};
};

/// Interfaces of a part of a domain: edges that it shares with other parts, and the pieces into which they are split.
/// The two parts of an interface split its pieces at the same positions, which depend on the ends of a piece alone. So
/// the pieces of an interface are leaves of one binary tree, of which each part knows a subtree until it is told more.
/// The mesh of the part is needed only while it is refined.
class Interfaces {
 public:
  /// Add an interface that is not split yet. @param ends  vertices, the one with the smaller coordinates first
  /// @param segment  the segment of the mesh that stands for it, if it does not lie on one of the input; or -1
  void add(const Triangulation& mesh, const std::array<std::int32_t, 2>& ends, std::int32_t segment);
  [[nodiscard]] std::int32_t size() const noexcept { return static_cast<std::int32_t>(entries_.size()); }

  /// Find the interface that an edge is a piece of. @return its number, or -1. Cost: a look-up in a table
  [[nodiscard]] std::int32_t find(std::int32_t a, std::int32_t b) const noexcept;
  /// Return the segment that stands for an interface; -1 if it lies on one of the input.
  [[nodiscard]] std::int32_t segment(std::int32_t interface) const noexcept { return entries_[interface].segment; }

  /// Note the row of the triangle that has an edge, if that is a piece.
  void set_row(std::int32_t a, std::int32_t b, std::int32_t row) noexcept {
    if (const auto found = pieces_.find(edge_key(a, b)); found != pieces_.end()) found->second.row = row;
  }
  /// List the rows of the triangles whose pieces must be split, in the order of interfaces and along each of them.
  /// Cost: O(log n) for each wanted position, for n vertices of its interface; more after splits
  [[nodiscard]] std::vector<std::int32_t> rows_to_split();

  /// Note that a piece was split.
  void split(const Triangulation& mesh, std::int32_t interface, std::int32_t from, std::int32_t to,
             std::int32_t vertex);
  /// Return the splits since the latest call, in the order in which they were made.
  [[nodiscard]] std::vector<InterfaceSplit> take_splits();
  [[nodiscard]] std::size_t n_splits() const noexcept { return splits_.size(); }
  [[nodiscard]] std::int64_t n_vertices(std::int32_t interface) const noexcept {
    return std::ssize(entries_[interface].vertices);
  }
  /// Append all vertices in the interior of an interface, from its first end to its second. Cost: O(n) for n; O(n log
  /// n) after splits
  void append_chain(std::int32_t interface, std::vector<std::int32_t>& to);

  /// Ask for splits that the other part of an interface has made; those that this part has made too are left out.
  /// Cost: O(n log n) for the vertices of the interface and the positions together
  void want(std::int32_t interface, std::span<const Point> positions);
  /// Call this after the last `want`, before splits are looked for. Cost: O(n log n) for n wanted ones
  void sort_wanted();
  void clear_wanted() noexcept { wanted_.clear(); }
  [[nodiscard]] bool has_wanted() const noexcept { return !wanted_.empty(); }
  /// Tell whether a piece must be split, because a wanted position lies in its interior.
  [[nodiscard]] bool must_split(const Triangulation& mesh, std::int32_t interface, std::int32_t a,
                                std::int32_t b) const noexcept;
  /// Tell whether a position is wanted.
  [[nodiscard]] bool is_wanted(std::int32_t interface, const Point& p) const noexcept;

 private:
  struct Entry {
    std::int32_t segment = -1;
    std::int32_t axis = 0;  // along which it is longer: coordinates are monotone on it
    bool is_ascending = true;
    bool is_sorted = true;
    std::array<std::pair<std::int32_t, Point>, 2> ends{};  // ascending along the axis
    std::vector<std::pair<std::int32_t, Point>> vertices;  // in its interior
  };
  struct Piece {
    std::int32_t interface = 0;
    std::int32_t row = -1;  // of its triangle
  };
  struct Wanted {
    std::int32_t interface = 0;
    double along = 0.0;
    Point p{};
  };

  /// Sort the vertices of an interface along its axis.
  static void sort(Entry& entry);

  std::vector<Entry> entries_;
  std::unordered_map<std::uint64_t, Piece> pieces_;  // by their ends
  std::vector<InterfaceSplit> splits_;
  std::vector<Wanted> wanted_;  // sorted by interface and position
};

}  // namespace barrio::delaunay::detail
