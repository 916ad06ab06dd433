#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "barrio/io/text/scanner.hpp"
#include "barrio/io/vtk/vtk_grid.hpp"

namespace barrio::io::detail {

/// Type of a number in a VTK file.
enum class VtkNumber : std::uint8_t { int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64 };

constexpr std::int64_t bytes_of(VtkNumber number) noexcept {
  constexpr std::array<std::int64_t, 10> sizes{1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  return sizes[static_cast<std::size_t>(number)];
}
constexpr bool is_integer(VtkNumber number) noexcept { return number < VtkNumber::float32; }

/// Return the number type of a name in legacy files, in small letters; empty for strings, bits and unknown names.
std::optional<VtkNumber> vtk_number(std::string_view legacy_name);

/// Append numbers, given as the bytes of the file. Integers beyond signed 64 bits become the largest.
/// @param bytes  a whole count of numbers of that type
template <class T>
void append_vtk_numbers(std::span<const std::byte> bytes, VtkNumber number, std::endian order, std::vector<T>& out);

/// Append n numbers from where the scanner stands: of a text, or big-endian.
template <class T>
void read_vtk_numbers(Scanner& in, VtkNumber number, bool is_binary, std::int64_t n, std::vector<T>& out);

/// Append them to an array.
void read_vtk_numbers(Scanner& in, VtkNumber number, bool is_binary, std::int64_t n, VtkArray& out);

}  // namespace barrio::io::detail
