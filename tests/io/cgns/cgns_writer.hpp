#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace barrio::test {

/// Node of a CGNS file, written from the layout of CGNS on HDF5.
struct CgnsNode {
  using Data = std::variant<std::monostate, std::vector<int>, std::vector<double>, std::string>;
  std::string name;
  std::string label;
  Data data = {};
  std::vector<unsigned long long> shape = {};  ///< as in HDF5; empty means the length. Without data, nothing is stored
  std::vector<CgnsNode> children = {};

  /// Return the node at a path below this one. @pre it exists
  CgnsNode& at(const std::string& path);
};

/// Write a file, on one process. @param root  its children become those of the file's root
void write(const CgnsNode& root, const std::filesystem::path& path);

/// Make two structured zones of 3 x 4 x 2 vertices, side by side, from x = 0 and x = 2. Conditions: "left" on i = 1,
/// one of the family "Roof" on k = 2, "inside" on j faces with j = 3.
CgnsNode cgns_structured();
/// Make a zone with a hex and an adjacent prism, two quads as a wall, and conditions by range, by list and on nodes.
CgnsNode cgns_unstructured();

}  // namespace barrio::test
