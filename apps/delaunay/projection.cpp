#include "apps/delaunay/projection.hpp"

#include <fmt/format.h>
#include <proj.h>

#include <cmath>
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

/// Return a conformal map around the middle of positions on the sphere.
std::string around_the_middle(std::span<const delaunay::Point> places) {
  double x = 0.0;
  double y = 0.0;
  double z = 0.0;
  for (const delaunay::Point& p : places) {
    x += std::cos(p[1] * degree) * std::cos(p[0] * degree);
    y += std::cos(p[1] * degree) * std::sin(p[0] * degree);
    z += std::sin(p[1] * degree);
  }
  // rounded to a hundredth of a degree, so that people can type it
  const double longitude = std::round(std::atan2(y, x) / degree * 100) / 100;
  const double latitude = std::round(std::atan2(z, std::hypot(x, y)) / degree * 100) / 100;
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
    if (!(std::abs(p[0]) <= 360 && std::abs(p[1]) <= 90))
      refuse(ErrorCode::bad_input, fmt::format("position ({:g}, {:g})", p[0], p[1]), "is not a longitude and latitude",
             "--project none takes coordinates as they are");
    const PJ_COORD to = proj_trans(change.get(), PJ_FWD, proj_coord(p[0], p[1], 0, 0));
    if (!std::isfinite(to.xy.x) || !std::isfinite(to.xy.y))
      refuse(ErrorCode::bad_input, fmt::format("position ({:g}, {:g})", p[0], p[1]),
             fmt::format("is outside the range of the projection {}", target), "choose one for this part of the earth");
    p = {to.xy.x, to.xy.y};
  }
}

}  // namespace

Projection make_projection(const std::string& name, std::string& used) {
  if (name == "none") return {};
  return [name, &used](std::span<delaunay::Point> places) {
    used = name == "auto" ? around_the_middle(places) : name;
    project(places, used);
  };
}

}  // namespace barrio::apps
