#include "barrio/delaunay/audit/exact.hpp"

#include <gmpxx.h>

#include <cmath>
#include <limits>

namespace barrio::delaunay::detail {
namespace {

/// Return the sign of a rounded sum, or 2 if rounding leaves it open.
int sure_sign(long double sum, long double magnitude) noexcept {
  constexpr long double bound = 32 * std::numeric_limits<long double>::epsilon();
  if (sum > bound * magnitude) return 1;
  if (sum < -bound * magnitude) return -1;
  return 2;
}

mpq_class twice_area(const std::vector<Edge2>& edges) {
  mpq_class sum = 0;
  for (const Edge2& edge : edges)
    sum += mpq_class(edge.from[0]) * mpq_class(edge.to[1]) - mpq_class(edge.from[1]) * mpq_class(edge.to[0]);
  return sum;
}

}  // namespace

int ExactSigns::orientation(const Point& a, const Point& b, const Point& c) {
  const long double x0 = a[0];
  const long double y0 = a[1];
  const long double ux = b[0] - x0;
  const long double uy = b[1] - y0;
  const long double vx = c[0] - x0;
  const long double vy = c[1] - y0;
  if (const int sure = sure_sign(ux * vy - uy * vx, std::abs(ux * vy) + std::abs(uy * vx)); sure != 2) return sure;
  ++n_exact_;
  const mpq_class ax = a[0];
  const mpq_class ay = a[1];
  const mpq_class cross = (b[0] - ax) * (c[1] - ay) - (b[1] - ay) * (c[0] - ax);
  return sgn(cross);
}

int ExactSigns::in_circle(const Point& a, const Point& b, const Point& c, const Point& d) {
  // sum over the corners: squared distance from d, times the area that d spans with the other two
  const long double x0 = d[0];
  const long double y0 = d[1];
  const auto x = [x0](const Point& p) { return p[0] - x0; };
  const auto y = [y0](const Point& p) { return p[1] - y0; };
  long double sum = 0;
  long double magnitude = 0;
  for (const auto& [p, q, r] : {std::array{&a, &b, &c}, std::array{&b, &c, &a}, std::array{&c, &a, &b}}) {
    const long double square = x(*p) * x(*p) + y(*p) * y(*p);
    sum += square * (x(*q) * y(*r) - y(*q) * x(*r));
    magnitude += square * (std::abs(x(*q) * y(*r)) + std::abs(y(*q) * x(*r)));
  }
  if (const int sure = sure_sign(sum, magnitude); sure != 2) return sure;
  ++n_exact_;
  const mpq_class dx = d[0];
  const mpq_class dy = d[1];
  mpq_class exact = 0;
  for (const auto& [p, q, r] : {std::array{&a, &b, &c}, std::array{&b, &c, &a}, std::array{&c, &a, &b}}) {
    const mpq_class px = (*p)[0] - dx;
    const mpq_class py = (*p)[1] - dy;
    exact += (px * px + py * py) * (((*q)[0] - dx) * ((*r)[1] - dy) - ((*q)[1] - dy) * ((*r)[0] - dx));
  }
  return sgn(exact);
}

double exact_area(const std::vector<Edge2>& edges) {
  const mpq_class half = twice_area(edges) / 2;
  return half.get_d();
}

double exact_difference(const std::vector<Edge2>& a, const std::vector<Edge2>& b) {
  const mpq_class half = (twice_area(a) - twice_area(b)) / 2;
  return half.get_d();
}

}  // namespace barrio::delaunay::detail
