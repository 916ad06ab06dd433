#pragma once

/// @file Checks of a path before it is written, and writes at an offset.

#include <cstdint>
#include <string>

namespace barrio {

/// Describe why a rename must not replace this path: "it is a folder", or "it is a device or a pipe, not a file" (a
/// rename over /dev/null takes it from the whole machine). Empty for a plain file, and if the path does not exist.
/// Local. Cost: one look-up in the file system.
std::string why_not_replaceable(const std::string& path);

/// Format " Did you mean 'x'?" for a file that does not exist, from the names in its folder; empty if none is near.
/// Local. Cost: one list of the folder, of at most 10 000 names.
std::string did_you_mean_file(const std::string& path);

/// Write all bytes at an offset in an open file. Local. @return 0, or the system's error number
int write_at(int file, const void* bytes, std::uint64_t n, std::uint64_t place) noexcept;

}  // namespace barrio
