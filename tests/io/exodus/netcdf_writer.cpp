#include "tests/io/exodus/netcdf_writer.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>

namespace barrio::test {
namespace {

using Variable = NetcdfContents::Variable;

template <class Number>
std::string big_endian(Number number) {
  auto bytes = std::bit_cast<std::array<char, sizeof(Number)>>(number);
  if (std::endian::native == std::endian::little) std::reverse(bytes.begin(), bytes.end());
  return {bytes.begin(), bytes.end()};
}

std::string filled_up(std::string text) {
  text.resize((text.size() + 3) / 4 * 4, '\0');
  return text;
}

std::string bytes_of(const Variable& variable) {
  if (const auto* text = std::get_if<std::string>(&variable.values)) return *text;
  std::string bytes;
  if (const auto* numbers = std::get_if<std::vector<int>>(&variable.values))
    for (const int x : *numbers) bytes += big_endian(x);
  if (const auto* numbers = std::get_if<std::vector<double>>(&variable.values))
    for (const double x : *numbers) bytes += big_endian(x);
  return bytes;
}

constexpr int nc_char = 2;
constexpr int nc_int = 4;
constexpr int nc_double = 6;
int nc_type(const Variable& variable) {
  return variable.values.index() == 0 ? nc_int : (variable.values.index() == 1 ? nc_double : nc_char);
}

/// Writer of the classic format. Dimension 0 is that of the records; each other one without a name belongs to one
/// variable.
class Classic {
 public:
  Classic(const NetcdfContents& contents, int version) : contents_(contents), version_(version) {
    for (const Variable& v : contents.variables) {
      if (v.has_records) n_records_ = v.shape[0];
      if (v.has_records && !v.dimensions.empty()) record_name_ = v.dimensions[0];
      for (std::size_t d = v.has_records ? 1 : 0; d < v.shape.size(); ++d)
        if (place(v, d) == dimensions_.size() + 1) dimensions_.emplace_back(name(v, d), v.shape[d]);
    }
  }
  std::string text() {
    for (std::size_t pass = 0; pass < 2; ++pass) {  // the second pass knows the length of the header
      std::size_t at = header_.size();
      begins_.clear();
      for (const Variable& v : contents_.variables) {
        if (v.has_records) continue;
        begins_[v.name] = at;
        at += filled_up(bytes_of(v)).size();
      }
      for (const Variable& v : contents_.variables) {
        if (!v.has_records) continue;
        begins_[v.name] = at;
        at += record(v, 0).size();
      }
      make_header();
    }
    std::string text = header_;
    for (const Variable& v : contents_.variables)
      if (!v.has_records) text += filled_up(bytes_of(v));
    for (long r = 0; r < n_records_; ++r)
      for (const Variable& v : contents_.variables)
        if (v.has_records) text += record(v, r);
    return text;
  }

 private:
  static std::string name(const Variable& v, std::size_t d) {
    return v.dimensions.empty() ? v.name + "_" + std::to_string(d) : v.dimensions[d];
  }
  /// Return the index of a dimension in the file's list, which begins with that of the records.
  std::size_t place(const Variable& v, std::size_t d) const {
    if (v.has_records && d == 0) return 0;
    const auto known = std::find_if(dimensions_.begin(), dimensions_.end(),
                                    [&](const auto& dimension) { return dimension.first == name(v, d); });
    return static_cast<std::size_t>(known - dimensions_.begin()) + 1;
  }
  std::string record(const Variable& v, long r) const {
    const std::string all = bytes_of(v);
    const std::size_t n = v.shape[0] == 0 ? 0 : all.size() / static_cast<std::size_t>(v.shape[0]);
    const auto n_with = std::count_if(contents_.variables.begin(), contents_.variables.end(),
                                      [](const Variable& other) { return other.has_records; });
    const std::string one = all.substr(static_cast<std::size_t>(r) * n, n);
    return n_with == 1 ? one : filled_up(one);
  }
  std::string count(std::size_t n) const {
    return version_ == 5 ? big_endian(static_cast<std::int64_t>(n)) : big_endian(static_cast<std::int32_t>(n));
  }
  std::string list(int tag, std::size_t n) const { return big_endian(n == 0 ? 0 : tag) + count(n); }
  std::string text(const std::string& name) const { return count(name.size()) + filled_up(name); }
  void make_header() {
    header_ = std::string("CDF") + static_cast<char>(version_) + count(n_records_);
    header_ += list(10, dimensions_.size() + 1) + text(record_name_) + count(0);
    for (const auto& [name, n] : dimensions_) header_ += text(name) + count(static_cast<std::size_t>(n));
    header_ += list(12, 0) + list(11, contents_.variables.size());
    for (const Variable& v : contents_.variables) {
      header_ += text(v.name) + count(v.shape.size());
      for (std::size_t d = 0; d < v.shape.size(); ++d) header_ += count(place(v, d));
      header_ += list(12, v.attributes.size() + v.numbers.size());
      for (const auto& [key, value] : v.attributes) header_ += text(key) + big_endian(nc_char) + text(value);
      for (const auto& [key, value] : v.numbers)
        header_ += text(key) + big_endian(nc_double) + count(1) + big_endian(value);
      header_ += big_endian(nc_type(v)) + count(filled_up(bytes_of(v)).size());
      header_ += version_ == 1 ? big_endian(static_cast<std::int32_t>(begins_[v.name]))
                               : big_endian(static_cast<std::int64_t>(begins_[v.name]));
    }
  }

