#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "barrio/delaunay/kernel/good_place.hpp"
#include "barrio/delaunay/kernel/insertion.hpp"
#include "barrio/delaunay/kernel/interfaces.hpp"
#include "barrio/delaunay/kernel/queue.hpp"
#include "barrio/delaunay/kernel/removal.hpp"
#include "barrio/delaunay/kernel/segment_index.hpp"
#include "barrio/delaunay/kernel/small_angles.hpp"
#include "barrio/delaunay/refine.hpp"
#include "barrio/delaunay/size/area_bound.hpp"

namespace barrio::delaunay::detail {

/// Check the options of a refinement. @throws Error{usage} as `refine`
void check(const RefineOptions& options);

/// Return the smallest rectangle with all triangles.
[[nodiscard]] Rectangle rectangle_of(const Triangulation& mesh) noexcept;

/// Setting of the refinement of a mesh that is cut into parts, or that is one of these parts.
struct PartSetting {
  double area_factor = 1.0;  ///< of all bounds of areas
  /// Degrees: points keep away from segments as those of a refinement by this min angle do, if it is the larger one.
  double lens_angle = 0.0;
  /// Which triangles get the min angle, and the room that their segments need for it; empty: all.
  std::function<bool(const SizeField::Corners&)> needs_angle = {};
  const std::vector<float>* angles = nullptr;  ///< small angles between segments of the whole mesh; or null
  const SegmentIndex* segments = nullptr;      ///< of the mesh; null: made here
  AreaBound* areas = nullptr;                  ///< of the whole domain; null: made from the options
  Interfaces* interfaces = nullptr;            ///< with other parts; or null
};

/// Refinement of one triangulation: encroached segments first, then bad triangles.
class Refinement {
 public:
  Refinement(Triangulation& mesh, const RefineOptions& options, PartSetting setting = {});
  Refinement(const Refinement&) = delete;
  Refinement& operator=(const Refinement&) = delete;
  ~Refinement();

  void run();
  /// Refine from some triangles on: all others are as they shall be.
  void run(std::span<const std::int32_t> rows);
  /// Split the pieces of interfaces that other parts have split, and refine from there on. The mesh is refined but for
  /// that. Cost: a pass over the pieces of interfaces, and what splits cause
  /// @throws Error{internal} if a piece would be split elsewhere than in the other part
  void follow_interfaces();
  [[nodiscard]] const RefineReport& report() const noexcept { return report_; }

 private:
  struct Encroached {
    Side side;
    std::int32_t from;
    std::int32_t to;
  };
  enum class Outcome : std::uint8_t { done, again, left };
  /// Demand on a triangle when its vertex moves: one that meets its bounds, and the one that is improved, must be good;
  /// other bad ones wait for their turn; those in small angles of the input must not get worse.
  enum class Wanted : std::uint8_t { good, no_worse, any };

  [[nodiscard]] bool is_bad(const Triangle& t, double& key);
  [[nodiscard]] bool needs_angle(const Triangle& t) const;
  [[nodiscard]] bool is_between_shells(const Triangle& t, std::uint32_t shortest) const noexcept;
  [[nodiscard]] double bound_of_area(const Triangle& t);
  [[nodiscard]] bool encroaches(const Point& p, const Point& a, const Point& b) const noexcept;
  [[nodiscard]] bool is_too_long(const Triangle& t, const Point& a, const Point& b);
  [[nodiscard]] bool may_split(Side side) const noexcept;
  [[nodiscard]] bool is_kept(const Triangle& t, std::uint32_t edge) const noexcept;
  [[nodiscard]] std::int32_t interface_of(Side side) const noexcept;
  [[nodiscard]] bool must_split(Side side) const noexcept;
  void add_points();
  void check_triangle(std::int32_t row);
  void check_segment(Side side);
  void note(Side side);
  [[nodiscard]] std::int64_t limit() const noexcept;
  [[nodiscard]] bool is_full() noexcept;
  void split_segments();
  void split_segment(Side side);
  [[nodiscard]] double part_of_split(std::int32_t from, std::int32_t to, std::uint32_t segment) const noexcept;
  [[nodiscard]] Outcome split_triangle(std::int32_t row);
  [[nodiscard]] Side remove_vertices_near(Side segment);
  [[nodiscard]] bool relocate(std::int32_t row);
  [[nodiscard]] bool move_vertex(Side corner);
  [[nodiscard]] bool find_star(Side corner);
  [[nodiscard]] bool is_better_at(const Point& p, const Point& now) const;
  void move_attributes(std::int32_t vertex, const Point& p);
  void restore_star();

  Triangulation* mesh_;
  const RefineOptions* options_;
  PartSetting setting_;
  RefineReport report_;
  Insertion insertion_;
  Removal removal_;
  TriangleQueue queue_;
  std::vector<Encroached> encroached_;
  std::optional<SegmentIndex> own_segments_;  // if none is given
  const SegmentIndex* segments_;
  SmallAngles small_angles_;
  GoodPlace good_place_;
  std::vector<Side> star_;                                  // corners around the vertex that is to move
  std::vector<Wanted> wanted_;                              // of the triangles there
  std::vector<std::uint8_t> n_moves_;                       // of each vertex
  std::vector<Side> suspects_;                              // edges that may not be Delaunay
  std::vector<std::int32_t> changed_;                       // rows that a move changed
  std::optional<AreaBound> own_areas_;                      // by position, if there is one and none is given
  AreaBound* areas_ = nullptr;                              // that, or the one given
  std::set<std::pair<std::int32_t, std::int32_t>> coarse_;  // edges on segments that rounding forbids to split
  std::vector<char> is_kept_;                               // of each segment: no points are added; or empty
  double sine_squared_ = 0.0;                               // of the min angle
  double lens_ = 0.0;             // squared cosine of the angle at which the rim of its lens sees a segment
  double reach_ = 0.0;            // max distance of a new point from the middle of its edge, in lengths of the edge
  double flattest_ = 0.0;         // squared length of an edge over the min area of a good triangle on it
  bool has_bounds_ = false;       // of areas, or region areas that count
  std::int64_t first_limit_ = 0;  // of triangles, if none is given and angles alone decide
  std::int64_t n_too_large_ = 0;  // times a triangle or a segment was found too large for its area bound
};

}  // namespace barrio::delaunay::detail
