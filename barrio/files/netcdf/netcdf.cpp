#include "barrio/files/netcdf.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <fstream>
#include <map>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/files/hdf5/native.hpp"
#include "barrio/files/netcdf/netcdf4.hpp"
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

/// Convert values to native numbers. @return false if they are not of the kind of `Number`, integer or floating-point
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

std::optional<double> first_number(const NativeValues& values) {
  if (values.kind == NativeValues::Kind::other || values.bytes.size() < values.number_bytes) return {};
  const auto as = [&]<class Number>(Number) { return detail::native<Number>(values.bytes.data(), false); };
  if (values.kind == NativeValues::Kind::real) {
    if (values.number_bytes == 4) return as(float{});
    return values.number_bytes == 8 ? std::optional(as(double{})) : std::nullopt;
  }
  switch (values.number_bytes) {
    case 1: return values.is_signed ? as(std::int8_t{}) : as(std::uint8_t{});
    case 2: return values.is_signed ? as(std::int16_t{}) : as(std::uint16_t{});
    case 4: return values.is_signed ? as(std::int32_t{}) : as(std::uint32_t{});
    case 8: return values.is_signed ? as(std::int64_t{}) : as(std::uint64_t{});
    default: return {};
  }
}

Error fault_of(const std::string& path, const std::string& variable, const std::string& cause) {
  return {ErrorCode::bad_input,
          {.subject = path, .cause = fmt::format("variable '{}' {}", variable, cause), .remedy = damaged_remedy}};
}

[[noreturn]] void refuse(const std::string& path, const std::string& variable, const std::string& cause) {
  throw fault_of(path, variable, cause);
}

const CdfFile::Variable& variable_of(const CdfFile& file, const std::string& path, const std::string& name) {
  const CdfFile::Variable* variable = file.find(name);
  if (variable == nullptr) refuse(path, name, "is missing");
  return *variable;
}

