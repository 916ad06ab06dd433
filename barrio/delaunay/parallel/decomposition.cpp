#include "barrio/delaunay/parallel/decomposition.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "barrio/delaunay/kernel/quality.hpp"
#include "barrio/delaunay/kernel/refinement.hpp"
#include "barrio/delaunay/kernel/segment_index.hpp"
#include "barrio/delaunay/kernel/small_angles.hpp"
#include "barrio/delaunay/parallel/bisection.hpp"
#include "barrio/delaunay/parallel/corners.hpp"

namespace barrio::delaunay::detail {
namespace {

/// Triangles of the coarse mesh for each part: fewer would make cuts ragged, more would be work done twice.
constexpr std::int32_t coarse_per_part = 60;
constexpr std::int32_t min_coarse_per_part = 4;  // where angles decide
constexpr std::int32_t usual_per_part = 50'000;
constexpr std::int32_t min_parts = 16;
constexpr std::int32_t min_per_part = 1'000;
constexpr std::int64_t work_unit = 16;  // of an expected triangle

Point centroid_of(const Triangulation& mesh, const Triangle& t) noexcept {
  const Point& a = mesh.point(t.vertices[0]);
  const Point& b = mesh.point(t.vertices[1]);
  const Point& c = mesh.point(t.vertices[2]);
  return {(a[0] + b[0] + c[0]) / 3, (a[1] + b[1] + c[1]) / 3};
}

/// Expected number of triangles in one of the coarse mesh.
class Work {
 public:
  Work(const Triangulation& mesh, const RefineOptions& options, AreaBound* areas)
      : mesh_(&mesh), options_(&options), areas_(areas) {}

  /// Return the bound of the area at a triangle; infinity if there is none.
  [[nodiscard]] double bound_of(const Triangle& t) const {
    double bound = options_->max_area > 0 ? options_->max_area : std::numeric_limits<double>::infinity();
    if (options_->keeps_regions)
      if (const double of_region = mesh_->regions[t.region()].max_area; of_region > 0)
        bound = std::min(bound, of_region);
    if (areas_ != nullptr)
      bound = std::min(
          bound, (*areas_)({mesh_->point(t.vertices[0]), mesh_->point(t.vertices[1]), mesh_->point(t.vertices[2])},
                           std::numeric_limits<double>::infinity()));
    return bound;
  }
  /// Return the expected number of triangles.
  [[nodiscard]] double of(const Triangle& t) const {
    constexpr double usual = 1.55;  // triangles over the area divided by its bound
    const std::array<Point, 3> corners{mesh_->point(t.vertices[0]), mesh_->point(t.vertices[1]),
                                       mesh_->point(t.vertices[2])};
    const Shape shape(corners[0], corners[1], corners[2]);
    const double by_area = usual * 0.5 * shape.double_area / bound_of(t);
    // where angles decide, sizes double from the shortest edge on. The numbers are fits to fractal coasts, saws and
    // pipes, where parts were then within a tenth of the mean
    constexpr double usual_angle = 20.0;
    constexpr double max_doublings = 2.3;
    const double longest = std::ranges::max(shape.squares);
    const double doublings = std::min(0.5 * std::log2(longest / shape.squares[shape.shortest]), max_doublings);
    const double by_angle = std::pow(options_->min_angle / usual_angle, 1.4) * (0.5 + 0.95 * doublings);
    return by_area + by_angle;
  }

 private:
  const Triangulation* mesh_;
  const RefineOptions* options_;
  AreaBound* areas_;
};

/// Cutting of one domain.
class Cutting {
 public:
  Cutting(Triangulation mesh, const RefineOptions& options, AreaBound* areas)
      : mesh_(std::move(mesh)), options_(options), areas_(areas) {
    options_.progress = {};
  }

