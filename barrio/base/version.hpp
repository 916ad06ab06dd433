#pragma once

#include <string_view>

namespace barrio {

/// The release, "0.1.0".
std::string_view version() noexcept;
/// The commit this library was built from, with "+" if the tree had changes; "unknown" outside a checkout.
std::string_view commit() noexcept;
/// Name and version of the compiler.
std::string_view compiler() noexcept;
/// CMake's build type.
std::string_view build_type() noexcept;

}  // namespace barrio
