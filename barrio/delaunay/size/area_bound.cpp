#include "barrio/delaunay/size/area_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "barrio/base/error.hpp"

namespace barrio::delaunay::detail {

AreaBound::AreaBound(std::function<double(const Point&)> area_at, SizeField size, const Rectangle& domain,
                     double resolution)
    : size_(std::move(size)) {
  if (!area_at) return;
  area_at_ = [area_at = std::move(area_at)](const Point& place) {
    const double area = area_at(place);
    if (!(area > 0))
      refuse(ErrorCode::bad_input, "size field", fmt::format("is {:g} at ({:g}, {:g})", area, place[0], place[1]),
             "areas must be above 0");
    return area;
  };
  samples_.emplace(area_at_, domain, resolution);
}

double AreaBound::operator()(const SizeField::Corners& corners, double bound) {
  const auto& [a, b, c] = corners;
  const double area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]));
  if (area > bound) return bound;
  const Point centroid{(a[0] + b[0] + c[0]) / 3, (a[1] + b[1] + c[1]) / 3};
  if (area_at_) bound = std::min(bound, area_at_(centroid));
  if (size_) bound = std::min(bound, area_of_size(size_(centroid)));
  if (area > bound) return bound;
  constexpr double coarser = 4;
  const double limit = area / coarser;
  if (size_.is_below(corners, size_of_area(limit)) || (samples_ && samples_->is_below(corners, limit))) return limit;
  return bound;
}

}  // namespace barrio::delaunay::detail
