#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace barrio::test {

// Deliberate damage to HDF5 mesh files, by plain HDF5 calls on one process. A failure ends the program.

/// Replace one number of a dataset, by its flat index. Negative indices count from the end.
void set_value(const std::filesystem::path& file, const std::string& dataset, long place, double value);
/// Return all numbers of a dataset of integers or reals.
std::vector<double> numbers(const std::filesystem::path& file, const std::string& dataset);
/// Remove a link.
void remove_link(const std::filesystem::path& file, const std::string& path);
/// Turn an element table of fixed length into polygons of varying length, with the list of lengths of the .h5m layout.
void make_polygons(const std::filesystem::path& file, const std::string& group);
/// Change the type of an element table, by the file's own enumeration.
void set_type(const std::filesystem::path& file, const std::string& group, const std::string& type);
/// Create a dataset of zeros, which replaces any existing one. @param is_real  doubles, not integers
void replace(const std::filesystem::path& file, const std::string& path, const std::vector<long>& sizes, bool is_real);
/// Replace an attribute by a number.
void set_attribute(const std::filesystem::path& file, const std::string& object, const std::string& name, double value);
/// Rename a link.
void rename(const std::filesystem::path& file, const std::string& from, const std::string& to);
/// Truncate a file to its first bytes.
void cut(const std::filesystem::path& file, std::uintmax_t n_bytes);

/// Return one line per object and attribute, ascending: path, type, extents and a hash of the stored values.
std::vector<std::string> digest(const std::filesystem::path& file);

}  // namespace barrio::test
