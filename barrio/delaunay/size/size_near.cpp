#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/size/box_tree.hpp"
#include "barrio/delaunay/size/core.hpp"

namespace barrio::delaunay {
namespace {

using Stretch = std::array<Point, 2>;

double squared_distance_to(const Stretch& s, const Point& p) noexcept {
  const Point u{s[1][0] - s[0][0], s[1][1] - s[0][1]};
  const Point v{p[0] - s[0][0], p[1] - s[0][1]};
  const double whole = u[0] * u[0] + u[1] * u[1];
  const double part = whole > 0 ? std::clamp((u[0] * v[0] + u[1] * v[1]) / whole, 0.0, 1.0) : 0.0;
  const double x = v[0] - part * u[0];
  const double y = v[1] - part * u[1];
  return x * x + y * y;
}

void check_profile(const SizeProfile& profile) {
  const std::string subject = fmt::format("sizes from {:g} to {:g}", profile.min_size, profile.max_size);
  if (!(profile.min_size > 0) || !(profile.max_size >= profile.min_size) || !std::isfinite(profile.min_size))
    refuse(ErrorCode::usage, subject, "must have a min_size above 0 and a max_size that is not below it");
  if (!(profile.width >= 0))
    refuse(ErrorCode::usage, subject, fmt::format("have the width {:g}", profile.width), "must be 0 or above");
  detail::check_growth(profile.growth);
}

/// Field by the distance from stretches of lines and from points.
class NearCore final : public detail::SmoothCore {
 public:
  NearCore(std::vector<Stretch> stretches, const SizeProfile& profile)
      : SmoothCore(profile.growth), stretches_(std::move(stretches)), profile_(profile) {
    std::vector<Rectangle> boxes;
    for (const Stretch& s : stretches_) boxes.push_back(bounding_rectangle(s));
    tree_ = detail::BoxTree(boxes, std::vector<double>(boxes.size(), 0.0));
  }
  [[nodiscard]] double at(const Point& place) const override { return size_at(distance_from(place)); }
  [[nodiscard]] double lowest(const Point& place, double /*here*/, double distance) const override {
    return size_at(distance_from(place) - distance);
  }
  [[nodiscard]] std::shared_ptr<const Core> limited(double growth, const Rectangle&) const override {
    if (growth >= profile_.growth) return nullptr;
    SizeProfile slower = profile_;
    slower.growth = growth;
    return std::make_shared<NearCore>(stretches_, slower);
  }

 private:
  [[nodiscard]] double distance_from(const Point& place) const {
    const auto distance = [&](std::uint32_t i) { return squared_distance_to(stretches_[i], place); };
    return std::sqrt(tree_.nearest(place, distance).second);
  }
  [[nodiscard]] double size_at(double distance) const noexcept {
    const double beyond = std::max(distance - profile_.width, 0.0);
    return std::min(profile_.min_size + profile_.growth * beyond, profile_.max_size);
  }

  std::vector<Stretch> stretches_;
  SizeProfile profile_;
  detail::BoxTree tree_;
};

}  // namespace

SizeField size_near(const PlanarGraph& graph, std::int32_t marker, const SizeProfile& profile) {
  check_profile(profile);
  std::vector<Stretch> found;
  for (const PlanarGraph::Edge& edge : graph.segments)
    if (edge.marker == marker) found.push_back({graph.points.at(edge.ends[0]), graph.points.at(edge.ends[1])});
  for (std::size_t i = 0; i < graph.point_markers.size() && i < graph.points.size(); ++i)
    if (graph.point_markers[i] == marker) found.push_back({graph.points[i], graph.points[i]});
  if (found.empty()) {
    std::vector<std::int32_t> known = graph.point_markers;
    for (const PlanarGraph::Edge& edge : graph.segments) known.push_back(edge.marker);
    std::ranges::sort(known);
    const auto repeated = std::ranges::unique(known);
    known.erase(repeated.begin(), repeated.end());
    constexpr std::size_t max_named = 10;
    std::string names;
    for (std::size_t i = 0; i < std::min(known.size(), max_named); ++i)
      names += fmt::format("{}{}", i == 0 ? "" : ", ", known[i]);
    refuse(ErrorCode::usage, fmt::format("marker {}", marker), "is that of no segment and no point",
           names.empty() ? std::string("give markers to segments or points")
                         : fmt::format("markers are {}{}", names, known.size() > max_named ? ", ..." : ""));
  }
  return SizeField(std::make_shared<NearCore>(std::move(found), profile));
}

SizeField size_near_regions(const Triangulation& mesh, double growth) {
  detail::check_growth(growth);
  std::map<double, std::vector<Stretch>> borders;  // by max area
  for (const Triangle& t : mesh.triangles.items()) {
    if (!t.is_used() || mesh.regions.empty()) continue;
    const double max_area = mesh.regions[t.region()].max_area;
    for (std::uint32_t e = 0; max_area > 0 && e < 3; ++e) {
      if (!t.neighbours[e] || mesh.triangle(t.neighbours[e].triangle()).region() == t.region()) continue;
      borders[max_area].push_back({mesh.point(t.vertices[next_corner(e)]), mesh.point(t.vertices[previous_corner(e)])});
    }
  }
  std::vector<SizeField> fields;
  for (auto& [max_area, stretches] : borders)
    fields.emplace_back(std::make_shared<NearCore>(std::move(stretches),
                                                   SizeProfile{.min_size = size_of_area(max_area), .growth = growth}));
  return smallest_size(std::move(fields));
}

SizeField size_near(const Point& place, const SizeProfile& profile) {
  check_profile(profile);
  return SizeField(std::make_shared<NearCore>(std::vector<Stretch>{{place, place}}, profile));
}

}  // namespace barrio::delaunay
