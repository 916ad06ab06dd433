#include "barrio/geometry/predicates/expansion.hpp"

#include <cmath>

namespace barrio::geometry::detail {
namespace {

/// Compute two_sum for |larger| >= |smaller|.
TwoTerms fast_two_sum(double larger, double smaller) noexcept {
  const double sum = larger + smaller;
  return {sum, smaller - (sum - larger)};
}

/// Split off the upper 26 bits; products of such halves are exact.
TwoTerms split(double a) noexcept {
  constexpr double splitter = 134217729.0;  // 2^27 + 1
  const double wide = splitter * a;
  const double high = wide - (wide - a);
  return {high, a - high};
}

void append(std::pmr::vector<double>& terms, double term) {
  if (term != 0.0) terms.push_back(term);
}

}  // namespace

TwoTerms two_sum(double a, double b) noexcept {
  const double sum = a + b;
  const double of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

TwoTerms two_product(double a, double b) noexcept {
  const double product = a * b;
  const TwoTerms x = split(a);
  const TwoTerms y = split(b);
  const double rest = ((x.high * y.high - product) + x.high * y.low) + x.low * y.high;
  return {product, rest + x.low * y.low};
}

Expansion::Expansion(Scratch& scratch, double a, double b) : Expansion(scratch) {
  const TwoTerms difference = two_sum(a, -b);
  append(terms_, difference.low);
  append(terms_, difference.high);
}

Expansion Expansion::negated() const {
  Expansion out(*scratch_);
  out.terms_.reserve(terms_.size());
  for (const double term : terms_) out.terms_.push_back(-term);
  return out;
}

/// Merge by ascending magnitude and sum: FAST-EXPANSION-SUM of Shewchuk 1997.
Expansion operator+(const Expansion& a, const Expansion& b) {
  if (a.terms_.empty()) return b;
  if (b.terms_.empty()) return a;
  Expansion out(*a.scratch_);
  out.terms_.reserve(a.size() + b.size());
  std::size_t i = 0;
  std::size_t j = 0;
  const auto next = [&] {
    const bool is_of_a = j == b.size() || (i < a.size() && std::abs(a.terms_[i]) < std::abs(b.terms_[j]));
    return is_of_a ? a.terms_[i++] : b.terms_[j++];
  };
  double sum = next();
  TwoTerms partial = fast_two_sum(next(), sum);
  append(out.terms_, partial.low);
  while (i < a.size() || j < b.size()) {
    partial = two_sum(partial.high, next());
    append(out.terms_, partial.low);
  }
  append(out.terms_, partial.high);
  return out;
}

/// Scale by a double: SCALE-EXPANSION of Shewchuk 1997.
Expansion Expansion::times(double factor) const {
  Expansion out(*scratch_);
  if (terms_.empty() || factor == 0.0) return out;
  out.terms_.reserve(2 * terms_.size());
  TwoTerms sum = two_product(terms_[0], factor);
  append(out.terms_, sum.low);
  for (std::size_t i = 1; i < terms_.size(); ++i) {
    const TwoTerms product = two_product(terms_[i], factor);
    sum = two_sum(sum.high, product.low);
    append(out.terms_, sum.low);
    sum = fast_two_sum(product.high, sum.high);
    append(out.terms_, sum.low);
  }
  append(out.terms_, sum.high);
  return out;
}

Expansion operator*(const Expansion& a, const Expansion& b) {
  const Expansion& more = a.size() < b.size() ? b : a;
  const Expansion& fewer = a.size() < b.size() ? a : b;
  Expansion out(*a.scratch_);
  for (const double term : fewer.terms_) out = out + more.times(term);
  return out;
}

}  // namespace barrio::geometry::detail
