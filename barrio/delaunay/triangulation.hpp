#pragma once

/// @file The triangulation as plain arrays: vertices, triangles, segments, regions, attributes.

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "barrio/base/growing_array.hpp"
#include "barrio/geometry/predicates.hpp"

namespace barrio::delaunay {

/// Position in the plane.
using Point = geometry::Point2;

/// A triangle and one of its edges: edge i lies opposite corner i, and leads from corner i + 1 to corner i + 2.
/// Four bytes: a triangulation has at most 2^30 - 1 triangles.
class Side {
 public:
  constexpr Side() = default;
  /// Name an edge of a triangle. @pre 0 <= triangle < 2^30 - 1, edge < 3
  constexpr Side(std::int32_t triangle, std::uint32_t edge) noexcept
      : code_((static_cast<std::uint32_t>(triangle) << 2U) | edge) {}
  /// Return the row of the triangle. @pre there is an edge
  [[nodiscard]] constexpr std::int32_t triangle() const noexcept { return code_ >> 2U; }
  /// Return the number of the edge in the triangle, 0 to 2. @pre there is an edge
  [[nodiscard]] constexpr std::uint32_t edge() const noexcept { return code_ & 3U; }
  /// Tell whether there is an edge; beyond the boundary there is none.
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return code_ != none; }
  friend constexpr bool operator==(Side, Side) noexcept = default;

 private:
  static constexpr std::uint32_t none = 0xffffffffU;
  std::uint32_t code_ = none;
};

/// Return the corner after another one of a triangle, counterclockwise.
constexpr std::uint32_t next_corner(std::uint32_t i) noexcept { return i == 2 ? 0 : i + 1; }
/// Return the corner before another one of a triangle, counterclockwise.
constexpr std::uint32_t previous_corner(std::uint32_t i) noexcept { return i == 0 ? 2 : i - 1; }

/// A triangle, in half a cache line.
struct Triangle {
  static constexpr std::uint32_t region_bits = 24;  ///< lowest bits of `state`, which hold the region
  static constexpr std::uint32_t region_mask = (1U << region_bits) - 1;  ///< of these bits; also the largest region
  static constexpr std::uint32_t queued = 1U << 27U;  ///< bit of `state`: in the queue of a refinement
  static constexpr std::uint32_t unused = 1U << 28U;  ///< bit of `state`: the row is a gap
  static constexpr std::uint32_t fresh = 1U << 29U;   ///< bit of `state`: made during the present removal of a vertex
  /// Return the bit of `state` for an edge that is a segment. @pre edge < 3
  static constexpr std::uint32_t segment_bit(std::uint32_t edge) noexcept { return 1U << (region_bits + edge); }

  std::array<std::int32_t, 3> vertices;  ///< counterclockwise
  std::array<Side, 3> neighbours;        ///< across edge i; none at the boundary
  std::int32_t next;                     ///< link of the list that it is in, if any
  std::uint32_t state;                   ///< region, edges that are segments, and lists that it is in

  /// Return the row of its region in `Triangulation::regions`; 0: it has none.
  [[nodiscard]] std::uint32_t region() const noexcept { return state & region_mask; }
  /// Set its region. @pre region <= region_mask
  void set_region(std::uint32_t region) noexcept { state = (state & ~region_mask) | region; }
  /// Tell whether an edge is a constraint: on a segment, a filled hull, or between parts of a domain.
  [[nodiscard]] bool is_segment(std::uint32_t edge) const noexcept { return (state & segment_bit(edge)) != 0; }
  /// Tell whether the row holds a triangle, else a gap.
  [[nodiscard]] bool is_used() const noexcept { return (state & unused) == 0; }
};
static_assert(sizeof(Triangle) == 32);

/// Origin of a vertex: the input, a split segment, or the inside of a triangle. Or the row is unused.
enum class VertexKind : std::uint8_t {
  input,       ///< of the input; refinement never removes it
  on_segment,  ///< added where an edge that is a constraint was split
  free,        ///< added inside triangles; may be removed again
  unused,      ///< the row is a gap
};

/// Number that stands for no segment of the input.
inline constexpr std::uint32_t no_segment = 0x3fffffffU;

/// Kind of a vertex, and the input segment in whose interior it was added, if any.
class VertexInfo {
 public:
  VertexInfo() = default;
  /// Construct from a kind and a row of `Triangulation::segments`, or `no_segment`.
  VertexInfo(VertexKind kind, std::uint32_t segment) noexcept
      : bits_((static_cast<std::uint32_t>(kind) << 30U) | segment) {}
  /// Return the origin of the vertex.
  [[nodiscard]] VertexKind kind() const noexcept { return static_cast<VertexKind>(bits_ >> 30U); }
  /// Return the row of the segment that was split, or `no_segment`; it counts only for `on_segment`.
  [[nodiscard]] std::uint32_t segment() const noexcept { return bits_ & no_segment; }

 private:
  std::uint32_t bits_;
};

/// A segment of the input, or a piece of it between points: its ends (vertices of the triangulation) and its marker.
struct Segment {
  static constexpr std::int32_t hull = -1;       ///< value of `input`: an edge of a filled hull
  static constexpr std::int32_t interface = -2;  ///< value of `input`: an edge between two parts of a domain

