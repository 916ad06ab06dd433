#pragma once

/// @file Size fields: wanted edge lengths by position, made from distances, functions and background meshes.

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {

/// Axis-aligned rectangle.
struct Rectangle {
  /// Lower left corner; without points it lies above `high`.
  Point low{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  /// Upper right corner.
  Point high{-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};

  /// Extend the rectangle to a point. Local.
  void add(const Point& p) noexcept;
};

/// Return the smallest rectangle with all points. Local.
[[nodiscard]] Rectangle bounding_rectangle(std::span<const Point> points) noexcept;

/// Return the area of the equilateral triangle with an edge of this length: the bound that a size means.
[[nodiscard]] double area_of_size(double size) noexcept;
/// Return the edge of the equilateral triangle of this area.
[[nodiscard]] double size_of_area(double area) noexcept;

/// Size field: the wanted edge length by position. Copies are cheap and share their data, which never change; threads
/// may share them too.
///
/// A size field can tell whether it is small anywhere in a triangle, however narrow that place is. Functions of which
/// nothing is known, such as `RefineOptions::area_at`, cannot.
class SizeField {
 public:
  using Corners = std::array<Point, 3>;  ///< corners of a triangle, in either direction
  class Core;

  /// Make a field that wants nothing anywhere.
  SizeField() = default;
  /// Make a field from its data, which it shares; null wants nothing anywhere.
  explicit SizeField(std::shared_ptr<const Core> core) noexcept : core_(std::move(core)) {}

  /// Tell whether the field wants anything.
  [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }
  /// Return the wanted length at a position; infinity where nothing is wanted.
  [[nodiscard]] double operator()(const Point& place) const;
  /// Tell whether the field is below a length somewhere in a triangle.
  [[nodiscard]] bool is_below(const Corners& corners, double length) const;
  /// Return the data that all copies share; null if nothing is wanted.
  [[nodiscard]] const std::shared_ptr<const Core>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<const Core> core_;
};

/// Make a field with one size everywhere. @throws Error{usage} unless it is above 0
[[nodiscard]] SizeField uniform_size(double size);

/// Growth of a size with the distance from something.
struct SizeProfile {
  double min_size = 0.0;                                      ///< above 0
  double max_size = std::numeric_limits<double>::infinity();  ///< at least min_size
  double width = 0.0;                                         ///< distance up to which min_size holds; 0 or above
  double growth = 0.2;  ///< growth of the size per unit of length beyond it; above 0
};

/// Make a field by the distance from the segments and points of a graph that have a marker. Local.
/// @throws Error{usage} for a profile out of range, and if no segment or point has the marker
/// Cost: O(log segments) an evaluation
[[nodiscard]] SizeField size_near(const PlanarGraph& graph, std::int32_t marker, const SizeProfile& profile);
/// Make a field by the distance from a position.
[[nodiscard]] SizeField size_near(const Point& place, const SizeProfile& profile);

/// Make a field by the distance from the regions that have a max area: the size of that area within them, and growth
/// outside. Empty if there are none. Local. @throws Error{usage} unless growth is above 0
[[nodiscard]] SizeField size_near_regions(const Triangulation& mesh, double growth);

/// Triangles that a field is given on. Borrowed during the call.
struct Background {
  std::span<const Point> points;                           ///< vertices
  std::span<const std::array<std::int32_t, 3>> triangles;  ///< rows of `points`; in any order and direction
};

/// Make a field that is linear in each triangle of a background mesh. Outside of the mesh the value at its nearest
/// point counts. Local.
/// @param sizes  of each point, above 0
/// @throws Error{bad_input} for rows out of range, triangles without area, sizes that are not above 0; {usage} for a
/// wrong number of sizes, and without triangles
/// Cost: O(n log n); O(log n) an evaluation
[[nodiscard]] SizeField size_on_mesh(const Background& mesh, std::span<const double> sizes);

/// Make a field of max areas of triangles of a background mesh, such as those of Triangle's .area files. Local.
/// @param areas  of each triangle; 0 or below: no bound
/// @throws as size_on_mesh
[[nodiscard]] SizeField size_of_areas(const Background& mesh, std::span<const double> areas);

/// Make a field from a function whose values differ by at most `growth` times the distance. Local.
/// @param size  returns a length above 0, or infinity; other values are refused where they are met
/// @throws Error{usage} for a growth below 0
[[nodiscard]] SizeField size_by_function(std::function<double(const Point&)> size, double growth);

/// Make the field that wants the smallest of several sizes everywhere. Local.
[[nodiscard]] SizeField smallest_size(std::vector<SizeField> fields);

/// Make the largest field that is nowhere above another one, and grows by at most `growth` per unit of length. Local.
/// Fields by distance are limited exactly. Others are sampled in a quadtree over a rectangle, with cells as small as
/// the sizes in them. Where a function has no value above 0 there, it sets no limit.
/// @throws Error{usage} unless growth is above 0; {bad_input} if more than 2^24 samples are needed
[[nodiscard]] SizeField limit_growth(const SizeField& field, double growth, const Rectangle& domain);
/// Make such a field from a function of which nothing is known. @param size  as in size_by_function
[[nodiscard]] SizeField limit_growth(const std::function<double(const Point&)>& size, double growth,
                                     const Rectangle& domain);

/// Read a .area file of Triangle's: a max area for each triangle of an .ele file; 0 or below: no bound. Local.
/// @param n_triangles  number of triangles of that file
/// @throws Error{failed} if it cannot be read; {bad_input}, naming the line, if it is malformed or has another number
/// Source: Shewchuk 2005, "Triangle: .area files"
[[nodiscard]] std::vector<double> read_areas(const std::string& path, std::int64_t n_triangles);

}  // namespace barrio::delaunay
