#include "barrio/delaunay/size_field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/size/core.hpp"

namespace barrio::delaunay {
namespace {

constexpr double equilateral = 0.43301270189221932;  // its area over the square of its edge

Point middle_of(const Point& a, const Point& b) noexcept { return {0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])}; }

double distance_of(const Point& a, const Point& b) noexcept { return std::hypot(a[0] - b[0], a[1] - b[1]); }

/// Search the parts of a triangle that may be below a length, and leave out those that cannot be, or only by a tenth.
bool find_below(const detail::SmoothCore& field, const SizeField::Corners& t, double length, int depth) {
  const Point centroid{(t[0][0] + t[1][0] + t[2][0]) / 3, (t[0][1] + t[1][1] + t[2][1]) / 3};
  const double here = field.at(centroid);
  if (here < length) return true;
  double radius = 0.0;
  for (const Point& corner : t) radius = std::max(radius, distance_of(corner, centroid));
  constexpr double exactness = 0.1;
  const double lowest = field.lowest(centroid, here, radius);
  if (lowest >= length || here - lowest < exactness * length || depth == 0) return false;
  const Point a = middle_of(t[1], t[2]);
  const Point b = middle_of(t[2], t[0]);
  const Point c = middle_of(t[0], t[1]);
  for (const SizeField::Corners& part : {SizeField::Corners{a, b, c}, SizeField::Corners{t[0], c, b},
                                         SizeField::Corners{c, t[1], a}, SizeField::Corners{b, a, t[2]}})
    if (find_below(field, part, length, depth - 1)) return true;
  return false;
}

class FunctionCore final : public detail::SmoothCore {
 public:
  FunctionCore(std::function<double(const Point&)> size, double growth) : SmoothCore(growth), size_(std::move(size)) {}
  [[nodiscard]] double at(const Point& place) const override { return detail::checked_size(size_(place), place); }
  [[nodiscard]] std::shared_ptr<const Core> limited(double growth, const Rectangle& domain) const override {
    if (growth >= this->growth()) return nullptr;
    return detail::limit_by_samples(size_, growth, domain, {});
  }

 private:
  std::function<double(const Point&)> size_;
};

class SmallestCore final : public SizeField::Core {
 public:
  explicit SmallestCore(std::vector<SizeField> fields) noexcept : fields_(std::move(fields)) {}
  [[nodiscard]] double at(const Point& place) const override {
    double smallest = std::numeric_limits<double>::infinity();
    for (const SizeField& field : fields_) smallest = std::min(smallest, field(place));
    return smallest;
  }
  [[nodiscard]] bool is_below(const SizeField::Corners& corners, double length) const override {
    return std::ranges::any_of(fields_, [&](const SizeField& field) { return field.is_below(corners, length); });
  }
  [[nodiscard]] std::shared_ptr<const Core> limited(double growth, const Rectangle& domain) const override {
    std::vector<SizeField> all;
    for (const SizeField& field : fields_) all.push_back(limit_growth(field, growth, domain));
    return std::make_shared<SmallestCore>(std::move(all));
  }

 private:
  std::vector<SizeField> fields_;
};

}  // namespace

namespace detail {

bool SmoothCore::is_below(const SizeField::Corners& corners, double length) const {
  constexpr int max_depth = 40;
  return find_below(*this, corners, length, max_depth);
}

double checked_size(double size, const Point& place) {
  if (!(size > 0))
    refuse(ErrorCode::bad_input, "size field", fmt::format("is {:g} at ({:g}, {:g})", size, place[0], place[1]),
           "sizes must be above 0");
  return size;
}

void check_growth(double growth) {
  if (!(growth > 0) || !std::isfinite(growth))
    refuse(ErrorCode::usage, "growth of sizes", fmt::format("is {:g}", growth), "must be above 0, as in 0.2");
}

}  // namespace detail

void Rectangle::add(const Point& p) noexcept {
  for (std::size_t k = 0; k < 2; ++k) {
    low[k] = std::min(low[k], p[k]);
    high[k] = std::max(high[k], p[k]);
  }
}

Rectangle bounding_rectangle(std::span<const Point> points) noexcept {
  Rectangle box;
  for (const Point& p : points) box.add(p);
  return box;
}

double area_of_size(double size) noexcept { return equilateral * size * size; }
double size_of_area(double area) noexcept { return std::sqrt(area / equilateral); }

double SizeField::operator()(const Point& place) const {
  return core_ ? core_->at(place) : std::numeric_limits<double>::infinity();
}

bool SizeField::is_below(const Corners& corners, double length) const {
  return core_ && core_->is_below(corners, length);
}

SizeField uniform_size(double size) {
  if (!(size > 0))
    refuse(ErrorCode::usage, "size", fmt::format("is {:g}", size), "must be above 0, in units of coordinates");
  return SizeField(std::make_shared<FunctionCore>([size](const Point&) { return size; }, 0.0));
}

SizeField size_by_function(std::function<double(const Point&)> size, double growth) {
  if (!(growth >= 0))
    refuse(ErrorCode::usage, "growth of a size function", fmt::format("is {:g}", growth), "must be 0 or above");
  return SizeField(std::make_shared<FunctionCore>(std::move(size), growth));
}

SizeField smallest_size(std::vector<SizeField> fields) {
  std::erase_if(fields, [](const SizeField& field) { return !field; });
  if (fields.empty()) return {};
  return fields.size() == 1 ? fields.front() : SizeField(std::make_shared<SmallestCore>(std::move(fields)));
}

SizeField limit_growth(const SizeField& field, double growth, const Rectangle& domain) {
  detail::check_growth(growth);
  if (!field) return field;
  std::shared_ptr<const SizeField::Core> limited = field.core()->limited(growth, domain);
  return limited ? SizeField(std::move(limited)) : field;
}

SizeField limit_growth(const std::function<double(const Point&)>& size, double growth, const Rectangle& domain) {
  detail::check_growth(growth);
  return SizeField(detail::limit_by_samples(size, growth, domain, {}));
}

}  // namespace barrio::delaunay
