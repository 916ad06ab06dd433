#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "barrio/base/slabs.hpp"
#include "barrio/io/common/node_orders.hpp"
#include "barrio/io/gmsh/gmsh_file.hpp"
#include "barrio/io/text/scanner.hpp"

// Code shared by the indexers and readers of both Gmsh formats.

namespace barrio::io::detail {

inline constexpr const char* gmsh_remedy = "check that the file is a complete Gmsh mesh";

/// Return the dimension of the elements of a supported type.
inline int gmsh_dimension(int type) {
  const CellKind* const kind = gmsh_kind(type);
  return kind == nullptr ? 0 : value(mesh::topology(kind->type).dim);
}

/// Cutter of rows into one share per rank, block after block.
class GmshCutter {
 public:
  GmshCutter(std::int64_t n_rows, int n_ranks, std::vector<std::pair<Rank, GmshSegment>>& out)
      : slabs_{n_rows, n_ranks}, out_(out) {}

  /// Cut a block into pieces and call `visit(piece)` for each; the caller fills in the offsets.
  template <class Visit>
  void cut(std::int64_t block, std::int64_t n, Visit&& visit) {
    std::int64_t row = 0;
    while (row < n) {
      const Rank rank = slabs_.rank_of(passed_ + row);
      const std::int64_t count = std::min(n, slabs_.first(rank + 1) - passed_) - row;
      out_.push_back({rank, GmshSegment{block, row, count, 0, 0}});
      visit(out_.back().second);
      row += count;
    }
    passed_ += n;
  }

 private:
  Slabs slabs_;
  std::vector<std::pair<Rank, GmshSegment>>& out_;
  std::int64_t passed_ = 0;
};

/// Check the number of a node. @return it. @throws Error{bad_input} if no mesh can have it
inline std::int64_t checked_node_number(const Scanner& in, std::int64_t number) {
  if (number < 0 || number > (std::int64_t{1} << 48))
    in.refuse(fmt::format("has a node with number {}, which makes no sense", number));
  return number;
}

/// Refuse a type of elements that is not supported.
[[noreturn]] void refuse_gmsh_type(const Scanner& in, int type);

/// Cut the nodes of a 2.2 file; the scanner is just after the heading of their section.
void index_old_gmsh_nodes(Scanner& in, GmshIndex& index, int n_ranks);
void index_old_gmsh_elements(Scanner& in, GmshIndex& index, int n_ranks);
void read_old_gmsh_nodes(Scanner& in, const GmshIndex& index, const GmshShares& shares,
                         const std::function<void(std::int64_t, const std::array<double, 3>&)>& visit);

}  // namespace barrio::io::detail
