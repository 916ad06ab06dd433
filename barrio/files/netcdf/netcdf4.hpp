#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "barrio/files/hdf5.hpp"

// The additions of netCDF-4 to HDF5. All functions are local, on files open on this process alone.

namespace barrio::files::detail {

/// Tell whether a dataset is a dimension scale: the values along a dimension, with the name of the dimension.
bool is_scale(hid_t file, const std::string& dataset);
/// Tell whether a dataset is a dimension scale without values.
bool is_bare_dimension(hid_t file, const std::string& dataset);

/// Name of the scale along each dimension of a dataset.
using ScaleNames = std::map<std::pair<std::string, int>, std::string>;
/// Add the dimensions that a scale is attached to.
void add_measured(hid_t file, const std::string& scale, ScaleNames& names);

/// Read an attribute that is a single text of varying length.
std::optional<std::string> read_string_attribute(hid_t file, const std::string& path, const std::string& name);

}  // namespace barrio::files::detail
