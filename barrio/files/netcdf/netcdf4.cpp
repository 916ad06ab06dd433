#include "barrio/files/netcdf/netcdf4.hpp"

#include <cstddef>
#include <vector>

#include "barrio/files/hdf5/quiet.hpp"

namespace barrio::files::detail {
namespace {

std::string text_attribute(hid_t file, const std::string& dataset, const std::string& name) {
  const NativeValues values = read_native_attribute(file, dataset, name);
  if (values.kind != NativeValues::Kind::other) return {};
  return trimmed({reinterpret_cast<const char*>(values.bytes.data()), values.bytes.size()});
}

Handle open_attribute(hid_t file, const std::string& path, const std::string& name) {
  if (H5Aexists_by_name(file, path.c_str(), name.c_str(), H5P_DEFAULT) <= 0) return {};
  return {H5Aopen_by_name(file, path.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), &H5Aclose};
}

/// Return the name of the object that a reference points to.
std::string name_of(const Handle& attribute, const hobj_ref_t& reference) {
  const Handle object(H5Rdereference2(attribute.get(), H5P_DEFAULT, H5R_OBJECT, &reference), &H5Oclose);
  if (!object) return {};
  std::string name(256, '\0');
  const ssize_t n = H5Iget_name(object.get(), name.data(), name.size());
  if (n <= 1 || static_cast<std::size_t>(n) >= name.size()) return {};
  name.resize(n);
  return name.substr(name[0] == '/' ? 1 : 0);
}

}  // namespace

bool is_scale(hid_t file, const std::string& dataset) {
  return text_attribute(file, dataset, "CLASS") == "DIMENSION_SCALE";
}

bool is_bare_dimension(hid_t file, const std::string& dataset) {
  return is_scale(file, dataset) &&
         text_attribute(file, dataset, "NAME").starts_with("This is a netCDF dimension but not a netCDF variable");
}

void add_measured(hid_t file, const std::string& scale, ScaleNames& names) {
  // A scale lists its datasets, and each dataset lists its scales. Only the first list has a fixed length; in a damaged
  // heap of variable-length data HDF5 may loop forever.
  struct Measured {
    hobj_ref_t dataset;
    int dimension;
  };
  const Quiet quiet;
  const Handle attribute = open_attribute(file, scale, "REFERENCE_LIST");
  if (!attribute) return;
  const Handle type(H5Aget_type(attribute.get()), &H5Tclose);
  const Handle space(H5Aget_space(attribute.get()), &H5Sclose);
  const Handle wanted(H5Tcreate(H5T_COMPOUND, sizeof(Measured)), &H5Tclose);
  H5Tinsert(wanted.get(), "dataset", offsetof(Measured, dataset), H5T_STD_REF_OBJ);
  H5Tinsert(wanted.get(), "dimension", offsetof(Measured, dimension), H5T_NATIVE_INT);
  constexpr hssize_t most = 1 << 20;
  const hssize_t n = H5Sget_simple_extent_npoints(space.get());
  if (H5Tget_class(type.get()) != H5T_COMPOUND || H5Tdetect_class(type.get(), H5T_VLEN) > 0 || n < 1 || n > most)
    return;
  std::vector<Measured> all(n, Measured{});
  if (H5Aread(attribute.get(), wanted.get(), all.data()) < 0) return;
  for (const Measured& one : all) {
    const std::string dataset = name_of(attribute, one.dataset);
    if (!dataset.empty()) names.try_emplace({dataset, one.dimension}, scale);
  }
}

std::optional<std::string> read_string_attribute(hid_t file, const std::string& path, const std::string& name) {
  const Quiet quiet;
  const Handle attribute = open_attribute(file, path, name);
  if (!attribute) return {};
  const Handle type(H5Aget_type(attribute.get()), &H5Tclose);
  const Handle space(H5Aget_space(attribute.get()), &H5Sclose);
  if (H5Tis_variable_str(type.get()) <= 0 || H5Sget_simple_extent_npoints(space.get()) != 1) return {};
  char* text = nullptr;
  if (H5Aread(attribute.get(), type.get(), static_cast<void*>(&text)) < 0 || text == nullptr) return {};
  std::string copy = trimmed(text);
  H5free_memory(text);
  return copy;
}

}  // namespace barrio::files::detail
