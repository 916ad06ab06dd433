#pragma once

#include <string>
#include <vector>

#include "barrio/base/slabs.hpp"
#include "barrio/io/cgns/cgns_file.hpp"
#include "barrio/io/common/node_orders.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::io::detail {

/// Scan a section of mixed types for its types and for places from which it can be read. Local. Cost: reads the whole
/// section once, in chunks of a few MB
/// @throws Error{bad_input} naming the section and the element whose type is not supported
CgnsMixed scan_cgns_mixed(hid_t file, const std::string& path, const CgnsZone& zone, const std::string& name,
                          std::int64_t first, std::int64_t n);

/// Elements of a section of mixed types, from one mark to another.
class MixedShare {
 public:
  struct Element {
    std::int32_t kind;  ///< place among the kinds of the section
    std::int64_t row;   ///< among the elements of its kind
  };
  /// Read a rank's share. Collective if the file is open on all ranks.
  /// @param fault  gets the first vertex that does not exist
  MixedShare(files::Place file, const std::string& path, const CgnsZone& zone, const CgnsMixed& mixed, Rank rank,
             int n_ranks, Status& fault);

  /// Return the nodes of the elements of a kind, as rows of the vertex table.
  [[nodiscard]] const std::vector<GlobalId>& nodes(int kind) const& noexcept { return nodes_[kind]; }
  /// Send the nodes of the elements of a kind to the homes of their rows, and forget them. Collective.
  /// @param first  row of the kind's first element in its block
  [[nodiscard]] std::vector<GlobalId> nodes_at_home(mpi::Context& context, int kind, std::int64_t first,
                                                    const Slabs& rows);
  /// Return the rows of the share's cells among all cells of the section.
  [[nodiscard]] files::Rows cells(int cell_dim) const;
  /// Send values of the share's cells to the homes of the rows of a kind. Collective.
  [[nodiscard]] std::vector<double> values_at_home(mpi::Context& context, int cell_dim, std::span<const double> values,
                                                   int kind, std::int64_t first, const Slabs& rows) const;
  /// Find elements by their numbers in the zone; numbers of other sections are left out. Collective.
  [[nodiscard]] std::vector<Element> find(mpi::Context& context, std::span<const std::int64_t> numbers) const;
  /// Find this share's elements with numbers from low to high.
  [[nodiscard]] std::vector<Element> find(std::int64_t low, std::int64_t high) const;

 private:
  [[nodiscard]] bool is_cell(std::int32_t kind, int cell_dim) const;
  [[nodiscard]] std::int64_t count_before(int kind) const { return mixed_.counts[(first_mark_ * n_kinds_) + kind]; }

  const CgnsMixed& mixed_;
  Slabs marks_;
  std::int64_t first_mark_;
  std::int64_t n_kinds_;
  std::int64_t first_ = 0;                    // place of the first element in the section
  std::vector<Element> elements_;             // of this share
  std::vector<std::vector<GlobalId>> nodes_;  // by kind
};

}  // namespace barrio::io::detail
