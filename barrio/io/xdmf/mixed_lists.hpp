#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barrio/io/xdmf/xdmf_file.hpp"

// Mixed lists of cells state the type of each cell before its nodes, so that only a walk finds where a cell begins.

namespace barrio::io::detail {

/// Numbers of a mixed list that belong to one share.
struct MixedCut {
  std::int64_t piece;
  std::int64_t first;
  std::int64_t n;
};

/// Return the length of the cell at the start of `words`, with its type; 0 if these end before it is known.
/// @throws Error{bad_input} naming `path` for an unknown type or a length that makes no sense
std::int64_t length_of_cell(std::span<const std::int64_t> words, const std::string& path);

/// Count the cells of the pieces whose number is unknown. Local. Cost: a walk through each list; memory is bounded
void count_mixed(std::vector<XdmfGrid>& pieces, const std::string& path);

/// Cut the mixed lists of all pieces. Local. @return by share
std::vector<std::vector<MixedCut>> cut_mixed(const std::vector<XdmfGrid>& pieces, int n_shares,
                                             const std::string& path);

}  // namespace barrio::io::detail