  std::array<std::int32_t, 2> ends{};  ///< vertices; after `compact` -1 for one that was dropped
  std::int32_t marker = 0;             ///< set by the user; 0: none
  /// Its position in the input; `hull`: an edge of a filled hull; `interface`: an edge between two parts of a domain.
  std::int32_t input = hull;
};

/// Region: a part of the plane between segments.
struct Region {
  double attribute = 0.0;   ///< set by the user
  double max_area = 0.0;    ///< bound of its triangles; 0: none
  std::int32_t number = 0;  ///< its number in files
  std::string name = {};    ///< may be empty
};

/// Name of the segments with a marker.
struct MarkerName {
  std::int32_t marker = 0;  ///< of the segments
  std::string name;         ///< for files
};

/// Values at vertices besides coordinates: a depth, a temperature. They are linear between vertices.
struct Attribute {
  std::string name;      ///< of the array in files
  int n_components = 1;  ///< numbers at each vertex
};
/// Return the number of components of all attributes together.
[[nodiscard]] constexpr std::size_t width_of(const std::vector<Attribute>& attributes) noexcept {
  std::size_t width = 0;
  for (const Attribute& attribute : attributes) width += attribute.n_components;
  return width;
}

/// Vertices and triangles of a constrained Delaunay triangulation: plain arrays, without pointers. Local.
///
/// Unused rows remain as gaps in the arrays until `compact`. Vertices of the input come first.
class Triangulation {
 public:
  GrowingArray<Point> points;               ///< of vertices, with gaps
  GrowingArray<VertexInfo> infos;           ///< of each row of `points`
  GrowingArray<Triangle> triangles;         ///< with gaps, see `Triangle::is_used`
  std::vector<std::int32_t> input_numbers;  ///< of the first vertices: their positions in the input
  std::vector<std::int32_t> input_markers;  ///< set by the user, for the same vertices; or empty
  std::int32_t n_input_points = 0;          ///< including those that are not vertices
  std::vector<Segment> segments;  ///< pieces of those of the input between its points, then edges of a filled hull
  std::int64_t n_repeated_segments = 0;     ///< pieces that coincide with earlier ones; their markers are lost
  std::vector<Region> regions;              ///< those of the input from row 1; row 0 stands for no region
  std::vector<MarkerName> marker_names;     ///< of some markers of segments
  std::vector<Attribute> attributes;        ///< of vertices, in the order of `attribute_values`
  GrowingArray<double> attribute_values;    ///< shape (vertices, `attribute_width()`)
  std::int32_t first_unused_triangle = -1;  ///< head of a list linked by `next`
  std::int32_t first_unused_vertex = -1;    ///< head of a list linked by `VertexInfo::segment`
  std::int64_t n_unused_triangles = 0;      ///< gaps in `triangles`
  std::int64_t n_unused_vertices = 0;       ///< gaps in `points`

  /// Return the number of vertices, without gaps.
  [[nodiscard]] std::int64_t n_vertices() const noexcept { return std::ssize(points) - n_unused_vertices; }
  /// Return the number of triangles, without gaps.
  [[nodiscard]] std::int64_t n_triangles() const noexcept { return std::ssize(triangles) - n_unused_triangles; }
  /// Return the position of a vertex.
  [[nodiscard]] const Point& point(std::int32_t vertex) const noexcept { return points[vertex]; }
  /// Return the origin of a vertex.
  [[nodiscard]] VertexInfo info(std::int32_t vertex) const noexcept { return infos[vertex]; }
  /// Return the triangle of a row.
  [[nodiscard]] const Triangle& triangle(std::int32_t t) const noexcept { return triangles[t]; }
  /// Return the triangle of a row, to change it.
  [[nodiscard]] Triangle& triangle(std::int32_t t) noexcept { return triangles[t]; }
  /// Return the area of a triangle, rounded; positive if it runs counterclockwise.
  [[nodiscard]] double area(const Triangle& t) const noexcept {
    const Point& a = point(t.vertices[0]);
    const Point& b = point(t.vertices[1]);
    const Point& c = point(t.vertices[2]);
    return 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
  }
  /// Return the number of components of all attributes.
  [[nodiscard]] std::size_t attribute_width() const noexcept { return width_of(attributes); }
  /// Return the bytes of the arrays, with the room to grow that they have.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
};

/// Move used rows to the front of the arrays: triangles by region; vertices of the input in their order, then added
/// ones. Drop vertices without a triangle. Local.
/// @return number of input points left out because they lie outside
/// Cost: a few passes; memory 4 bytes a vertex, and a copy of the vertices of the input
std::int64_t compact(Triangulation& mesh);

/// Check the invariants: neighbours are mutual and agree on vertices and segments; triangles are counterclockwise;
/// triangles on both sides of an edge that is not a segment are Delaunay. Local.
/// @throws Error{internal} naming the triangle. Cost: exact signs of all edges
void validate(const Triangulation& mesh);

}  // namespace barrio::delaunay
