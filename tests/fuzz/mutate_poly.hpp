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

/// Change points, segments, holes, regions and options of a .poly file; it stays one that can be read.
/// @param[in,out] room  for the bytes of the file, which are the first ones
/// @param[in] path  of a file that may be written
/// @return the new size; 0, and the bytes as they were, if the file cannot be read or the result has no room
std::size_t mutate_poly(std::span<std::uint8_t> room, std::size_t size, const std::string& path, unsigned seed);

}  // namespace barrio::test
