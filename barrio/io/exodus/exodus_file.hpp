#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "barrio/files/netcdf.hpp"
#include "barrio/mesh/cell_type.hpp"

namespace barrio::io::detail {

/// Elements of one type stored together in an Exodus file.
struct ExodusBlock {
  int number = 0;  ///< in the file, from 1: part of the names of its variables
  std::int32_t id = 0;
  std::string name = {};
  mesh::CellType type = mesh::CellType::hex;
  int n_nodes = 0;        ///< per element
  bool is_shell = false;  ///< its sides are its two faces, then its edges
  std::int64_t n = 0;
  std::int64_t first = 0;                    ///< number of its first element among all, 0-based
  std::int64_t row = 0;                      ///< of its first element among those of its type and number of nodes
  std::vector<std::string> attributes = {};  ///< numbers of each element, such as the thickness of a shell
};

/// A node set or side set.
struct ExodusSet {
  int number = 0;  ///< as in ExodusBlock
  std::int32_t id = 0;
  std::string name = {};
  std::int64_t n = 0;
};

/// An integer property of all blocks, node sets or side sets.
struct ExodusProperty {
  std::string name = {};
  std::vector<std::int32_t> values;  ///< one for each block (also empty ones), node set or side set
};

/// Contents of an Exodus II file without its arrays. O(blocks + sets + variables).
struct ExodusCatalog {
  std::int64_t n_vertices = 0;
  int n_dims = 3;
  std::int64_t n_elements = 0;
  std::vector<ExodusBlock> blocks;  ///< those with elements
  std::vector<ExodusSet> node_sets;
  std::vector<ExodusSet> side_sets;
  std::vector<ExodusProperty> block_properties;  ///< in the order of `blocks`; the next two likewise
  std::vector<ExodusProperty> node_set_properties;
  std::vector<ExodusProperty> side_set_properties;
  std::int64_t n_steps = 0;
  std::vector<std::string> node_variables;  ///< all three are empty without a time step
  std::vector<std::string> element_variables;
  std::vector<std::string> global_variables;
  std::vector<std::string> left_out;  ///< contents that have no place in a mesh

  /// Tell whether all cells are bars: then a side of a bar is one of its ends, elsewhere it is the bar.
  [[nodiscard]] bool has_bars_alone() const {
    return std::ranges::all_of(blocks, [](const ExodusBlock& block) { return block.type == mesh::CellType::edge; });
  }
};

/// Tell whether a netCDF file is an Exodus II file, by its variables.
bool is_exodus(const files::NetcdfFile& file);

/// Read the list of blocks, sets and variables. Local.
/// @throws Error{bad_input} naming the block or set that is damaged or not supported
ExodusCatalog read_exodus_catalog(const files::NetcdfFile& file, const std::string& path);

/// Broadcast the catalog of rank 0. Collective.
void share(mpi::Context& context, ExodusCatalog& catalog);

/// Read rows of all coordinates, shape (rows, 3). Collective as NetcdfFile::reals.
std::vector<double> read_exodus_coordinates(const files::NetcdfFile& file, const ExodusCatalog& catalog,
                                            files::Rows rows);

/// Read the nodes of elements of a block, 0-based and in barrio's order. Collective as NetcdfFile::integers.
/// @param fault  gets the first vertex that does not exist; reading continues, since other ranks are in the same read
std::vector<GlobalId> read_exodus_nodes(const files::NetcdfFile& file, const std::string& path,
                                        const ExodusCatalog& catalog, const ExodusBlock& block, files::Rows rows,
                                        Status& fault);

/// Return the name of a variable of a block or set: "connect3".
std::string numbered(std::string_view name, int number);

/// Name a block or set for messages: "element block 3 'steel'", "side set 20".
std::string name_of(const ExodusBlock& block);
std::string name_of(std::string_view what, const ExodusSet& set);

}  // namespace barrio::io::detail
