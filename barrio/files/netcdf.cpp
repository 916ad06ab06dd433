#include "barrio/files/netcdf.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <fstream>

#include "barrio/base/error.hpp"
#include "barrio/files/detail/native.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::files {
namespace {

using detail::CdfFile;
using Type = CdfFile::Type;

bool is_classic(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> head{};
  file.read(head.data(), head.size());
  return detail::is_cdf({head.data(), static_cast<std::size_t>(file.gcount())});
}

template <class Stored, class Number>
void append(const std::string& bytes, std::vector<Number>& numbers) {
  for (std::size_t at = 0; at + sizeof(Stored) <= bytes.size(); at += sizeof(Stored))
    numbers.push_back(static_cast<Number>(detail::native<Stored>(reinterpret_cast<const std::byte*>(bytes.data() + at),
                                                                 std::endian::native == std::endian::little)));
}

/// @return false if the values are not of the kind of `Number`, integers or floating-point
template <class Number>
bool convert(const CdfFile::Values& values, std::vector<Number>& numbers) {
  numbers.reserve(values.bytes.size() / size_of(values.type));
  if constexpr (std::is_floating_point_v<Number>) {
    switch (values.type) {
      case Type::float32: append<float>(values.bytes, numbers); return true;
      case Type::float64: append<double>(values.bytes, numbers); return true;
      default: return false;
    }
  } else {
    switch (values.type) {
      case Type::int8: append<std::int8_t>(values.bytes, numbers); return true;
      case Type::uint8: append<std::uint8_t>(values.bytes, numbers); return true;
      case Type::int16: append<std::int16_t>(values.bytes, numbers); return true;
      case Type::uint16: append<std::uint16_t>(values.bytes, numbers); return true;
      case Type::int32: append<std::int32_t>(values.bytes, numbers); return true;
      case Type::uint32: append<std::uint32_t>(values.bytes, numbers); return true;
      case Type::int64: append<std::int64_t>(values.bytes, numbers); return true;
      case Type::uint64: append<std::uint64_t>(values.bytes, numbers); return true;
      default: return false;
    }
  }
}

[[noreturn]] void refuse(const std::string& path, const std::string& variable, const std::string& cause) {
  throw Error(ErrorCode::bad_input, {.subject = path,
                                     .cause = fmt::format("variable '{}' {}", variable, cause),
                                     .remedy = "the file is damaged or was written wrongly"});
}

const CdfFile::Variable& variable_of(const CdfFile& file, const std::string& path, const std::string& name) {
  const CdfFile::Variable* variable = file.find(name);
  if (variable == nullptr) refuse(path, name, "is missing");
  return *variable;
}

/// HDF5 is asked by names of its own world: errors shall name the file too.
template <class Read>
auto naming(const std::string& path, const std::string& variable, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.subject() != variable) throw;
    refuse(path, variable, error.cause());
  }
}

}  // namespace

bool is_classic_netcdf(std::string_view head) noexcept { return detail::is_cdf(head); }

NetcdfFile::NetcdfFile(const std::string& path) : path_(path) {
  if (is_classic(path)) {
    classic_.emplace(path);
  } else {
    alone_ = open_to_read(path);
  }
}

NetcdfFile::NetcdfFile(mpi::Context& context, const std::string& path) : path_(path) {
  std::uint8_t classic = context.is_root() && is_classic(path) ? 1 : 0;
  mpi::broadcast(context, std::span(&classic, 1));
  if (classic == 1) {
    classic_.emplace(context, path);
  } else {
    shared_.emplace(open_to_read(context, path));
  }
}

std::string NetcdfFile::format() const {
  return classic_ ? fmt::format("netCDF CDF-{}", classic_->version()) : "netCDF-4";
}

bool NetcdfFile::has(const std::string& variable) const {
  return classic_ ? classic_->find(variable) != nullptr : files::has(hdf5(), variable);
}

std::vector<std::string> NetcdfFile::variables() const {
  if (!classic_) return names_in(hdf5(), "/");
  std::vector<std::string> names;
  for (const CdfFile::Variable& variable : classic_->variables()) names.push_back(variable.name);
  return names;
}

std::vector<std::int64_t> NetcdfFile::shape(const std::string& variable) const {
  if (!classic_) return extents(hdf5(), variable);
  const CdfFile::Variable* found = classic_->find(variable);
  return found == nullptr ? std::vector<std::int64_t>{} : found->shape;
}

std::vector<std::int64_t> NetcdfFile::integers(const std::string& variable, Rows rows) const {
  if (!classic_) return naming(path_, variable, [&] { return read_integers(hdf5(), variable, rows); });
  std::vector<std::int64_t> numbers;
  if (!convert(classic_->read(variable_of(*classic_, path_, variable), rows), numbers))
    refuse(path_, variable, "does not hold integers");
  return numbers;
}

std::vector<double> NetcdfFile::reals(const std::string& variable, Rows rows) const {
  if (!classic_) return naming(path_, variable, [&] { return read_reals(hdf5(), variable, rows); });
  std::vector<double> numbers;
  if (!convert(classic_->read(variable_of(*classic_, path_, variable), rows), numbers))
    refuse(path_, variable, "does not hold floating-point numbers");
  return numbers;
}

std::vector<std::string> NetcdfFile::texts(const std::string& variable, Rows rows) const {
  const std::vector<std::int64_t> sizes = shape(variable);
  std::string characters;
  if (classic_) {
    CdfFile::Values values = classic_->read(variable_of(*classic_, path_, variable), rows);
    if (values.type != Type::text) refuse(path_, variable, "does not hold text");
    characters = std::move(values.bytes);
  } else {
    const NativeValues values = naming(path_, variable, [&] { return read_native(hdf5(), variable, rows); });
    if (values.number_bytes != 1) refuse(path_, variable, "does not hold text");
    characters.assign(reinterpret_cast<const char*>(values.bytes.data()), values.bytes.size());
  }
  std::vector<std::string> all;
  const auto length = sizes.empty() ? std::size_t{1} : static_cast<std::size_t>(sizes.back());
  for (std::size_t at = 0; at + length <= characters.size() && length > 0; at += length)
    all.push_back(trimmed(std::string_view(characters).substr(at, length)));
  return all;
}

std::optional<std::string> NetcdfFile::attribute(const std::string& variable, const std::string& name) const {
  if (!classic_) {
    const NativeValues values = read_native_attribute(hdf5(), variable.empty() ? "/" : variable, name);
    if (values.kind != NativeValues::Kind::other || values.bytes.empty()) return {};
    return trimmed({reinterpret_cast<const char*>(values.bytes.data()), values.bytes.size()});
  }
  const CdfFile::Variable* of = classic_->find(variable);
  if (of == nullptr && !variable.empty()) return {};
  for (const CdfFile::Attribute& attribute : of == nullptr ? classic_->attributes() : of->attributes)
    if (attribute.name == name && attribute.values.type == Type::text) return trimmed(attribute.values.bytes);
  return {};
}

}  // namespace barrio::files
