#pragma once

#include "barrio/files/hdf5.hpp"

namespace barrio::files::detail {

/// Properties of objects that do not keep the time when they were made: so that the same contents are the same file.
inline Handle without_times(hid_t kind) {
  Handle properties(H5Pcreate(kind), &H5Pclose);
  H5Pset_obj_track_times(properties.get(), false);
  return properties;
}

}  // namespace barrio::files::detail
