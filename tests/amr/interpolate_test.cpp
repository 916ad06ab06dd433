// Interpolation from a coarser level, cell by cell, on states that are far apart.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "barrio/amr/advance/interpolate.hpp"
#include "barrio/amr/euler.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::amr {
namespace {

template <std::size_t D>
using Box = geometry::IndexBox<D>;

/// A coarser level of a few cells with a layer around them, and the finer cells on it.
template <std::size_t D>
class TwoLevels {
 public:
  static constexpr std::int64_t n = 4;
  static constexpr int n_variables = static_cast<int>(D) + 2;

  explicit TwoLevels(int ratio) : ratio_(ratio) {
    for (std::size_t k = 0; k < D; ++k) inner_.high[k] = n;
    coarse_.resize(inner_.grown(1).size() * n_variables);
    fine_.resize(inner_.refined(ratio).size() * n_variables);
  }
  [[nodiscard]] CellView<D> coarse() { return detail::view_of<D>(coarse_.data(), inner_.grown(1)); }
  [[nodiscard]] CellView<D> fine() { return detail::view_of<D>(fine_.data(), inner_.refined(ratio_)); }
  [[nodiscard]] const Box<D>& inner() const { return inner_; }
  void interpolate() { detail::interpolate<D>(euler_, coarse(), fine(), inner_.refined(ratio_), ratio_, n_variables); }
  [[nodiscard]] const Euler<D>& euler() const { return euler_; }
  [[nodiscard]] int ratio() const { return ratio_; }

 private:
  Euler<D> euler_;
  int ratio_;
  Box<D> inner_;
  std::vector<double> coarse_;
  std::vector<double> fine_;
};

template <std::size_t D>
void fill_at_random(TwoLevels<D>& levels, std::mt19937_64& random) {
  std::uniform_real_distribution<double> draw(-1.0, 1.0);
  const CellView<D> coarse = levels.coarse();
  std::vector<double> u(D + 2);
  for (std::int64_t i = 0; i < coarse.cells.size(); ++i) {
    std::vector<double> w{std::pow(100.0, draw(random))};
    for (std::size_t k = 0; k < D; ++k) w.push_back(30.0 * draw(random));
    w.push_back(std::pow(1000.0, draw(random)));
    levels.euler().conserve(w, u);
    for (int v = 0; v < std::ssize(u); ++v) coarse(v, coarse.cells.at(i)) = u[v];
  }
}

template <std::size_t D>
void expect_no_new_extrema(std::mt19937_64& random, int ratio) {
  TwoLevels<D> levels(ratio);
  fill_at_random(levels, random);
  levels.interpolate();
  const CellView<D> coarse = levels.coarse();
  const CellView<D> fine = levels.fine();
  std::vector<double> u(D + 2);
  for (std::int64_t i = 0; i < levels.inner().size(); ++i) {
    const auto at = levels.inner().at(i);
    Box<D> here{at, at};
    for (std::size_t k = 0; k < D; ++k) here.high[k] += 1;
    const Box<D> around = here.grown(1);
    const Box<D> children = here.refined(ratio);
    for (int v = 0; v < std::ssize(u); ++v) {
      double low = coarse(v, at);
      double high = low;
      for (std::int64_t c = 0; c < around.size(); ++c) {
        low = std::min(low, coarse(v, around.at(c)));
        high = std::max(high, coarse(v, around.at(c)));
      }
      double mean = 0.0;
      const double rounding = 1e-14 * (high - low + std::abs(coarse(v, at)));
      for (std::int64_t c = 0; c < children.size(); ++c) {
        const double value = fine(v, children.at(c));
        EXPECT_GE(value, low - rounding);
        EXPECT_LE(value, high + rounding);
        mean += value / static_cast<double>(children.size());
      }
      EXPECT_NEAR(mean, coarse(v, at), 10 * rounding);
    }
    for (std::int64_t c = 0; c < children.size(); ++c) {
      for (int v = 0; v < std::ssize(u); ++v) u[v] = fine(v, children.at(c));
      EXPECT_EQ(levels.euler().fault_of(u), "");
    }
  }
}

TEST(Interpolation, MakesNoNewExtremaAndNoUnphysicalState) {
  std::mt19937_64 random(barrio::test::seed());
  for (int trial = 0; trial < 50; ++trial) {
    for (const int ratio : {2, 4}) {
      expect_no_new_extrema<2>(random, ratio);
      expect_no_new_extrema<3>(random, ratio);
    }
  }
}

/// A linear state stays linear, up to a corner where density and energy are almost 0.
template <std::size_t D>
void expect_linear(std::mt19937_64& random, int ratio) {
  TwoLevels<D> levels(ratio);
  std::uniform_real_distribution<double> draw(-1.0, 1.0);
  std::array<std::array<double, D>, D + 2> slope{};
  for (auto& of : slope)
    for (double& one : of) one = draw(random);
  const auto value = [&](std::size_t v, const std::array<double, D>& x) {
    double sum = 0.0;
    double reach = 0.0;
    for (std::size_t k = 0; k < D; ++k) {
      sum += slope[v][k] * x[k];
      reach += std::abs(slope[v][k]) * (0.5 * TwoLevels<D>::n + 1.0);
    }
    return v == 0 || v == D + 1 ? sum + 1.0001 * reach : 1e-3 * sum;
  };
  const auto centre = [&](const auto& at, int of) {
    std::array<double, D> x{};
    for (std::size_t k = 0; k < D; ++k) x[k] = (static_cast<double>(at[k]) + 0.5) / of - 0.5 * TwoLevels<D>::n;
    return x;
  };
  const CellView<D> coarse = levels.coarse();
  for (std::int64_t i = 0; i < coarse.cells.size(); ++i)
    for (std::size_t v = 0; v < D + 2; ++v)
      coarse(static_cast<int>(v), coarse.cells.at(i)) = value(v, centre(coarse.cells.at(i), 1));
  levels.interpolate();
  const CellView<D> fine = levels.fine();
  for (std::int64_t i = 0; i < fine.cells.size(); ++i)
    for (std::size_t v = 0; v < D + 2; ++v)
      EXPECT_NEAR(fine(static_cast<int>(v), fine.cells.at(i)), value(v, centre(fine.cells.at(i), ratio)), 1e-13);
}

TEST(Interpolation, KeepsLinearStates) {
  std::mt19937_64 random(barrio::test::seed());
  for (int trial = 0; trial < 50; ++trial) {
    for (const int ratio : {2, 4}) {
      expect_linear<2>(random, ratio);
      expect_linear<3>(random, ratio);
    }
  }
}

}  // namespace
}  // namespace barrio::amr