  Decomposition run(std::int32_t n_parts) {
    index_.emplace(mesh_);
    angles_ = SmallAngles(mesh_, *index_).angles();  // refinement does not change them
    n_parts_ = n_parts > 0 ? n_parts : usual_number();
    bound_areas();
    assign();
    refine_corridor();
    assign();
    smooth();
    result_.min_corner = widen_corners(mesh_, part_of_);
    result_.n_coarse_triangles = mesh_.n_triangles();
    cut_out();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::int32_t usual_number() const {
    const Work work(mesh_, options_, areas_);
    double n = 0.0;
    for (const Triangle& t : mesh_.triangles.items())
      if (t.is_used()) n += work.of(t);
    const double most = std::max(1.0, n / min_per_part);
    return static_cast<std::int32_t>(
        std::min(std::max(n / usual_per_part, double{min_parts}), std::min(most, 65536.0)));
  }

  /// Bound the areas of triangles alone, so that there are enough to cut.
  void bound_areas() {
    const Work work(mesh_, options_, areas_);
    double n = 0.0;
    double area = 0.0;
    for (const Triangle& t : mesh_.triangles.items()) {
      if (!t.is_used()) continue;
      n += work.of(t);
      area += mesh_.area(t);
    }
    const double n_wanted = static_cast<double>(n_parts_) * coarse_per_part;
    RefineOptions bounds = options_;
    bounds.min_angle = 0.0;
    bounds.max_triangles = 0;
    const double factor = std::max(1.0, n / n_wanted);
    // where angles alone decide, no triangle of the coarse mesh is larger than a share of the domain
    const double share = area / (static_cast<double>(n_parts_) * min_coarse_per_part);
    if (!(bounds.max_area > 0) || factor * bounds.max_area > share) bounds.max_area = share / factor;
    constexpr double usual_angle = 20.0;
    Refinement refinement(mesh_, bounds,
                          {.area_factor = factor,
                           .lens_angle = std::max(options_.min_angle, usual_angle),
                           .needs_angle = [](const SizeField::Corners&) { return false; },
                           .angles = &angles_,
                           .segments = &*index_,
                           .areas = areas_});
    // smaller ones are looked at where points are added beside them
    constexpr double longest_over_area = 4.0;
    refinement.run(sorted_rows([&](const Triangle& t) {
      const Shape shape(mesh_.point(t.vertices[0]), mesh_.point(t.vertices[1]), mesh_.point(t.vertices[2]));
      return std::ranges::max(shape.squares) > longest_over_area * factor * work.bound_of(t);
    }));
  }

  /// List some triangles in an order that does not depend on rows.
  template <class IsIncluded>
  [[nodiscard]] std::vector<std::int32_t> sorted_rows(IsIncluded&& is_included) const {
    std::vector<std::pair<SizeField::Corners, std::int32_t>> found;
    for (std::int32_t row = 0; row < std::ssize(mesh_.triangles); ++row) {
      if (!mesh_.triangle(row).is_used() || !is_included(mesh_.triangle(row))) continue;
      SizeField::Corners corners = corners_of(row);
      std::ranges::sort(corners);
      found.push_back({corners, row});
    }
    std::ranges::sort(found);
    std::vector<std::int32_t> rows;
    rows.reserve(found.size());
    for (const auto& [corners, row] : found) rows.push_back(row);
    return rows;
  }

  void assign() {
    if (!bisection_) {
      const Work work(mesh_, options_, areas_);
      std::vector<WeightedPoint> points;
      points.reserve(mesh_.n_triangles());
      for (const Triangle& t : mesh_.triangles.items())
        if (t.is_used()) points.push_back({centroid_of(mesh_, t), std::llround(work_unit * work.of(t))});
      bisection_.emplace(points, n_parts_);
      result_.work = bisection_->work();
    }
    part_of_.assign(mesh_.triangles.size(), 0);
    for (std::size_t row = 0; row < part_of_.size(); ++row)
      if (const Triangle& t = mesh_.triangles[row]; t.is_used())
        part_of_[row] = bisection_->part_of(centroid_of(mesh_, t));
  }

  /// Refine by angle the triangles at the cut alone.
  void refine_corridor() {
    constexpr double usual_angle = 25.0;
    RefineOptions by_angle = options_;
    by_angle.min_angle = std::max(options_.min_angle, usual_angle);
    by_angle.max_area = 0.0;
    by_angle.keeps_regions = false;
    by_angle.area_at = {};
    by_angle.size = {};
    by_angle.max_triangles = 0;
    Refinement refinement(mesh_, by_angle,
                          {.needs_angle = [&](const SizeField::Corners& corners) { return bisection_->cuts(corners); },
                           .angles = &angles_,
                           .segments = &*index_});
    refinement.run(sorted_rows([&](const Triangle& t) {
      return bisection_->cuts({mesh_.point(t.vertices[0]), mesh_.point(t.vertices[1]), mesh_.point(t.vertices[2])});
    }));
    result_.n_corridor_points = refinement.report().n_free_points + refinement.report().n_segment_points;
  }

  /// Give a triangle with two edges to another part to that part.
  void smooth() {
    for (std::size_t row = 0; row < part_of_.size(); ++row) {
      const Triangle& t = mesh_.triangles[row];
      if (!t.is_used()) continue;
      for (std::uint32_t e = 0; e < 3; ++e) {
        const Side one = t.neighbours[e];
        const Side other = t.neighbours[next_corner(e)];
        if (!one || !other || t.is_segment(e) || t.is_segment(next_corner(e))) continue;
        const std::int32_t part = part_of_[one.triangle()];
        if (part == part_of_[other.triangle()] && part != part_of_[row]) part_of_[row] = part;
      }
    }
  }

  [[nodiscard]] SizeField::Corners corners_of(std::int32_t row) const noexcept {
    const Triangle& t = mesh_.triangle(row);
    return {mesh_.point(t.vertices[0]), mesh_.point(t.vertices[1]), mesh_.point(t.vertices[2])};
  }
  void cut_out();
  void number_shared();
  void sort_by_part();
  void cut_out(Part& part, std::span<const std::int32_t> rows);
  [[nodiscard]] std::int32_t segment_of(Part& part, std::uint32_t segment);
  [[nodiscard]] std::int32_t vertex_of(Part& part, std::int32_t vertex);
  void join_interfaces();

  /// An edge of the coarse mesh between two parts, as one of them has it.
  struct Cut {
    std::array<std::int32_t, 2> ends{};  // of the coarse mesh, the one with the smaller coordinates first
    std::int32_t part = 0;
    std::int32_t place = 0;
  };

  Triangulation mesh_;
  RefineOptions options_;
  AreaBound* areas_;
  std::int32_t n_parts_ = 1;
  std::optional<Bisection> bisection_;
  std::vector<std::int32_t> part_of_;  // of each row
  Decomposition result_;
  std::optional<SegmentIndex> index_;
  std::vector<float> angles_;               // two for each segment
  std::vector<std::size_t> first_;          // of each part in rows_
  std::vector<std::int32_t> rows_;          // by part
  std::vector<std::int32_t> shared_;        // number of each vertex, -1 if one part alone has it
  std::vector<std::int32_t> owner_;         // first part of each vertex
  std::vector<std::int32_t> local_vertex_;  // of the part that is cut out, -1 elsewhere
  std::vector<std::int32_t> local_segment_;
  std::vector<std::int32_t> local_region_;
  std::vector<std::int32_t> local_row_;
  std::vector<std::int32_t> vertices_;  // of the part that is cut out
  std::vector<std::uint32_t> segments_;
  std::vector<std::uint32_t> regions_;
  std::vector<Cut> cuts_;
};

/// Find the vertices that several parts have, and the first part of each.
void Cutting::number_shared() {
  owner_.assign(mesh_.points.size(), -1);
  shared_.assign(mesh_.points.size(), -1);
  constexpr std::int32_t several = -2;
  for (std::int32_t part = 0; part < n_parts_; ++part) {
    for (std::size_t i = first_[part]; i < first_[part + 1]; ++i) {
      for (const std::int32_t v : mesh_.triangle(rows_[i]).vertices) {
        if (owner_[v] < 0) owner_[v] = part;
        if (owner_[v] != part) shared_[v] = several;
      }
    }
  }
  for (std::int32_t part = 0; part < n_parts_; ++part)  // by owner, so that each writes its own at once
    for (std::size_t i = first_[part]; i < first_[part + 1]; ++i)
      for (const std::int32_t v : mesh_.triangle(rows_[i]).vertices)
        if (owner_[v] == part && shared_[v] == several) shared_[v] = result_.n_shared++;
}

void Cutting::sort_by_part() {
  first_.assign(static_cast<std::size_t>(n_parts_) + 1, 0);
  for (std::size_t row = 0; row < part_of_.size(); ++row)
    if (mesh_.triangles[row].is_used()) ++first_[part_of_[row] + 1];
  for (std::size_t part = 0; part + 1 < first_.size(); ++part) first_[part + 1] += first_[part];
  std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
  rows_.resize(first_.back());
  for (std::size_t row = 0; row < part_of_.size(); ++row)
    if (mesh_.triangles[row].is_used()) rows_[next[part_of_[row]]++] = static_cast<std::int32_t>(row);
}

void Cutting::cut_out() {
  sort_by_part();
  number_shared();
  local_vertex_.assign(mesh_.points.size(), -1);
  local_segment_.assign(mesh_.segments.size(), -1);
  local_region_.assign(mesh_.regions.size(), -1);
  local_row_.assign(mesh_.triangles.size(), -1);
  result_.parts.resize(n_parts_);
  for (std::int32_t p = 0; p < n_parts_; ++p) {
    result_.parts[p].number = p;
    result_.parts[p].n_expected = result_.work[p] / work_unit;
    cut_out(result_.parts[p], std::span(rows_).subspan(first_[p], first_[p + 1] - first_[p]));
  }
  join_interfaces();
}

std::int32_t Cutting::vertex_of(Part& part, std::int32_t vertex) {
  std::int32_t& local = local_vertex_[vertex];
  if (local < 0) {
    local = static_cast<std::int32_t>(vertices_.size());
    vertices_.push_back(vertex);
    part.mesh.points.push_back(mesh_.point(vertex));
    const VertexInfo info = mesh_.info(vertex);
    part.mesh.infos.push_back(
        info.kind() == VertexKind::on_segment && info.segment() != no_segment
            ? VertexInfo(VertexKind::on_segment, static_cast<std::uint32_t>(segment_of(part, info.segment())))
        : info.kind() == VertexKind::free && shared_[vertex] >= 0
            ? VertexInfo(VertexKind::input, 0)  // it must not be removed
            : info);
    const std::size_t width = mesh_.attribute_width();
    for (std::size_t k = 0; k < width; ++k)
      part.mesh.attribute_values.push_back(mesh_.attribute_values[vertex * width + k]);
  }
  return local;
}

std::int32_t Cutting::segment_of(Part& part, std::uint32_t segment) {
  std::int32_t& local = local_segment_[segment];
  if (local < 0) {
    local = static_cast<std::int32_t>(segments_.size());
    segments_.push_back(segment);
    part.mesh.segments.push_back(mesh_.segments[segment]);  // its ends follow
    for (std::size_t i = 0; i < 2; ++i) part.angles.push_back(angles_[2 * std::size_t{segment} + i]);
  }
  return local;
}

void Cutting::cut_out(Part& part, std::span<const std::int32_t> rows) {
  vertices_.clear();
  segments_.clear();
  regions_.assign(1, 0);
  local_region_[0] = 0;
  part.mesh.attributes = mesh_.attributes;
  part.mesh.triangles.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) local_row_[rows[i]] = static_cast<std::int32_t>(i);
  struct Between {
    Side side;
    bool is_segment;
  };
  std::vector<Between> between;  // edges of the coarse mesh to other parts
  for (const std::int32_t row : rows) {
    const Triangle& t = mesh_.triangle(row);
    Triangle made{.vertices = {}, .neighbours = {}, .next = -1, .state = 0};
    for (std::size_t i = 0; i < 3; ++i) made.vertices[i] = vertex_of(part, t.vertices[i]);
    std::int32_t& region = local_region_[t.region()];
    if (region < 0) {
      region = static_cast<std::int32_t>(regions_.size());
      regions_.push_back(t.region());
    }
    made.set_region(region);
    for (std::uint32_t e = 0; e < 3; ++e) {
      if (t.is_segment(e)) {
        made.state |= Triangle::segment_bit(e);
        const std::uint32_t s = index_->find(t.vertices[next_corner(e)], t.vertices[previous_corner(e)]);
        if (s != no_segment) static_cast<void>(segment_of(part, s));
      }
      if (!t.neighbours[e]) continue;
      const std::int32_t beyond = t.neighbours[e].triangle();
      if (part_of_[beyond] == part.number) {
        made.neighbours[e] = Side(local_row_[beyond], t.neighbours[e].edge());
        continue;
      }
      made.state |= Triangle::segment_bit(e);
      between.push_back({Side(row, e), t.is_segment(e)});
    }
    part.mesh.triangles.push_back(made);
  }
  const std::size_t n_with_triangles = vertices_.size();
  for (std::size_t s = 0; s < segments_.size(); ++s)
    for (std::int32_t& end : part.mesh.segments[s].ends)
      if (end >= 0) end = vertex_of(part, end);
  for (const auto& [side, is_segment] : between) {
    const Triangle& t = mesh_.triangle(side.triangle());
    std::array<std::int32_t, 2> ends{t.vertices[next_corner(side.edge())], t.vertices[previous_corner(side.edge())]};
    if (mesh_.point(ends[1]) < mesh_.point(ends[0])) std::swap(ends[0], ends[1]);
    cuts_.push_back({ends, part.number, static_cast<std::int32_t>(part.interfaces.size())});
    Interface interface{.ends = {local_vertex_[ends[0]], local_vertex_[ends[1]]},
                        .neighbour = part_of_[t.neighbours[side.edge()].triangle()]};
    if (!is_segment) {
      interface.segment = static_cast<std::int32_t>(part.mesh.segments.size());
      part.mesh.segments.push_back({.ends = interface.ends, .marker = 0, .input = Segment::interface});
      part.angles.insert(part.angles.end(), 2, SmallAngles::wide);
    }
    part.interfaces.push_back(interface);
  }
  for (std::size_t v = 0; v < n_with_triangles; ++v)
    if (const std::int32_t number = shared_[vertices_[v]]; number >= 0)
      part.shared.push_back({static_cast<std::int32_t>(v), number, owner_[vertices_[v]] == part.number});
  for (const std::uint32_t r : regions_) {
    const Region& region = mesh_.regions[r];
    part.mesh.regions.push_back(
        {.attribute = region.attribute, .max_area = region.max_area, .number = region.number, .name = {}});
    part.regions.push_back(static_cast<std::int32_t>(r));
  }
  for (const std::int32_t v : vertices_) local_vertex_[v] = -1;
  for (const std::uint32_t s : segments_) local_segment_[s] = -1;
  for (const std::uint32_t r : regions_) local_region_[r] = -1;
  for (const std::int32_t row : rows) local_row_[row] = -1;
}

/// Tell each part the place of its interfaces in the lists of the others.
void Cutting::join_interfaces() {
  std::ranges::sort(cuts_, {}, [](const Cut& cut) { return std::tuple(cut.ends, cut.part); });
  for (std::size_t i = 0; i + 1 < cuts_.size(); i += 2) {
    const Cut& one = cuts_[i];
    const Cut& other = cuts_[i + 1];
    result_.parts[one.part].interfaces[one.place].place = other.place;
    result_.parts[other.part].interfaces[other.place].place = one.place;
  }
  result_.n_interfaces = std::ssize(cuts_) / 2;
}

}  // namespace

Decomposition decompose(Triangulation mesh, const RefineOptions& options, AreaBound* areas, std::int32_t n_parts) {
  return Cutting(std::move(mesh), options, areas).run(n_parts);
}

}  // namespace barrio::delaunay::detail
