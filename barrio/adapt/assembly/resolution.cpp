#include "barrio/adapt/assembly/resolution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "barrio/mpi/collectives.hpp"

namespace barrio::adapt::detail {
namespace {

constexpr int max_digits = 12;  // more are all digits: a random double may look like a number of 13
constexpr int all_digits = max_digits + 1;

/// Tell whether a number has no more than some significant decimal digits.
bool has_digits(double x, int n_digits) {
  const double whole = std::abs(x) * std::pow(10.0, n_digits - 1 - std::floor(std::log10(std::abs(x))));
  constexpr double rounding = 4 * std::numeric_limits<double>::epsilon();
  return std::abs(whole - std::round(whole)) <= rounding * whole;
}

/// Return the number of significant decimal digits that all numbers have at most.
int digits_of(std::span<const double> numbers) {
  int n_digits = 1;
  for (const double x : numbers) {
    while (x != 0.0 && n_digits < all_digits && !has_digits(x, n_digits)) ++n_digits;
    if (n_digits == all_digits) break;
  }
  return n_digits;
}

bool are_single(std::span<const double> numbers) {
  return std::ranges::all_of(numbers, [](double x) { return x == static_cast<double>(static_cast<float>(x)); });
}

}  // namespace

double tolerance_of(const mesh::Mesh& mesh) {
  const std::span<const double> x = mesh.vertices().coordinates;
  std::array<double, 7> highest;  // largest coordinates, negated lowest ones, largest magnitude
  highest.fill(-std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < x.size(); ++i) {
    highest[i % 3] = std::max(highest[i % 3], x[i]);
    highest[3 + i % 3] = std::max(highest[3 + i % 3], -x[i]);
    highest[6] = std::max(highest[6], std::abs(x[i]));
  }
  std::array<std::int64_t, 2> forms{digits_of(x), are_single(x) ? 0 : 1};
  mpi::all_reduce(mesh.context(), std::span<double>(highest), MPI_MAX);
  mpi::all_reduce(mesh.context(), std::span<std::int64_t>(forms), MPI_MAX);
  double diagonal = 0.0;
  for (std::size_t k = 0; k < 3; ++k) diagonal = std::hypot(diagonal, highest[k] + highest[3 + k]);
  const double magnitude = highest[6];
  double half_unit = 0.0;
  if (forms[0] <= max_digits)
    half_unit = 0.5 * std::pow(10.0, std::floor(std::log10(magnitude)) + 1.0 - static_cast<double>(forms[0]));
  constexpr int bits_of_single = std::numeric_limits<float>::digits;
  if (forms[1] == 0) half_unit = std::max(half_unit, std::ldexp(1.0, std::ilogb(magnitude) - bits_of_single));
  constexpr double of_half_units = 8;
  constexpr double of_roundings = 64 * std::numeric_limits<double>::epsilon();
  constexpr double least = 1e-11;
  constexpr double most = 1e-5;
  return std::max({std::min(of_half_units * half_unit, most * diagonal), least * diagonal, of_roundings * magnitude});
}

}  // namespace barrio::adapt::detail
