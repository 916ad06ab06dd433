#pragma once

#include <array>
#include <cstdint>

namespace lattice {

using Point = std::array<double, 2>;

enum class Shape { square, hexagon };  // both with sides of length 1

inline constexpr int max_kinds = 20;

/// The section of one kind of assembly as quads: a grid of pins, each a circle in a cell of coolant. Everything is in
/// closed form. A square is one block of n x n quads, a hexagon three rhombic blocks around its centre.
class Section {
 public:
  enum Material { fuel, absorber, coolant };

  /// Make a section. @param kind  0 .. max_kinds - 1: decides which pins absorb, and the width of all pins
  /// @param n_pins  along a side  @param cells_per_pin  along a side; even, >= 4
  Section(Shape shape, int kind, int n_pins, int cells_per_pin);

  [[nodiscard]] std::int64_t n_quads() const noexcept { return n_blocks_ * n_ * n_; }
  [[nodiscard]] std::int64_t n_vertices() const noexcept {
    return is_hexagon() ? 1 + 3 * n_ * (n_ + 1) : (n_ + 1) * (n_ + 1);
  }
  [[nodiscard]] double area() const noexcept;

  /// Return the position of a vertex; the origin is the centre of a hexagon, or a corner of a square.
  [[nodiscard]] Point position(std::int64_t vertex) const;
  /// Return the vertices of a quad, anticlockwise.
  [[nodiscard]] std::array<std::int64_t, 4> quad(std::int64_t quad) const;
  [[nodiscard]] Material material(std::int64_t quad) const;

 private:
  /// A vertex or quad of a block, counted along the block's two axes.
  struct Place {
    std::int64_t block;
    std::int64_t i;
    std::int64_t j;
  };
  [[nodiscard]] bool is_hexagon() const noexcept { return n_blocks_ == 3; }
  [[nodiscard]] std::int64_t vertex(Place at) const noexcept;
  [[nodiscard]] Place place_of_vertex(std::int64_t vertex) const noexcept;
  [[nodiscard]] Place place_of_quad(std::int64_t quad) const noexcept;
  /// Return the directions of i and j in a block.
  [[nodiscard]] std::array<Point, 2> axes(std::int64_t block) const noexcept;
  [[nodiscard]] bool absorbs(std::int64_t pin_i, std::int64_t pin_j) const noexcept;

  int kind_;
  std::int64_t n_blocks_;
  std::int64_t n_pins_;
  std::int64_t cells_per_pin_;
  std::int64_t n_;  ///< quads along a side
  int n_pin_cells_;
  double pin_ring_;  ///< `ring` at the rim of the pins
};

}  // namespace lattice
