#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "barrio/mesh/tables.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::io::detail {

/// A run of rows of one block, read by one rank.
struct GmshSegment {
  std::int64_t block;
  std::int64_t first;  ///< row in the block
  std::int64_t count;
  std::int64_t offset;         ///< byte in the file: of the first tag (nodes), or of the first element
  std::int64_t second_offset;  ///< of the first coordinates (nodes), or of the heading that applies (elements of 2.2)
};

/// The segments that one rank reads.
struct GmshShares {
  std::vector<GmshSegment> nodes;
  std::vector<GmshSegment> elements;
};

/// Index of a Gmsh file of format 4.1, 2.2 or 1.0. Its size grows with the number of blocks (geometric entities) and,
/// on rank 0 while it is made, with the number of ranks; not with the mesh.
struct GmshIndex {
  struct Block {
    int entity_dim = 0;
    int entity_tag = 0;
    int type = 0;  ///< Gmsh element type; for nodes: 1 if coordinates are followed by parameters
    std::int64_t n = 0;
  };
  bool is_binary = false;
  bool is_old = false;            ///< 2.2, 1.0: each element states its type and groups; all are in one block of type 0
  bool is_first = false;          ///< 1.0: elements state their number of nodes, and always have two groups
  bool has_parameters = false;    ///< 2.2: nodes have their geometric entity and their parameters on it
  std::int64_t max_node_tag = 0;  ///< if the file states it
  std::vector<Block> nodes;
  std::vector<Block> elements;
  std::map<std::pair<int, int>, std::vector<int>> groups;   ///< (dim, entity) -> physical groups
  std::map<std::pair<int, int>, std::string> group_names;   ///< (dim, group) -> name
  int n_parts = 0;                                          ///< that the file states; 0: no partition
  std::map<std::pair<int, int>, int> parts;                 ///< (dim, entity) -> part, from 0
  std::set<std::pair<int, int>> interfaces;                 ///< on rank 0: entities that a partition has made
  std::vector<std::string> left_out;                        ///< on rank 0: sections that are not read
  std::vector<std::pair<Rank, GmshSegment>> node_segments;  ///< on rank 0, by rank
  std::vector<std::pair<Rank, GmshSegment>> element_segments;

  [[nodiscard]] std::vector<int> groups_of(int dim, int entity) const;
  [[nodiscard]] std::string group_name(int dim, int group) const;
  /// Return the part of an entity's elements; -1: none.
  [[nodiscard]] int part_of(int dim, int entity) const;
  /// Return the number of parts if some element of a dimension is in one, else 0.
  [[nodiscard]] int n_parts_of(int dim) const;
  /// Broadcast the blocks, groups and parts. Collective.
  void share(mpi::Context& context);
  /// Distribute the segments, to each rank its own. Collective.
  [[nodiscard]] GmshShares shares_of(mpi::Context& context) const;
};

/// Scan a file once and cut its rows into even shares. Local; memory does not grow with the mesh.
/// @throws Error{bad_input} for versions other than 4.1, 2.2 and 1.0, foreign byte order, or a file that ends early;
/// {failed}
GmshIndex index_gmsh(const std::string& path, int n_ranks);

/// Read the nodes of this rank's share. Local. @throws Error{bad_input} with the byte where parsing fails
void read_gmsh_nodes(const std::string& path, const GmshIndex& index, const GmshShares& shares,
                     const std::function<void(std::int64_t tag, const std::array<double, 3>& x)>& visit);
/// Read the elements of this rank's share of a 4.1 file. Local. @param visit gets block, row in the block, node tags
void read_gmsh_elements(
    const std::string& path, const GmshIndex& index, const GmshShares& shares,
    const std::function<void(std::size_t block, std::int64_t row, std::span<const std::int64_t> nodes)>& visit);

/// An element of a 2.2 or 1.0 file.
struct OldGmshElement {
  int type = 0;
  int group = 0;   ///< physical group; 0: none
  int entity = 0;  ///< geometric entity; 0: not stated
  int part = -1;   ///< -1: none
  std::span<const std::int64_t> nodes;
};
/// Read the elements of this rank's share of such a file. Local.
/// @return number of elements with more numbers on their lines than they take, which are ignored
std::int64_t read_old_gmsh_elements(const std::string& path, const GmshIndex& index, const GmshShares& shares,
                                    const std::function<void(const OldGmshElement&)>& visit);
/// Describe such elements.
std::string surplus_on_lines(std::int64_t n_elements);

/// Make the tables of such a file, given its index and shares. Collective. @throws AgreedError as read_gmsh
mesh::MeshTables read_old_gmsh(mpi::Context& context, const std::string& path, const GmshIndex& index,
                               const GmshShares& shares);

/// Return the number of nodes of a Gmsh element type; 0 for an unknown type.
int gmsh_nodes_per_element(int type) noexcept;

}  // namespace barrio::io::detail
