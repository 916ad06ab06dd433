#include "tests/io/damage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>

namespace barrio::test {
namespace {

hid_t sure(hid_t id, const std::string& what) {
  if (id >= 0) return id;
  fmt::print(stderr, "cannot prepare a test file: {}\n", what);
  std::abort();
}

std::vector<hsize_t> extents_of(hid_t space) {
  std::vector<hsize_t> sizes(std::max(H5Sget_simple_extent_ndims(space), 0));
  if (!sizes.empty()) H5Sget_simple_extent_dims(space, sizes.data(), nullptr);
  return sizes;
}

/// Compute FNV-1a, not the library's hash: a digest must not depend on the code under test.
std::uint64_t hash_of(const std::vector<unsigned char>& bytes) {
  std::uint64_t hash = 14695981039346656037U;
  for (const unsigned char byte : bytes) hash = (hash ^ byte) * 1099511628211U;
  return hash;
}

std::string type_text(hid_t type) {
  static constexpr std::array<const char*, 11> classes{"int",      "float",     "time", "text",    "bits", "opaque",
                                                       "compound", "reference", "enum", "varying", "array"};
  const int kind = H5Tget_class(type);
  return fmt::format("{}{}", kind >= 0 ? classes.at(static_cast<std::size_t>(kind)) : "?", 8 * H5Tget_size(type));
}

std::string attribute_line(const std::string& path, hid_t object, unsigned i) {
  const hid_t attribute =
      sure(H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT), path);
  std::array<char, 256> name{};
  H5Aget_name(attribute, name.size(), name.data());
  const hid_t type = H5Aget_type(attribute);
  const hid_t space = H5Aget_space(attribute);
  std::vector<unsigned char> bytes(H5Tget_size(type) * static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  H5Aread(attribute, type, bytes.data());
  const std::string line =
      fmt::format("{}@{} {} {} {:016x}", path, name.data(), type_text(type), extents_of(space), hash_of(bytes));
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(attribute);
  return line;
}

void add_lines(hid_t file, const std::string& path, std::vector<std::string>& lines) {
  const hid_t object = sure(H5Oopen(file, path.c_str(), H5P_DEFAULT), path);
  const H5I_type_t kind = H5Iget_type(object);
  if (kind == H5I_DATASET) {
    const hid_t type = H5Dget_type(object);
    const hid_t space = H5Dget_space(object);
    std::vector<unsigned char> bytes(H5Tget_size(type) * static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    if (!bytes.empty()) H5Dread(object, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
    lines.push_back(fmt::format("{} {} {} {:016x}", path, type_text(type), extents_of(space), hash_of(bytes)));
    H5Sclose(space);
    H5Tclose(type);
  } else {
    lines.push_back(path + (kind == H5I_GROUP ? " group" : " type"));
  }
  const int n_attributes = H5Aget_num_attrs(object);
  for (int i = 0; i < n_attributes; ++i) lines.push_back(attribute_line(path, object, i));
  if (kind == H5I_GROUP) {
    std::vector<std::string> names;
    H5Literate(
        object, H5_INDEX_NAME, H5_ITER_INC, nullptr,
        [](hid_t, const char* name, const H5L_info_t*, void* data) -> herr_t {
          static_cast<std::vector<std::string>*>(data)->emplace_back(name);
          return 0;
        },
        &names);
    for (const std::string& name : names) add_lines(file, path == "/" ? "/" + name : path + "/" + name, lines);
  }
  H5Oclose(object);
}

}  // namespace

std::vector<double> numbers(const std::filesystem::path& path, const std::string& dataset) {
  const hid_t file = sure(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), path);
  const hid_t data = sure(H5Dopen2(file, dataset.c_str(), H5P_DEFAULT), dataset);
  const hid_t space = H5Dget_space(data);
  std::vector<double> values(H5Sget_simple_extent_npoints(space));
  sure(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), dataset);
  H5Sclose(space);
  H5Dclose(data);
  H5Fclose(file);
  return values;
}

void set_value(const std::filesystem::path& path, const std::string& dataset, long place, double value) {
  std::vector<double> values = numbers(path, dataset);
  values.at(place < 0 ? values.size() - static_cast<std::size_t>(-place) : static_cast<std::size_t>(place)) = value;
  const hid_t file = sure(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), path);
  const hid_t data = sure(H5Dopen2(file, dataset.c_str(), H5P_DEFAULT), dataset);
  sure(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), dataset);
  H5Dclose(data);
  H5Fclose(file);
}

void set_attribute(const std::filesystem::path& path, const std::string& object, const std::string& name,
                   double value) {
  const hid_t file = sure(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), path);
  // Recreated, because HDF5 1.10 does not always find an attribute that it has open.
  sure(H5Adelete_by_name(file, object.c_str(), name.c_str(), H5P_DEFAULT), name);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t attribute = H5Acreate_by_name(file, object.c_str(), name.c_str(), H5T_NATIVE_INT64, space, H5P_DEFAULT,
                                            H5P_DEFAULT, H5P_DEFAULT);
  sure(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value), name);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Fclose(file);
}

