#pragma once

/// @file Version, commit, compiler and build type of the library.

#include <string_view>

namespace barrio {

/// Return the release, "0.1.0".
std::string_view version() noexcept;
/// Return the commit that this library was built from, with "+" if the tree had changes; "unknown" outside a checkout.
std::string_view commit() noexcept;
/// Return the name and version of the compiler.
std::string_view compiler() noexcept;
/// Return CMake's build type.
std::string_view build_type() noexcept;

}  // namespace barrio
