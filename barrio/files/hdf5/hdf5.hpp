#pragma once

#include <hdf5.h>

#include <string>

namespace barrio::files::detail {

/// Tell whether a path exists with all its steps. Local.
bool has_link(hid_t where, const std::string& path);

/// Refuse a dataset that announces more data than the file can hold. All ranks see the same sizes, so they refuse
/// together.
/// @throws Error{bad_input} naming `path`
void check_size_of(hid_t dataset, hid_t type, hid_t space, const std::string& path);

}  // namespace barrio::files::detail