void remove_link(const std::filesystem::path& path, const std::string& link) {
  const hid_t file = sure(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), path);
  sure(H5Ldelete(file, link.c_str(), H5P_DEFAULT), link);
  H5Fclose(file);
}

void set_type(const std::filesystem::path& path, const std::string& group, const std::string& type_name) {
  const hid_t file = sure(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), path);
  const hid_t attribute = sure(H5Aopen_by_name(file, group.c_str(), "element_type", H5P_DEFAULT, H5P_DEFAULT), group);
  const hid_t type = H5Aget_type(attribute);
  std::array<unsigned char, 8> value{};
  sure(H5Tenum_valueof(type, type_name.c_str(), value.data()), type_name);
  H5Aclose(attribute);
  // Recreated, because HDF5 1.10 cannot write to an open attribute of a named type.
  sure(H5Adelete_by_name(file, group.c_str(), "element_type", H5P_DEFAULT), group);
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t again =
      H5Acreate_by_name(file, group.c_str(), "element_type", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  sure(H5Awrite(again, type, value.data()), group);
  H5Aclose(again);
  H5Sclose(space);
  H5Tclose(type);
  H5Fclose(file);
}

void make_polygons(const std::filesystem::path& path, const std::string& group) {
  const std::string table = group + "/connectivity";
  const std::vector<double> nodes = numbers(path, table);
  hid_t file = sure(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), path);
  hid_t data = sure(H5Dopen2(file, table.c_str(), H5P_DEFAULT), table);
  hid_t space = H5Dget_space(data);
  const std::vector<hsize_t> sizes = extents_of(space);
  H5Sclose(space);
  hid_t attribute = H5Aopen(data, "start_id", H5P_DEFAULT);
  std::int64_t start_id = 0;
  H5Aread(attribute, H5T_NATIVE_INT64, &start_id);
  H5Aclose(attribute);
  H5Dclose(data);
  H5Ldelete(file, table.c_str(), H5P_DEFAULT);

  const auto write = [&](const std::string& name, const std::vector<double>& values) {
    const hsize_t n = values.size();
    space = H5Screate_simple(1, &n, nullptr);
    data = sure(H5Dcreate2(file, name.c_str(), H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), name);
    sure(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), name);
    H5Sclose(space);
  };
  write(table, nodes);
  space = H5Screate(H5S_SCALAR);
  attribute = H5Acreate2(data, "start_id", H5T_NATIVE_INT64, space, H5P_DEFAULT, H5P_DEFAULT);
  sure(H5Awrite(attribute, H5T_NATIVE_INT64, &start_id), table);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Dclose(data);
  std::vector<double> last;
  for (hsize_t i = 1; i <= sizes[0]; ++i) last.push_back(static_cast<double>(i * sizes[1] - 1));
  write(group + "/poly_indices", last);
  H5Dclose(data);
  H5Fclose(file);
  set_type(path, group, "Polygon");
}

void replace(const std::filesystem::path& file, const std::string& path, const std::vector<long>& sizes, bool is_real) {
  const hid_t open = sure(H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), file.string());
  const hid_t links = sure(H5Pcreate(H5P_LINK_CREATE), path);
  H5Pset_create_intermediate_group(links, 1);
  const std::string group = path.substr(0, path.rfind('/'));
  if (H5Lexists(open, group.c_str(), H5P_DEFAULT) > 0 && H5Lexists(open, path.c_str(), H5P_DEFAULT) > 0)
    sure(H5Ldelete(open, path.c_str(), H5P_DEFAULT), path);
  const std::vector<hsize_t> extents(sizes.begin(), sizes.end());
  const hid_t space = sure(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), path);
  const hid_t type = is_real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32;
  const hid_t dataset = sure(H5Dcreate2(open, path.c_str(), type, space, links, H5P_DEFAULT, H5P_DEFAULT), path);
  std::size_t n = 8;
  for (const hsize_t size : extents) n *= size;
  const std::vector<char> zeros(n, 0);
  sure(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros.data()), path);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Pclose(links);
  H5Fclose(open);
}

void rename(const std::filesystem::path& file, const std::string& from, const std::string& to) {
  const hid_t open = sure(H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), file.string());
  sure(H5Lmove(open, from.c_str(), open, to.c_str(), H5P_DEFAULT, H5P_DEFAULT), from);
  H5Fclose(open);
}

void cut(const std::filesystem::path& file, std::uintmax_t n_bytes) { std::filesystem::resize_file(file, n_bytes); }

std::vector<std::string> digest(const std::filesystem::path& path) {
  const hid_t file = sure(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), path);
  std::vector<std::string> lines;
  add_lines(file, "/", lines);
  H5Fclose(file);
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace barrio::test
