#include <fmt/format.h>

#include <algorithm>

#include "barrio/io/xdmf/xdmf_file.hpp"

namespace barrio::io::detail {
namespace {

/// Tell whether two grids have the same points and cells.
bool are_one(const XdmfGrid& a, const XdmfGrid& b) {
  return a.vtk_type == b.vtk_type && a.dimensions == b.dimensions && a.nodes == b.nodes &&
         a.coordinates == b.coordinates && a.n_cells == b.n_cells;
}

bool are_alike(const XdmfArray& a, const XdmfArray& b) {
  return a.name == b.name && a.n_components == b.n_components &&
         is_integer(a.values.number) == is_integer(b.values.number);
}

/// Keep the arrays that all pieces have, in one order.
void keep_common(std::vector<XdmfGrid>& pieces, std::vector<XdmfArray> XdmfGrid::* arrays, VtkLeftOut& left_out) {
  std::vector<XdmfArray> wanted = pieces[0].*arrays;
  const auto find_in = [&](std::vector<XdmfArray>& all, const XdmfArray& one) {
    return std::ranges::find_if(all, [&](const XdmfArray& other) { return are_alike(one, other); });
  };
  for (XdmfGrid& piece : pieces)
    std::erase_if(wanted, [&](const XdmfArray& one) {
      const bool lacks = find_in(piece.*arrays, one) == (piece.*arrays).end();
      if (lacks) leave_out(left_out, fmt::format("attribute '{}', which not all pieces have", one.name));
      return lacks;
    });
  for (XdmfGrid& piece : pieces) {
    std::vector<XdmfArray> kept;
    for (const XdmfArray& one : wanted) kept.push_back(*find_in(piece.*arrays, one));
    for (const XdmfArray& one : piece.*arrays)
      if (find_in(wanted, one) == wanted.end())
        leave_out(left_out, fmt::format("attribute '{}', which not all pieces have", one.name));
    piece.*arrays = std::move(kept);
  }
}

void append(std::vector<XdmfArray>& to, const std::vector<XdmfArray>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

void leave_out(VtkLeftOut& left_out, const std::string& what) {
  std::vector<std::string>& others = left_out.others;
  if (std::ranges::find(others, what) == others.end()) others.push_back(what);
}

XdmfIndex combine_grids(const std::vector<XdmfSeries>& all, VtkLeftOut left_out) {
  XdmfIndex index{.left_out = std::move(left_out)};
  std::size_t n_steps = 1;
  for (const XdmfSeries& one : all) {
    index.has_steps = index.has_steps || one.has_steps;
    n_steps = std::max(n_steps, one.steps.size());
    if (one.times.size() == one.steps.size()) index.times = one.times;
  }
  if (index.times.size() != n_steps) index.times.clear();
  for (std::size_t step = 0; step < n_steps; ++step) {
    std::vector<XdmfGrid> pieces = all[0].at(step);
    for (std::size_t i = 1; i < all.size(); ++i) {
      const std::vector<XdmfGrid>& others = all[i].at(step);
      if (!std::ranges::equal(pieces, others, are_one)) {
        leave_out(index.left_out,
                  fmt::format("grid '{}', whose cells are not listed by the arrays of the first one", all[i].name));
        continue;
      }
      for (std::size_t p = 0; p < pieces.size(); ++p) {
        append(pieces[p].on_points, others[p].on_points);
        append(pieces[p].on_cells, others[p].on_cells);
      }
    }
    keep_common(pieces, &XdmfGrid::on_points, index.left_out);
    keep_common(pieces, &XdmfGrid::on_cells, index.left_out);
    index.steps.push_back(std::move(pieces));
  }
  return index;
}

}  // namespace barrio::io::detail
