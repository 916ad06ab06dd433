#include "barrio/io/vtk/vtk_numbers.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace barrio::io::detail {
namespace {

template <class From, class To>
void append_as(std::span<const std::byte> bytes, std::endian order, std::vector<To>& out) {
  out.reserve(out.size() + bytes.size() / sizeof(From));
  for (std::size_t at = 0; at + sizeof(From) <= bytes.size(); at += sizeof(From)) {
    std::array<std::byte, sizeof(From)> raw;
    std::memcpy(raw.data(), &bytes[at], sizeof(From));
    if (order != std::endian::native) std::ranges::reverse(raw);
    const auto item = std::bit_cast<From>(raw);
    if constexpr (std::is_same_v<From, std::uint64_t> && std::is_same_v<To, std::int64_t>)
      out.push_back(static_cast<To>(std::min<std::uint64_t>(item, std::numeric_limits<To>::max())));
    else
      out.push_back(static_cast<To>(item));
  }
}

}  // namespace

std::optional<VtkNumber> vtk_number(std::string_view name) {
  struct Name {
    std::string_view text;
    VtkNumber number;
  };
  // vtkIdType is written as an int, whatever its type in memory.
  static constexpr std::array<Name, 21> names{{{"char", VtkNumber::int8},
                                               {"signed_char", VtkNumber::int8},
                                               {"unsigned_char", VtkNumber::uint8},
                                               {"short", VtkNumber::int16},
                                               {"unsigned_short", VtkNumber::uint16},
                                               {"int", VtkNumber::int32},
                                               {"unsigned_int", VtkNumber::uint32},
                                               {"long", VtkNumber::int64},
                                               {"unsigned_long", VtkNumber::uint64},
                                               {"vtkidtype", VtkNumber::int32},
                                               {"float", VtkNumber::float32},
                                               {"double", VtkNumber::float64},
                                               {"vtktypeint8", VtkNumber::int8},
                                               {"vtktypeuint8", VtkNumber::uint8},
                                               {"vtktypeint16", VtkNumber::int16},
                                               {"vtktypeuint16", VtkNumber::uint16},
                                               {"vtktypeint32", VtkNumber::int32},
                                               {"vtktypeuint32", VtkNumber::uint32},
                                               {"vtktypeint64", VtkNumber::int64},
                                               {"vtktypeuint64", VtkNumber::uint64},
                                               {"vtktypefloat64", VtkNumber::float64}}};
  const auto* known = std::ranges::find(names, name, &Name::text);
  // FreeFEM writes "int1"; VTK looks at the beginning of such names only.
  while (known == names.end() && !name.empty() && name.back() >= '0' && name.back() <= '9') {
    name.remove_suffix(1);
    known = std::ranges::find(names, name, &Name::text);
  }
  return known == names.end() ? std::nullopt : std::optional(known->number);
}

template <class T>
void append_vtk_numbers(std::span<const std::byte> bytes, VtkNumber number, std::endian order, std::vector<T>& out) {
  switch (number) {
    case VtkNumber::int8: return append_as<std::int8_t>(bytes, order, out);
    case VtkNumber::uint8: return append_as<std::uint8_t>(bytes, order, out);
    case VtkNumber::int16: return append_as<std::int16_t>(bytes, order, out);
    case VtkNumber::uint16: return append_as<std::uint16_t>(bytes, order, out);
    case VtkNumber::int32: return append_as<std::int32_t>(bytes, order, out);
    case VtkNumber::uint32: return append_as<std::uint32_t>(bytes, order, out);
    case VtkNumber::int64: return append_as<std::int64_t>(bytes, order, out);
    case VtkNumber::uint64: return append_as<std::uint64_t>(bytes, order, out);
    case VtkNumber::float32: return append_as<float>(bytes, order, out);
    case VtkNumber::float64: return append_as<double>(bytes, order, out);
  }
}
template void append_vtk_numbers(std::span<const std::byte>, VtkNumber, std::endian, std::vector<std::int64_t>&);
template void append_vtk_numbers(std::span<const std::byte>, VtkNumber, std::endian, std::vector<double>&);

template <class T>
void read_vtk_numbers(Scanner& in, VtkNumber number, bool is_binary, std::int64_t n, std::vector<T>& out) {
  out.reserve(out.size() + n);
  if (!is_binary) {
    for (std::int64_t i = 0; i < n; ++i) {
      const T item = in.number_word<T>();
      out.push_back(number == VtkNumber::float32 ? static_cast<T>(static_cast<float>(item)) : item);
    }
    return;
  }
  std::vector<std::byte> bytes;
  constexpr std::int64_t at_once = 1 << 14;
  for (std::int64_t done = 0; done < n; done += at_once) {
    bytes.resize(std::min(at_once, n - done) * bytes_of(number));
    in.binary(std::span<std::byte>(bytes));
    append_vtk_numbers(bytes, number, std::endian::big, out);
  }
}
template void read_vtk_numbers(Scanner&, VtkNumber, bool, std::int64_t, std::vector<std::int64_t>&);
template void read_vtk_numbers(Scanner&, VtkNumber, bool, std::int64_t, std::vector<double>&);

void read_vtk_numbers(Scanner& in, VtkNumber number, bool is_binary, std::int64_t n, VtkArray& out) {
  std::visit([&](auto& values) { read_vtk_numbers(in, number, is_binary, n, values); }, out.values);
}

}  // namespace barrio::io::detail
