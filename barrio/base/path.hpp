#pragma once

#include <cstdint>
#include <string>

namespace barrio {

/// Why no file can be put in the place of this name by a rename: "it is a folder", or "it is a device or a pipe, not a
/// file" (a rename over /dev/null takes it from the whole machine). Empty for a plain file, and if there is nothing.
/// Local. Cost: one look-up in the file system.
std::string why_not_replaceable(const std::string& path);

/// Write bytes to a place in an open file, all of them. Local. @return 0, or the system's error number
int write_at(int file, const void* bytes, std::uint64_t n, std::uint64_t place) noexcept;

}  // namespace barrio
