#pragma once

#include <filesystem>

namespace barrio::test {

/// Write a Gmsh 4.1 text file as Gmsh 4.1 binary. Knows physical names, entities, nodes without parameters and
/// elements.
void write_gmsh_binary(const std::filesystem::path& text, const std::filesystem::path& binary);

}  // namespace barrio::test
