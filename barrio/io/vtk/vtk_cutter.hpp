#pragma once

#include <span>
#include <vector>

#include "barrio/io/vtk/vtk_file.hpp"

namespace barrio::io::detail {

/// Cutter of the sections of a legacy file into even shares. It takes one section after the other, and leaves the
/// scanner after each. Local; memory does not grow with the mesh. Every function throws Error{bad_input} if the section
/// ends early.
class VtkCutter {
 public:
  /// Make a cutter that borrows both.
  VtkCutter(Scanner& in, VtkIndex& index, int n_shares);

  /// Cut rows. @param runs  of rows, each cut evenly by itself
  void cut(const VtkIndex::Section& section, std::span<const std::int64_t> runs);
  void give_to_all(const VtkIndex::Section& section, std::int64_t n);
  void pass_over(VtkNumber number, std::int64_t n);
  /// Cut a list of cells in which the number of nodes of each cell precedes its nodes.
  void cut_mixed_cells(std::int64_t n_cells, std::int64_t n_numbers, int cell_type);
  /// Cut offsets of cells, each share with the one that ends it.
  /// @return where the nodes of each share begin, for those that have cells; and the end
  std::vector<std::int64_t> cut_offsets(std::int64_t n_cells, VtkNumber number, std::int64_t n_nodes, int cell_type);
  void cut_nodes(std::int64_t n_cells, VtkNumber number, const std::vector<std::int64_t>& first_nodes);

 private:
  [[nodiscard]] std::int64_t n_sections() const { return std::ssize(index_.sections); }

  Scanner& in_;
  VtkIndex& index_;
  int n_shares_;
};

}  // namespace barrio::io::detail
