#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/io/vtk/vtk_grid.hpp"

// The native format of SU2: text in sections that begin with a keyword and "=". An element is VTK's number of its type
// and its nodes, a boundary ("marker") a name and elements of its own.

namespace barrio::io::detail {

/// Lines of one section that one rank reads.
struct Su2Segment {
  std::int64_t section;    ///< 0: points, 1: elements, 2 and more: those of markers
  std::int64_t n_skipped;  ///< lines after the offset, before the first one
  std::int64_t count;
  std::int64_t offset;  ///< byte in the file
};

/// Contents of a file without its arrays. O(markers + left out).
struct Su2Catalog {
  int n_dims = 0;
  std::int64_t n_points = 0;
  std::vector<std::string> markers = {};
  std::vector<std::string> left_out = {};  ///< keywords

  /// Return the names of the sets that markers become, by dimension and id.
  [[nodiscard]] std::map<std::pair<int, int>, std::string> set_names() const;
};

/// A scanned file, cut into even shares.
struct Su2Index {
  Su2Catalog catalog;
  std::vector<std::pair<Rank, Su2Segment>> segments;  ///< by share
};

/// Tell whether a file that begins with `head` is one of SU2.
bool is_su2(std::string_view head);

/// Scan a file once. Local; memory grows by 8 bytes per 1024 lines.
/// @throws Error{bad_input} for a file of several zones, or one that ends early; {failed}
Su2Index index_su2(const std::string& path, int n_shares);

/// Read a share. Local. @throws Error{bad_input} with the byte where parsing fails
VtkGrid read_su2_share(const std::string& path, const Su2Catalog& catalog, const std::vector<Su2Segment>& segments);

}  // namespace barrio::io::detail