  const NetcdfContents& contents_;
  int version_;
  long n_records_ = 0;
  std::string record_name_ = "time_step";
  std::vector<std::pair<std::string, long>> dimensions_;
  std::map<std::string, std::size_t> begins_;
  std::string header_;
};

void write_text(hid_t set, const std::string& key, const std::string& value) {
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, value.size());
  const hid_t attribute = H5Acreate2(set, key.c_str(), text, scalar, H5P_DEFAULT, H5P_DEFAULT);
  if (H5Awrite(attribute, text, value.data()) < 0) std::abort();
  H5Aclose(attribute);
  H5Tclose(text);
  H5Sclose(scalar);
}

/// Make scales of the named dimensions, and attach them. A dimension without a variable gets an empty one, as in
/// netCDF-4.
void attach_scales(hid_t file, const NetcdfContents& contents) {
  struct Measured {
    hobj_ref_t dataset;
    int dimension;
  };
  std::map<std::string, std::vector<Measured>> measured;
  for (const Variable& v : contents.variables) {
    for (std::size_t d = 0; d < v.dimensions.size(); ++d) {
      const std::string& name = v.dimensions[d];
      if (H5Lexists(file, name.c_str(), H5P_DEFAULT) <= 0) {
        const auto n = static_cast<hsize_t>(v.shape[d]);
        const hid_t space = H5Screate_simple(1, &n, nullptr);
        H5Dclose(H5Dcreate2(file, name.c_str(), H5T_IEEE_F32BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
        H5Sclose(space);
      }
      measured[name];
      if (name == v.name) continue;
      Measured one{0, static_cast<int>(d)};
      H5Rcreate(&one.dataset, file, v.name.c_str(), H5R_OBJECT, -1);
      measured[name].push_back(one);
    }
  }
  const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Measured));
  H5Tinsert(type, "dataset", HOFFSET(Measured, dataset), H5T_STD_REF_OBJ);
  H5Tinsert(type, "dimension", HOFFSET(Measured, dimension), H5T_NATIVE_INT);
  for (const auto& [name, all] : measured) {
    const bool is_variable = std::ranges::find(contents.variables, name, &Variable::name) != contents.variables.end();
    const hid_t set = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
    write_text(set, "CLASS", "DIMENSION_SCALE");
    write_text(set, "NAME", is_variable ? name : "This is a netCDF dimension but not a netCDF variable.         4");
    if (!all.empty()) {
      const auto n = static_cast<hsize_t>(all.size());
      const hid_t space = H5Screate_simple(1, &n, nullptr);
      const hid_t attribute = H5Acreate2(set, "REFERENCE_LIST", type, space, H5P_DEFAULT, H5P_DEFAULT);
      if (H5Awrite(attribute, type, all.data()) < 0) std::abort();
      H5Aclose(attribute);
      H5Sclose(space);
    }
    H5Dclose(set);
  }
  H5Tclose(type);
}

void write_hdf5(const NetcdfContents& contents, const std::filesystem::path& path) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t scalar = H5Screate(H5S_SCALAR);
  for (const Variable& v : contents.variables) {
    const std::vector<hsize_t> shape(v.shape.begin(), v.shape.end());
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t type = nc_type(v) == nc_char ? H5T_C_S1 : (nc_type(v) == nc_int ? H5T_STD_I32BE : H5T_IEEE_F64LE);
    const hid_t memory = nc_type(v) == nc_char ? H5T_C_S1 : (nc_type(v) == nc_int ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE);
    const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    constexpr double fill = 0.0;  // long enough for any of the types
    if (!v.is_written) H5Pset_fill_value(layout, memory, &fill);
    const hid_t set = H5Dcreate2(file, v.name.c_str(), type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    H5Pclose(layout);
    const void* values = std::visit([](const auto& some) { return static_cast<const void*>(some.data()); }, v.values);
    if (set < 0) std::abort();
    if (v.is_written && H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) std::abort();
    for (const auto& [key, value] : v.attributes) write_text(set, key, value);
    for (const auto& [key, value] : v.numbers) {
      const hid_t attribute = H5Acreate2(set, key.c_str(), H5T_IEEE_F64LE, scalar, H5P_DEFAULT, H5P_DEFAULT);
      if (H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) < 0) std::abort();
      H5Aclose(attribute);
    }
    H5Dclose(set);
    H5Sclose(space);
  }
  attach_scales(file, contents);
  H5Sclose(scalar);
  H5Fclose(file);
}

}  // namespace

Variable& NetcdfContents::operator[](const std::string& name) {
  return *std::find_if(variables.begin(), variables.end(), [&](const Variable& v) { return v.name == name; });
}

void NetcdfContents::remove(const std::string& name) {
  std::erase_if(variables, [&](const Variable& v) { return v.name == name; });
}

void write(const NetcdfContents& contents, const std::filesystem::path& path, NetcdfFormat format) {
  if (format == NetcdfFormat::hdf5) {
    write_hdf5(contents, path);
  } else {
    std::ofstream(path, std::ios::binary) << Classic(contents, static_cast<int>(format)).text();
  }
}

std::string padded(const std::vector<std::string>& texts, std::size_t length) {
  std::string all;
  for (std::string text : texts) {
    text.resize(length, '\0');
    all += text;
  }
  return all;
}

}  // namespace barrio::test
