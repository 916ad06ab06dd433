#pragma once

#include <hdf5.h>

#include <string>

namespace barrio::files::detail {

/// Whether a path exists, all its parts. Local.
bool has_link(hid_t where, const std::string& path);

/// Refuse a dataset that announces more than the file can hold. All ranks see the same sizes, so they refuse together.
/// @throws Error{bad_input} naming `path`
void check_size_of(hid_t dataset, hid_t type, hid_t space, const std::string& path);

}  // namespace barrio::files::detail
