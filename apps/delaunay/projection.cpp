#include "apps/delaunay/projection.hpp"

#include <fmt/format.h>
#include <proj.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>
#include <string_view>

#include "barrio/base/error.hpp"

namespace barrio::apps {
namespace {

constexpr double degree = std::numbers::pi / 180;

struct Release {
  void operator()(PJ_CONTEXT* context) const { proj_context_destroy(context); }
  void operator()(PJ* transformation) const { proj_destroy(transformation); }
};

using Vector = std::array<double, 3>;

Vector on_sphere(const delaunay::Point& p) noexcept {
  return {std::cos(p[1] * degree) * std::cos(p[0] * degree), std::cos(p[1] * degree) * std::sin(p[0] * degree),
          std::sin(p[1] * degree)};
}

/// Return a conformal map around the middle of positions on the sphere. @throws Error{bad_input} if they lie on more
/// than a hemisphere
std::string around_the_middle(std::span<const delaunay::Point> places) {
  Vector sum{};
  for (const delaunay::Point& p : places) {
    const Vector v = on_sphere(p);
    for (std::size_t k = 0; k < 3; ++k) sum[k] += v[k];
  }
  // rounded to a hundredth of a degree, so that people can type it
  const double longitude = std::round(std::atan2(sum[1], sum[0]) / degree * 100) / 100;
  const double latitude = std::round(std::atan2(sum[2], std::hypot(sum[0], sum[1])) / degree * 100) / 100;
  const Vector middle = on_sphere({longitude, latitude});
  const auto height = [&](const delaunay::Point& p) {
    const Vector v = on_sphere(p);
    return v[0] * middle[0] + v[1] * middle[1] + v[2] * middle[2];
  };
  const delaunay::Point& farthest = *std::ranges::min_element(places, {}, height);
  if (height(farthest) < 0)
    refuse(ErrorCode::bad_input, "the area",
           fmt::format("is too large for one map: position ({}, {}) lies {:.0f} degrees from the middle at ({}, {})",
                       farthest[0], farthest[1], std::acos(std::max(height(farthest), -1.0)) / degree, longitude,
                       latitude),
           "use --project none for degrees as they are, a map of the whole earth such as --project EPSG:6933, or give "
           "parts of it");
  return fmt::format("+proj=stere +lat_0={} +lon_0={} +datum=WGS84 +units=m +type=crs", latitude, longitude);
}

void project(std::span<delaunay::Point> places, const std::string& target) {
  const std::unique_ptr<PJ_CONTEXT, Release> context(proj_context_create());
  proj_log_level(context.get(), PJ_LOG_NONE);
  const auto reason = [&] {
    const int number = proj_context_errno(context.get());
    const char* const text = number != 0 ? proj_context_errno_string(context.get(), number) : nullptr;
    const std::string_view said(text != nullptr ? text : "");
    return said.empty() || said.starts_with("Unknown") ? std::string("PROJ does not know it") : std::string(said);
  };
  std::unique_ptr<PJ, Release> given(proj_create_crs_to_crs(context.get(), "OGC:CRS84", target.c_str(), nullptr));
  if (!given)
    refuse(ErrorCode::usage, "--project", fmt::format("'{}' is not a projection: {}", target, reason()),
           "use auto, none, or one such as EPSG:32632 or '+proj=... +type=crs'");
  const std::unique_ptr<PJ, Release> change(proj_normalize_for_visualization(context.get(), given.get()));
  for (delaunay::Point& p : places) {
    constexpr double rounding = 1e-9;
    if (!(std::abs(p[0]) <= 360 && std::abs(p[1]) <= 90 + rounding))
      refuse(ErrorCode::bad_input, fmt::format("position ({}, {})", p[0], p[1]), "is not a longitude and latitude",
             "--project none takes coordinates as they are");
    const PJ_COORD to = proj_trans(change.get(), PJ_FWD, proj_coord(p[0], std::clamp(p[1], -90.0, 90.0), 0, 0));
    if (!std::isfinite(to.xy.x) || !std::isfinite(to.xy.y))
      refuse(ErrorCode::bad_input, fmt::format("position ({}, {})", p[0], p[1]),
             fmt::format("is outside the range of the projection {}", target), "choose one for this part of the earth");
    p = {to.xy.x, to.xy.y};
  }
}

}  // namespace

Projection make_projection(const std::string& name, std::string& used) {
  if (name == "none") return {};
  used.clear();
  return [name, &used](std::span<delaunay::Point> places) {
    if (used.empty()) used = name == "auto" ? around_the_middle(places) : name;
    project(places, used);
  };
}

}  // namespace barrio::apps
