#pragma once

#include <string>

namespace barrio {

/// Why no file can be put in the place of this name by a rename: "it is a folder", or "it is a device or a pipe, not a
/// file" (a rename over /dev/null takes it from the whole machine). Empty for a plain file, and if there is nothing.
/// Local. Cost: one look-up in the file system.
std::string why_not_replaceable(const std::string& path);

}  // namespace barrio
