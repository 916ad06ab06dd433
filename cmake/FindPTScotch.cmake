# Makes the target PTScotch::PTScotch. Debian builds it for Open MPI only; the caller decides if that fits.
find_path(PTScotch_INCLUDE_DIR ptscotch.h PATH_SUFFIXES scotch)
find_library(PTScotch_LIBRARY NAMES ptscotch)
find_library(PTScotch_SCOTCH_LIBRARY NAMES scotch)
find_library(PTScotch_ERROR_LIBRARY NAMES ptscotcherr)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PTScotch REQUIRED_VARS PTScotch_LIBRARY PTScotch_SCOTCH_LIBRARY
                                  PTScotch_ERROR_LIBRARY PTScotch_INCLUDE_DIR)
if(PTScotch_FOUND AND NOT TARGET PTScotch::PTScotch)
  add_library(PTScotch::PTScotch INTERFACE IMPORTED)
  target_include_directories(PTScotch::PTScotch SYSTEM INTERFACE ${PTScotch_INCLUDE_DIR})
  target_link_libraries(PTScotch::PTScotch INTERFACE ${PTScotch_LIBRARY} ${PTScotch_SCOTCH_LIBRARY}
                        ${PTScotch_ERROR_LIBRARY})
endif()
mark_as_advanced(PTScotch_INCLUDE_DIR PTScotch_LIBRARY PTScotch_SCOTCH_LIBRARY PTScotch_ERROR_LIBRARY)
