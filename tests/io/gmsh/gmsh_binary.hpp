#pragma once

#include <filesystem>

namespace barrio::test {

/// Convert a Gmsh 4.1 text file to Gmsh 4.1 binary. Supports physical names, entities, nodes without parameters and
/// elements.
void write_gmsh_binary(const std::filesystem::path& text, const std::filesystem::path& binary);

}  // namespace barrio::test
