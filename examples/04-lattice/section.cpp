#include "section.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lattice {

Section::Section(Shape shape, int kind, int n_pins, int cells_per_pin)
    : kind_(kind),
      n_blocks_(shape == Shape::hexagon ? 3 : 1),
      n_pins_(n_pins),
      cells_per_pin_(cells_per_pin),
      n_(std::int64_t{n_pins} * cells_per_pin),
      n_pin_cells_(cells_per_pin / 3),
      pin_ring_(2.0 * n_pin_cells_ / cells_per_pin) {}

double Section::area() const noexcept { return is_hexagon() ? 1.5 * std::numbers::sqrt3 : 1.0; }

// The centre of a hexagon comes first, then the rows i = 1 .. n of each block. Row 0 belongs to the next block.
std::int64_t Section::vertex(Place at) const noexcept {
  if (!is_hexagon()) return at.i * (n_ + 1) + at.j;
  if (at.i == 0 && at.j == 0) return 0;
  if (at.i == 0) at = {(at.block + 1) % 3, at.j, 0};
  return 1 + (at.block * n_ + at.i - 1) * (n_ + 1) + at.j;
}

Section::Place Section::place_of_vertex(std::int64_t vertex) const noexcept {
  if (!is_hexagon()) return {0, vertex / (n_ + 1), vertex % (n_ + 1)};
  if (vertex == 0) return {0, 0, 0};
  const std::int64_t row = (vertex - 1) / (n_ + 1);
  return {row / n_, row % n_ + 1, (vertex - 1) % (n_ + 1)};
}

Section::Place Section::place_of_quad(std::int64_t quad) const noexcept {
  return {quad / (n_ * n_), quad / n_ % n_, quad % n_};
}

std::array<Point, 2> Section::axes(std::int64_t block) const noexcept {
  if (!is_hexagon()) return {{{1.0, 0.0}, {0.0, 1.0}}};
  constexpr double h = std::numbers::sqrt3 / 2.0;
  constexpr std::array<Point, 3> towards{{{0.0, 1.0}, {-h, -0.5}, {h, -0.5}}};
  const auto b = static_cast<std::size_t>(block);
  return {towards[b], towards[(b + 1) % 3]};
}

Point Section::position(std::int64_t vertex) const {
  const Place at = place_of_vertex(vertex);
  const auto [x, y] = axes(at.block);
  const std::int64_t pin_i = std::min(at.i / cells_per_pin_, n_pins_ - 1);
  const std::int64_t pin_j = std::min(at.j / cells_per_pin_, n_pins_ - 1);
  const auto in_pin = [&](std::int64_t place, std::int64_t pin) {
    return 2.0 * static_cast<double>(place - pin * cells_per_pin_) / static_cast<double>(cells_per_pin_) - 1.0;
  };
  const double u = in_pin(at.i, pin_i);
  const double v = in_pin(at.j, pin_j);
  const auto n_pins = static_cast<double>(n_pins_);
  const auto along = [&](double a, double b) { return Point{a * x[0] + b * y[0], a * x[1] + b * y[1]}; };
  const Point straight = along(u / (2.0 * n_pins), v / (2.0 * n_pins));
  Point middle = along((static_cast<double>(pin_i) + 0.5) / n_pins, (static_cast<double>(pin_j) + 0.5) / n_pins);
  const double ring = std::max(std::abs(u), std::abs(v));
  const double length = std::hypot(straight[0], straight[1]);
  // Squares around the centre become circles up to the rim of the pin, and squares again outside.
  const double room = (x[0] * y[1] - x[1] * y[0]) / (2.0 * n_pins);
  const int size = kind_ / 4;
  const double radius = (0.55 + 0.09 * size) * room;
  const double rest = std::max(0.0, (ring - pin_ring_) / (1.0 - pin_ring_));
  for (std::size_t k = 0; k < 2 && length > 0.0; ++k) {
    const double round = straight[k] / length * radius * std::min(1.0, ring / pin_ring_);
    middle[k] += rest >= 1.0 ? straight[k] : (1.0 - rest) * round + rest * straight[k] / ring;
  }
  return middle;
}

std::array<std::int64_t, 4> Section::quad(std::int64_t quad) const {
  const auto [block, i, j] = place_of_quad(quad);
  return {vertex({block, i, j}), vertex({block, i + 1, j}), vertex({block, i + 1, j + 1}), vertex({block, i, j + 1})};
}

bool Section::absorbs(std::int64_t pin_i, std::int64_t pin_j) const noexcept {
  const std::int64_t middle = is_hexagon() ? 0 : n_pins_ / 2;
  switch (kind_ % 4) {
    case 0: return false;
    case 1: return pin_i == middle && pin_j == middle;
    case 2: return pin_i == pin_j;
    default: return (pin_i + pin_j) % 2 == 1;
  }
}

Section::Material Section::material(std::int64_t quad) const {
  const auto [block, i, j] = place_of_quad(quad);
  const auto from_middle = [&](std::int64_t place) {
    return std::abs(2.0 * (static_cast<double>(place % cells_per_pin_) + 0.5) / static_cast<double>(cells_per_pin_) -
                    1.0);
  };
  if (std::max(from_middle(i), from_middle(j)) > pin_ring_) return coolant;
  return absorbs(i / cells_per_pin_, j / cells_per_pin_) ? absorber : fuel;
}

}  // namespace lattice
