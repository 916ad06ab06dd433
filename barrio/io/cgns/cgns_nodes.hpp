#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "barrio/files/hdf5.hpp"

// CGNS on HDF5: a node is a group with the attributes name, label and type. Its data, if any, is the dataset " data",
// in Fortran's order, so HDF5 sees the indices reversed.

namespace barrio::io::detail {

inline std::string text_of(const std::vector<std::byte>& bytes) {
  return files::trimmed({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

inline std::string label_of(hid_t file, const std::string& node) {
  return text_of(files::read_native_attribute(file, node, "label").bytes);
}

inline std::string data_of(const std::string& node) { return node + "/ data"; }

/// Return a node's data as text; empty if it has none.
inline std::string text_of(hid_t file, const std::string& node) {
  return files::has(file, data_of(node)) ? text_of(files::read_native(file, data_of(node)).bytes) : "";
}

/// List the names of the nodes of a label below a node, ascending.
inline std::vector<std::string> children(hid_t file, const std::string& node, std::string_view label) {
  std::vector<std::string> found;
  for (const std::string& name : files::names_in(file, node.empty() ? "/" : node))
    if (name.front() != ' ' && label_of(file, node + "/" + name) == label) found.push_back(name);
  return found;
}

}  // namespace barrio::io::detail
