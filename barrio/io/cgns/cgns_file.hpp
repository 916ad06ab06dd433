#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "barrio/files/hdf5.hpp"
#include "barrio/mesh/cell_type.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::io::detail {

/// Elements of one type stored together in a zone, or the cells of a structured zone.
struct CgnsSection {
  std::string path = {};  ///< of its node in the file
  std::string name = {};
  mesh::CellType type = mesh::CellType::hex;
  int n_nodes = 0;
  std::int64_t n = 0;
  std::int64_t first = 1;  ///< number of its first element in the zone
  std::int64_t row = 0;    ///< of its first element among those of its type and number of nodes
  int mixed = -1;  ///< place in CgnsZone::mixed of the section of mixed types whose elements of one type these are
  int kind = 0;    ///< place of this type among those of that section
};

/// Elements of several types stored together, one after the other.
struct CgnsMixed {
  std::string path = {};  ///< of the words: type of an element, its nodes, type of the next one
  std::string name = {};
  std::int64_t first = 1;                 ///< number of its first element in the zone
  std::int64_t n = 0;                     ///< number of elements
  std::int64_t step = 1;                  ///< number of elements from one mark to the next
  std::vector<int> kinds = {};            ///< CGNS's numbers of the types that occur, ascending
  std::vector<std::int64_t> words = {};   ///< place of the word at each mark, and the end
  std::vector<std::int64_t> counts = {};  ///< number of elements of each kind before each mark, and in all
};

/// A boundary condition on vertices, elements or a face of a structured zone.
struct CgnsBoundary {
  std::string path = {};  ///< of the list of numbers; empty for a range
  std::string name = {};  ///< of the family if there is one
  bool has_family = false;
  bool on_vertices = false;
  std::array<std::int64_t, 3> low{};   ///< of a range: numbers from 1, inclusive
  std::array<std::int64_t, 3> high{};  ///< a zone that is not structured has one index
  std::int64_t n = 0;                  ///< length of a list
  int normal = -1;                     ///< of a face of a structured zone: the index that does not vary
};

/// Values of a solution, on the vertices or the cells of a zone.
struct CgnsArray {
  std::string path = {};  ///< of the data
  std::string name = {};
  bool on_cells = false;
  bool is_integer = false;
  int step = 0;  ///< from 0, among the arrays of this name and place
};

/// Vertices of a zone on one side of an interface.
struct CgnsPoints {
  std::string path = {};                       ///< of a list of indices; empty for a range
  std::array<std::int64_t, 3> begin{1, 1, 1};  ///< ends of a range, both included, from 1
  std::array<std::int64_t, 3> end{1, 1, 1};
};

/// An interface of a zone with another one or with itself, vertex by vertex.
struct CgnsInterface {
  std::string name = {};
  int zone = 0;  ///< places of the two zones
  int donor = 0;
  CgnsPoints here = {};
  CgnsPoints there = {};  ///< of two ranges, only the end that belongs to the begin of `here`
  /// For each index of the zone the index of the donor that runs along it, from 1; negative if the other way.
  std::array<int, 3> transform{1, 2, 3};
  std::int64_t n = 0;  ///< number of vertices
};

struct CgnsZone {
  std::string path = {};
  std::string name = {};
  bool is_structured = false;
  bool is_single = false;  ///< coordinates have single precision
  int n_indices = 1;
  std::array<std::int64_t, 3> n{1, 1, 1};  ///< vertices along each index
  std::int64_t first_vertex = 0;
  std::vector<CgnsSection> sections = {};
  std::vector<CgnsMixed> mixed = {};
  std::vector<CgnsBoundary> boundaries = {};
  /// First and last element of sections that are left out, because they lack the nodes of their sides.
  std::vector<std::array<std::int64_t, 2>> without_nodes = {};
  std::vector<CgnsArray> arrays = {};

  [[nodiscard]] std::int64_t n_vertices() const noexcept { return n[0] * n[1] * n[2]; }
  /// Tell whether a boundary condition is a set of vertices, not of sides.
  [[nodiscard]] bool has_vertices(const CgnsBoundary& boundary) const noexcept {
    return boundary.on_vertices && (!is_structured || n_indices == 1);
  }
  /// Return the highest number of an element.
  [[nodiscard]] std::int64_t last_element() const noexcept {
    std::int64_t last = 0;
    for (const CgnsSection& section : sections)
      last = std::max(last, section.first + (section.mixed < 0 ? section.n : mixed[section.mixed].n) - 1);
    return last;
  }
};

/// Contents of a CGNS file without its arrays. O(zones + sections + boundaries).
struct CgnsCatalog {
  int cell_dim = 3;
  int n_dims = 3;
  std::int64_t n_vertices = 0;
  std::vector<CgnsZone> zones = {};
  std::int64_t n_steps = 0;        ///< of the solutions
  std::vector<double> times = {};  ///< of the steps, where the file has them; on the rank that read the catalog
  std::vector<std::string> left_out = {};
  std::vector<CgnsInterface> interfaces = {};     ///< 1-to-1, each once
  std::vector<std::string> open_interfaces = {};  ///< those that are not joined, and why
};

/// Tell whether an HDF5 file has the root of a CGNS file. Local.
bool is_cgns(hid_t file);

/// Read the list of zones. Local.
/// @throws Error{bad_input} naming the zone or section that is damaged or not supported
CgnsCatalog read_cgns_catalog(hid_t file, const std::string& path);

/// Read the list of zones on rank 0 and give it to all. Collective. @throws AgreedError as read_cgns_catalog
CgnsCatalog share_cgns_catalog(mpi::Context& context, const std::string& path);

/// Add the interfaces of zones to the catalog. Local.
/// @throws Error{bad_input} for ranges that are not in their zones or do not fit each other
void add_cgns_interfaces(hid_t file, const std::string& path, CgnsCatalog& catalog);

/// Read the vertices of a zone, shape (rows, 3). Collective if the file is open on all ranks.
std::vector<double> read_cgns_coordinates(files::Place file, const CgnsCatalog& catalog, const CgnsZone& zone,
                                          files::Rows rows);
/// Read values of vertices or cells of a zone. Collective as read_cgns_coordinates.
std::vector<double> read_cgns_array(files::Place file, const CgnsZone& zone, const CgnsArray& array, files::Rows rows);
/// Read the nodes of elements, or make those of structured cells, as rows of the vertex table. Collective as
/// read_cgns_coordinates.
/// @param fault  gets the first vertex that does not exist; reading continues, since other ranks are in the same read
std::vector<GlobalId> read_cgns_nodes(files::Place file, const std::string& path, const CgnsZone& zone,
                                      const CgnsSection& section, files::Rows rows, Status& fault);

}  // namespace barrio::io::detail