/// Add the name of the file to errors of HDF5, which name only the dataset.
template <class Read>
auto naming(const std::string& path, const std::string& variable, Read&& read) {
  try {
    return read();
  } catch (const AgreedError& error) {
    if (error.subject() != variable) throw;
    throw AgreedError(fault_of(path, variable, error.cause()), error.first_rank());
  } catch (const Error& error) {
    if (error.subject() != variable) throw;
    throw fault_of(path, variable, error.cause());
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

NetcdfFile::NetcdfFile(mpi::Context& context, const std::string& path) : path_(path), context_(&context) {
  std::uint8_t classic = context.is_root() && is_classic(path) ? 1 : 0;
  mpi::broadcast(context, std::span(&classic, 1));
  if (classic == 1) {
    classic_.emplace(context, path);
  } else {
    shared_.emplace(open_to_read(context, path));
  }
}

template <class Read>
void NetcdfFile::read_classic(Read&& read) const {
  if (context_ == nullptr) return read();
  agree_after(*context_, std::forward<Read>(read));
}

void NetcdfFile::close() {
  if (shared_) shared_->close();
  alone_.close();
  classic_.reset();
}

std::string NetcdfFile::format() const {
  return classic_ ? fmt::format("netCDF CDF-{}", classic_->version()) : "netCDF-4";
}

bool NetcdfFile::has(const std::string& variable) const {
  return classic_ ? classic_->find(variable) != nullptr : files::has(hdf5(), variable);
}

NetcdfListing NetcdfFile::list() const {
  NetcdfListing listing;
  if (classic_) {
    listing.dimensions = classic_->dimensions();
    for (const CdfFile::Variable& variable : classic_->variables()) {
      const Type type = variable.type;
      const bool is_real = type == Type::float32 || type == Type::float64;
      const auto kind = is_real ? NativeValues::Kind::real : NativeValues::Kind::integer;
      listing.variables.push_back({.name = variable.name,
                                   .shape = variable.shape,
                                   .dimensions = variable.dimensions,
                                   .kind = type == Type::text ? NativeValues::Kind::other : kind,
                                   .is_signed = type < Type::uint8 || type == Type::int64,
                                   .number_bytes = size_of(type)});
    }
    return listing;
  }
  const hid_t file = hdf5().id;
  const std::vector<std::string> names = names_in(file, "/");
  detail::ScaleNames scales;
  for (const std::string& name : names)
    if (detail::is_scale(file, name)) detail::add_measured(file, name, scales);
  std::map<std::string, std::int32_t> known;
  const auto place_of = [&](const std::string& dimension) {
    const auto [entry, is_new] = known.try_emplace(dimension, static_cast<std::int32_t>(known.size()));
    if (is_new) listing.dimensions.push_back(dimension);
    return entry->second;
  };
  for (const std::string& name : names) {
    NativeValues values;
    const bool is_other_object = capture([&] { values = shape_of_type(file, name); }).has_value();
    if (is_other_object || detail::is_bare_dimension(file, name)) continue;
    NetcdfListing::Variable variable{.name = name,
                                     .shape = extents(file, name),
                                     .kind = values.kind,
                                     .is_signed = values.is_signed,
                                     .number_bytes = values.number_bytes};
    for (int d = 0; d < std::ssize(variable.shape); ++d) {
      const auto scale = scales.find({name, d});
      const bool is_own = variable.shape.size() == 1 && detail::is_scale(file, name);
      if (scale != scales.end()) {
        variable.dimensions.push_back(place_of(scale->second));
      } else {
        variable.dimensions.push_back(is_own ? place_of(name) : -1);
      }
    }
    listing.variables.push_back(std::move(variable));
  }
  return listing;
}

std::vector<std::int64_t> NetcdfFile::shape(const std::string& variable) const {
  if (!classic_) return extents(hdf5(), variable);
  const CdfFile::Variable* found = classic_->find(variable);
  return found == nullptr ? std::vector<std::int64_t>{} : found->shape;
}

std::vector<std::int64_t> NetcdfFile::integers(const std::string& variable, Rows rows) const {
  if (!classic_) return naming(path_, variable, [&] { return read_integers(hdf5(), variable, rows); });
  std::vector<std::int64_t> numbers;
  read_classic([&] {
    if (!convert(classic_->read(variable_of(*classic_, path_, variable), rows), numbers))
      refuse(path_, variable, "does not hold integers");
  });
  return numbers;
}

std::vector<double> NetcdfFile::reals(const std::string& variable, Rows rows) const {
  if (!classic_) return naming(path_, variable, [&] { return read_reals(hdf5(), variable, rows); });
  std::vector<double> numbers;
  read_classic([&] {
    if (!convert(classic_->read(variable_of(*classic_, path_, variable), rows), numbers))
      refuse(path_, variable, "does not hold floating-point numbers");
  });
  return numbers;
}

std::vector<std::string> NetcdfFile::texts(const std::string& variable, Rows rows) const {
  const std::vector<std::int64_t> sizes = shape(variable);
  std::string characters;
  if (classic_) {
    read_classic([&] {
      CdfFile::Values values = classic_->read(variable_of(*classic_, path_, variable), rows);
      if (values.type != Type::text) refuse(path_, variable, "does not hold text");
      characters = std::move(values.bytes);
    });
  } else {
    const NativeValues values = naming(path_, variable, [&] { return read_native(hdf5(), variable, rows); });
    if (values.number_bytes != 1) {
      const Error error = fault_of(path_, variable, "does not hold text");
      if (context_ != nullptr) throw AgreedError(error);  // the type is the same on all ranks
      throw error;
    }
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
    if (values.bytes.empty()) return detail::read_string_attribute(hdf5().id, variable.empty() ? "/" : variable, name);
    if (values.kind != NativeValues::Kind::other) return {};
    return trimmed({reinterpret_cast<const char*>(values.bytes.data()), values.bytes.size()});
  }
  const CdfFile::Variable* of = classic_->find(variable);
  if (of == nullptr && !variable.empty()) return {};
  for (const CdfFile::Attribute& attribute : of == nullptr ? classic_->attributes() : of->attributes)
    if (attribute.name == name && attribute.values.type == Type::text) return trimmed(attribute.values.bytes);
  return {};
}

std::optional<double> NetcdfFile::number(const std::string& variable, const std::string& name) const {
  if (!classic_) return first_number(read_native_attribute(hdf5(), variable, name));
  const CdfFile::Variable* of = classic_->find(variable);
  if (of == nullptr) return {};
  for (const CdfFile::Attribute& attribute : of->attributes) {
    if (attribute.name != name) continue;
    std::vector<double> reals;
    std::vector<std::int64_t> integers;
    if (convert(attribute.values, reals) && !reals.empty()) return reals[0];
    if (convert(attribute.values, integers) && !integers.empty()) return integers[0];
  }
  return {};
}

}  // namespace barrio::files
