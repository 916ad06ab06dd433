#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace barrio::test {

/// Comments of .poly files that the fuzzer of planar graphs understands.
inline constexpr std::string_view node_word = "#node\n";
inline constexpr std::string_view options_word = "#options ";

/// Change points, segments, holes, regions and options of a .poly file, which remains readable.
/// @param[in,out] room  buffer that starts with the bytes of the file
/// @param[in] path  of a scratch file
/// @return the new size; 0, with unchanged bytes, if the file cannot be read or the result does not fit
std::size_t mutate_poly(std::span<std::uint8_t> room, std::size_t size, const std::string& path, unsigned seed);

}  // namespace barrio::test
