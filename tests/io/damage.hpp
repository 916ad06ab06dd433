#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace barrio::test {

// What goes wrong with HDF5 mesh files, done on purpose. By plain HDF5 calls, on one process; a failure ends the
// program.

/// Replace one number of a dataset, counted through all dimensions. Negative places count from the end.
void set_value(const std::filesystem::path& file, const std::string& dataset, long place, double value);
/// All numbers of a dataset of integers or reals.
std::vector<double> numbers(const std::filesystem::path& file, const std::string& dataset);
/// Take a link away.
void remove_link(const std::filesystem::path& file, const std::string& path);
/// Turn an element table of fixed length into polygons of varying length, with the list of lengths of the .h5m layout.
void make_polygons(const std::filesystem::path& file, const std::string& group);
/// Give an element table another type, by the file's own enumeration.
void set_type(const std::filesystem::path& file, const std::string& group, const std::string& type);
/// Put a dataset of zeros in the place of another, or where there is none. @param is_real  doubles, not integers
void replace(const std::filesystem::path& file, const std::string& path, const std::vector<long>& sizes, bool is_real);
/// Replace an attribute by a number.
void set_attribute(const std::filesystem::path& file, const std::string& object, const std::string& name, double value);
/// Give a link another name.
void rename(const std::filesystem::path& file, const std::string& from, const std::string& to);
/// Cut a file to its first bytes.
void cut(const std::filesystem::path& file, std::uintmax_t n_bytes);

/// One line per object and attribute, ascending: path, type, extents and a hash of the values as they are stored.
std::vector<std::string> digest(const std::filesystem::path& file);

}  // namespace barrio::test
