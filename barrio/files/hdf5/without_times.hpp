#pragma once

#include "barrio/files/hdf5.hpp"

namespace barrio::files::detail {

/// Make properties of objects without creation times, so the same contents give the same file.
inline Handle without_times(hid_t kind) {
  Handle properties(H5Pcreate(kind), &H5Pclose);
  H5Pset_obj_track_times(properties.get(), false);
  return properties;
}

}  // namespace barrio::files::detail
