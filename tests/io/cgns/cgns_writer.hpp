#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace barrio::test {

/// A node of a CGNS file, written from the layout of CGNS on HDF5.
struct CgnsNode {
  using Data = std::variant<std::monostate, std::vector<int>, std::vector<double>, std::string>;
  std::string name;
  std::string label;
  Data data = {};
  std::vector<unsigned long long> shape =
      {};  ///< as HDF5 sees it; the length if there is none. Data may lack: then nothing is stored
  std::vector<CgnsNode> children = {};

  /// The node at a path below this one. @pre it exists
  CgnsNode& at(const std::string& path);
};

/// On one process. @param root  whose children are the root's
void write(const CgnsNode& root, const std::filesystem::path& path);

/// Two structured zones of 3 x 4 x 2 vertices, side by side with x from 0 and from 2. Conditions: "left" on i = 1, on
/// k = 2 one of the family "Roof", "inside" on j faces with j = 3.
CgnsNode cgns_structured();
/// A zone with a hex and a prism beside it, two quads as a wall, a condition on it by range, one by list, one on nodes.
CgnsNode cgns_unstructured();

}  // namespace barrio::test
