#include "tests/io/cgns/cgns_writer.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace barrio::test {
namespace {

using Integers = std::vector<int>;
using Reals = std::vector<double>;

void add_attribute(hid_t group, const char* name, std::string text, std::size_t length) {
  text.resize(length, '\0');
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, length);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  if (H5Awrite(attribute, type, text.data()) < 0) std::abort();
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

void write_below(hid_t parent, const CgnsNode& node) {
  const hid_t group = H5Gcreate2(parent, node.name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  add_attribute(group, "name", node.name, 33);
  add_attribute(group, "label", node.label, 33);
  const auto put = [&](const auto& values, hid_t type, const char* code) {
    const std::vector<hsize_t> shape = node.shape.empty() ? std::vector<hsize_t>{values.size()}
                                                          : std::vector<hsize_t>(node.shape.begin(), node.shape.end());
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t set = H5Dcreate2(group, " data", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (set < 0) std::abort();
    const bool is_written = !values.empty() || node.shape.empty();
    if (is_written && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) std::abort();
    H5Dclose(set);
    H5Sclose(space);
    add_attribute(group, "type", code, 3);
  };
  if (const auto* numbers = std::get_if<Integers>(&node.data)) put(*numbers, H5T_NATIVE_INT, "I4");
  if (const auto* numbers = std::get_if<Reals>(&node.data)) put(*numbers, H5T_NATIVE_DOUBLE, "R8");
  if (const auto* text = std::get_if<std::string>(&node.data)) put(*text, H5T_NATIVE_CHAR, "C1");
  for (const CgnsNode& child : node.children) write_below(group, child);
  H5Gclose(group);
}

CgnsNode coordinates(const std::array<Reals, 3>& x, const std::vector<unsigned long long>& shape) {
  return {"GridCoordinates",
          "GridCoordinates_t",
          {},
          {},
          {{"CoordinateX", "DataArray_t", x[0], shape},
           {"CoordinateY", "DataArray_t", x[1], shape},
           {"CoordinateZ", "DataArray_t", x[2], shape}}};
}

CgnsNode section(const std::string& name, int type, const Integers& range, const Integers& nodes) {
  return {name,
          "Elements_t",
          Integers{type, 0},
          {},
          {{"ElementRange", "IndexRange_t", range}, {"ElementConnectivity", "DataArray_t", nodes}}};
}

CgnsNode condition(const std::string& name, std::vector<CgnsNode> children) {
  return {name, "BC_t", std::string("BCWall"), {}, std::move(children)};
}

CgnsNode file_of(const Integers& dims, std::vector<CgnsNode> zones) {
  return {
      "",
      "",
      {},
      {},
      {{"CGNSLibraryVersion", "CGNSLibraryVersion_t", Reals{4.2}}, {"Base", "CGNSBase_t", dims, {}, std::move(zones)}}};
}

}  // namespace

CgnsNode& CgnsNode::at(const std::string& path) {
  const auto end = path.find('/');
  CgnsNode& child =
      *std::find_if(children.begin(), children.end(), [&](const CgnsNode& c) { return c.name == path.substr(0, end); });
  return end == std::string::npos ? child : child.at(path.substr(end + 1));
}

void write(const CgnsNode& root, const std::filesystem::path& path) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) std::abort();
  for (const CgnsNode& node : root.children) write_below(file, node);
  H5Fclose(file);
}

CgnsNode cgns_structured() {
  std::vector<CgnsNode> zones;
  for (const auto& [name, low] : {std::pair("A", 0.0), std::pair("B", 2.0)}) {
    std::array<Reals, 3> x;
    for (int k = 0; k < 2; ++k)
      for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 3; ++i) {
          x[0].push_back(low + i);
          x[1].push_back(j);
          x[2].push_back(k);
        }
    const auto range = [](const Integers& ends) { return CgnsNode{"PointRange", "IndexRange_t", ends, {2, 3}}; };
    zones.push_back(
        {name,
         "Zone_t",
         Integers{3, 4, 2, 2, 3, 1, 0, 0, 0},
         {3, 3},
         {{"ZoneType", "ZoneType_t", std::string("Structured")},
          coordinates(x, {2, 4, 3}),
          {"ZoneBC",
           "ZoneBC_t",
           {},
           {},
           {condition("inside",
                      {range({1, 3, 1, 2, 3, 1}), {"GridLocation", "GridLocation_t", std::string("JFaceCenter")}}),
            condition("left", {range({1, 1, 1, 1, 4, 2})}),
            condition("top", {range({1, 1, 2, 3, 4, 2}), {"FamilyName", "FamilyName_t", std::string("Roof")}})}}}});
  }
  return file_of({3, 3}, zones);
}

CgnsNode cgns_unstructured() {
  // Node i + 2 j + 4 k + 1 of a unit cube at (i, j, k); nodes 9 and 10 at (2, 0, k).
  const std::array<Reals, 3> x{Reals{0, 1, 0, 1, 0, 1, 0, 1, 2, 2}, Reals{0, 0, 1, 1, 0, 0, 1, 1, 0, 0},
                               Reals{0, 0, 0, 0, 1, 1, 1, 1, 0, 1}};
  const CgnsNode faces{"GridLocation", "GridLocation_t", std::string("FaceCenter")};
  return file_of({3, 3}, {{"Zone",
                           "Zone_t",
                           Integers{10, 2, 0},
                           {3, 1},
                           {{"ZoneType", "ZoneType_t", std::string("Unstructured")},
                            coordinates(x, {}),
                            section("Hexes", 17, {1, 1}, {1, 2, 4, 3, 5, 6, 8, 7}),
                            section("Prisms", 14, {2, 2}, {2, 9, 4, 6, 10, 8}),
                            section("Wall", 7, {3, 4}, {1, 5, 7, 3, 1, 2, 6, 5}),
                            {"ZoneBC",
                             "ZoneBC_t",
                             {},
                             {},
                             {condition("all", {{"PointRange", "IndexRange_t", Integers{3, 4}, {2, 1}}, faces}),
                              condition("fixed", {{"PointList", "IndexArray_t", Integers{9, 10, 1}, {3, 1}}}),
                              condition("second", {{"ElementList", "IndexArray_t", Integers{4}, {1, 1}},
                                                   {"FamilyName", "FamilyName_t", std::string("Side")}})}}}}});
}

}  // namespace barrio::test
