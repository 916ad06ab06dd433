#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "barrio/base/error.hpp"
#include "barrio/io/vtk/vtk_polyhedra.hpp"

namespace barrio::io::detail {
namespace {

/// Return the nodes of one cell of a list; 0 if the type is not a list.
std::size_t nodes_of_one(int vtk_type) {
  switch (vtk_type) {
    case vtk_poly_vertex: return 1;
    case vtk_poly_line: return 2;
    case vtk_strip: return 3;
    default: return 0;
  }
}

/// Count the cells of a list; 1 for other types, and for a list that is too short and will be refused.
std::size_t n_cells_in(int vtk_type, std::size_t n_nodes) {
  const std::size_t n = nodes_of_one(vtk_type);
  return n == 0 || n_nodes < n ? 1 : n_nodes - n + 1;
}

/// Repeat each row once for each piece of its cell.
template <class T>
std::vector<T> repeated(const std::vector<T>& values, std::size_t n_components, const std::vector<std::size_t>& times) {
  std::vector<T> all;
  for (std::size_t c = 0; c < times.size(); ++c) {
    const auto row = std::span<const T>(values).subspan(c * n_components, n_components);
    for (std::size_t i = 0; i < times[c]; ++i) all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

}  // namespace

void split_lists(VtkGrid& grid, const std::string& path) {
  make_polyhedra_of_prisms(grid);
  std::vector<std::size_t> times;
  for (std::size_t c = 0; c < grid.types.size(); ++c)
    times.push_back(n_cells_in(grid.types[c], grid.offsets[c + 1] - grid.offsets[c]));
  if (std::ranges::all_of(times, [](std::size_t n) { return n == 1; })) return;
  // A long list with a long row of values would let a small file exhaust the memory.
  constexpr int max_components = 64;
  for (const VtkArray& array : grid.on_cells)
    if (array.n_components > max_components)
      throw Error(
          ErrorCode::bad_input,
          {.subject = path,
           .cause = fmt::format("array '{}' has {} values per cell, which each piece of a poly-line or strip would "
                                "get; at most {} are repeated",
                                array.name, array.n_components, max_components),
           .remedy = "cut the poly-lines and strips first, or leave the array out"});
  VtkGrid cells;
  for (std::size_t c = 0; c < times.size(); ++c) {
    const std::size_t first = grid.offsets[c];
    const auto nodes = std::span<const std::int64_t>(grid.nodes).subspan(first, grid.offsets[c + 1] - first);
    if (times[c] == 1) {
      cells.add_cell(grid.types[c], nodes);
      continue;
    }
    grid.n_poly_lines += grid.types[c] == vtk_poly_line ? 1 : 0;
    grid.n_strips += grid.types[c] == vtk_strip ? 1 : 0;
    const std::size_t n = nodes_of_one(grid.types[c]);
    for (std::size_t i = 0; i < times[c]; ++i) {
      std::array<std::int64_t, 3> one{};
      std::ranges::copy(nodes.subspan(i, n), one.begin());
      if (n == 3 && i % 2 == 1) std::swap(one[0], one[1]);  // every other triangle of a strip is reversed
      cells.add_cell(grid.types[c], std::span<const std::int64_t>(one).first(n));
    }
  }
  grid.types = std::move(cells.types);
  grid.offsets = std::move(cells.offsets);
  grid.nodes = std::move(cells.nodes);
  for (VtkArray& array : grid.on_cells)
    std::visit([&](auto& values) { values = repeated(values, array.n_components, times); }, array.values);
}

}  // namespace barrio::io::detail
