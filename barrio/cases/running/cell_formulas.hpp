#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "barrio/amr/output_quantity.hpp"
#include "barrio/amr/simulation.hpp"
#include "barrio/base/error.hpp"
#include "barrio/cases/reading/case.hpp"

// Formulas of a case, applied to cells.

namespace barrio::cases {

/// Quantities of a cell as consecutive numbers, in the order that formulas take them.
class CellNumbers {
 public:
  explicit CellNumbers(std::vector<amr::OutputQuantity> quantities) : quantities_(std::move(quantities)) {
    for (const amr::OutputQuantity& one : quantities_) n_ += one.width;
  }
  [[nodiscard]] std::size_t n() const noexcept { return n_; }
  void compute(std::span<const double> u, std::span<double> out) const {
    std::size_t place = 0;
    for (const amr::OutputQuantity& one : quantities_) {
      const std::size_t width = one.width;
      one.compute(u, out.subspan(place, width));
      place += width;
    }
  }

 private:
  std::vector<amr::OutputQuantity> quantities_;
  std::size_t n_ = 0;
};

constexpr std::size_t n_place_numbers = 4;  // x, y, z, t

template <std::size_t D>
void put_place(const std::array<double, D>& x, double time, std::span<double> out) {
  std::ranges::fill(out.first(n_place_numbers), 0.0);
  std::ranges::copy(x, out.begin());
  out[n_place_numbers - 1] = time;
}

/// Tags cells by the criteria of [refine].
template <std::size_t D>
class Tagger {
 public:
  Tagger(const AmrCase& wanted, const CellNumbers& numbers) : wanted_(&wanted), numbers_(&numbers) {}
  void operator()(const amr::CellsToTag<D>& block) {
    tag_where(block);
    for (const auto& [quantity, max] : wanted_->jumps)
      tag_jumps(block, quantity, [max = max](double a, double b) { return std::abs(a - b) > max; });
    for (const auto& [quantity, max] : wanted_->relative_jumps)
      tag_jumps(block, quantity,
                [max = max](double a, double b) { return std::abs(a - b) > max * std::min(std::abs(a), std::abs(b)); });
  }

 private:
  using Index = typename geometry::IndexBox<D>::Index;
  void read(const amr::CellsToTag<D>& block, const Index& at) {
    u_.resize(D + 2 + wanted_->n_species);
    for (int v = 0; v < std::ssize(u_); ++v) u_[v] = block.u(v, at);
    values_.resize(n_place_numbers + numbers_->n() + 1);
    numbers_->compute(u_, std::span(values_).subspan(n_place_numbers));
  }
  void tag_where(const amr::CellsToTag<D>& block) {
    if (!wanted_->where) return;
    for (std::int64_t n = 0; n < block.cells.size(); ++n) {
      const Index at = block.cells.at(n);
      read(block, at);
      put_place(block.space.centre(block.level, at), block.time, values_);
      values_.back() = block.level;
      const double wanted = (*wanted_->where)(values_);
      if (std::isnan(wanted))
        refuse(ErrorCode::bad_input, fmt::format("refine.where: cell {} of level {}", fmt::join(at, ", "), block.level),
               "is not a number there", "write a formula that has a value everywhere");
      if (wanted != 0.0) block.tags[n] = 1;
    }
  }
  template <class IsLarge>
  void tag_jumps(const amr::CellsToTag<D>& block, int quantity, IsLarge is_large) {
    const geometry::IndexBox<D> around = block.cells.grown(1);
    around_.resize(around.size());
    for (std::int64_t n = 0; n < around.size(); ++n) {
      const Index at = around.at(n);
      int n_outside = 0;
      for (std::size_t k = 0; k < D; ++k) n_outside += at[k] < block.cells.low[k] || at[k] >= block.cells.high[k];
      if (n_outside > 1) continue;  // beyond edges and corners: no cell of the block is beside them
      read(block, at);
      around_[n] = values_[n_place_numbers + quantity];
    }
    for (std::int64_t n = 0; n < block.cells.size(); ++n) {
      const Index at = block.cells.at(n);
      const std::int64_t here = around.place(at);
      std::int64_t stride = 1;
      for (std::size_t k = 0; k < D; stride *= around.extent(k), ++k)
        if (is_large(around_[here], around_[here - stride]) || is_large(around_[here], around_[here + stride]))
          block.tags[n] = 1;
    }
  }
  const AmrCase* wanted_;
  const CellNumbers* numbers_;
  std::vector<double> u_;
  std::vector<double> values_;
  std::vector<double> around_;
};

/// Source terms of cells by [source].
template <std::size_t D>
class Source {
 public:
  Source(const AmrCase& wanted, const CellNumbers& numbers) : wanted_(&wanted), numbers_(&numbers) {}
  void operator()(const amr::CellsToChange<D>& block) {
    const SourceCase& source = wanted_->source;
    u_.resize(D + 2 + wanted_->n_species);
    values_.resize(n_place_numbers + numbers_->n());
    for (std::int64_t n = 0; n < block.cells.size(); ++n) {
      const auto at = block.cells.at(n);
      for (int v = 0; v < std::ssize(u_); ++v) u_[v] = block.u(v, at);
      put_place(block.space.centre(block.level, at), block.time, values_);
      numbers_->compute(u_, std::span(values_).subspan(n_place_numbers));
      double& energy = block.change(D + 1, at);
      for (std::size_t k = 0; k < source.acceleration.size(); ++k) {
        const double acceleration = source.acceleration[k](values_);
        block.change(static_cast<int>(1 + k), at) += u_[0] * acceleration;
        energy += u_[1 + k] * acceleration;
      }
      if (source.heating) energy += (*source.heating)(values_);
      for (const auto& [species, rate] : source.species)
        block.change(static_cast<int>(D + 1) + species, at) += rate(values_);
    }
  }

 private:
  const AmrCase* wanted_;
  const CellNumbers* numbers_;
  std::vector<double> u_;
  std::vector<double> values_;
};

}  // namespace barrio::cases
