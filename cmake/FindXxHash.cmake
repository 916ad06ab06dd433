# Fast checksums, of which the header suffices. Makes the target XxHash::XxHash.
find_path(XXHASH_INCLUDE_DIR xxhash.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XxHash REQUIRED_VARS XXHASH_INCLUDE_DIR)
mark_as_advanced(XXHASH_INCLUDE_DIR)
if(XxHash_FOUND AND NOT TARGET XxHash::XxHash)
  add_library(XxHash::XxHash INTERFACE IMPORTED)
  set_target_properties(XxHash::XxHash PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${XXHASH_INCLUDE_DIR})
endif()
