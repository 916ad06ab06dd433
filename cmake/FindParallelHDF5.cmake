# Find the HDF5 that was built for one MPI. CMake's FindHDF5 takes whichever flavour comes first, and the wrong one
# links and then dies at run time, so the flavour is named.
#   ParallelHDF5_FLAVOUR   openmpi, mpich or other
# Makes the target ParallelHDF5::C.
find_package(PkgConfig QUIET)
set(ParallelHDF5_FOUND FALSE)
if(PKG_CONFIG_FOUND AND NOT TARGET ParallelHDF5::C)
  foreach(name IN ITEMS hdf5-${ParallelHDF5_FLAVOUR} hdf5)
    if(NOT ParallelHDF5_LIBRARY)
      pkg_check_modules(pc_hdf5_${name} QUIET ${name})
      if(pc_hdf5_${name}_FOUND)
        find_path(ParallelHDF5_INCLUDE_DIR hdf5.h HINTS ${pc_hdf5_${name}_INCLUDE_DIRS} NO_DEFAULT_PATH)
        find_library(ParallelHDF5_LIBRARY NAMES hdf5 HINTS ${pc_hdf5_${name}_LIBRARY_DIRS} NO_DEFAULT_PATH)
        set(ParallelHDF5_VERSION ${pc_hdf5_${name}_VERSION})
      endif()
    endif()
  endforeach()
endif()
if(NOT ParallelHDF5_LIBRARY AND NOT TARGET ParallelHDF5::C)
  # Clusters: a module sets HDF5_DIR or HDF5_ROOT.
  find_path(ParallelHDF5_INCLUDE_DIR hdf5.h HINTS ENV HDF5_DIR ENV HDF5_ROOT PATH_SUFFIXES include)
  find_library(ParallelHDF5_LIBRARY NAMES hdf5 HINTS ENV HDF5_DIR ENV HDF5_ROOT PATH_SUFFIXES lib lib64)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ParallelHDF5 REQUIRED_VARS ParallelHDF5_LIBRARY ParallelHDF5_INCLUDE_DIR
  VERSION_VAR ParallelHDF5_VERSION
  REASON_FAILURE_MESSAGE "install the HDF5 built for ${ParallelHDF5_FLAVOUR} (Debian: libhdf5-${ParallelHDF5_FLAVOUR}-dev)")
if(ParallelHDF5_FOUND AND NOT TARGET ParallelHDF5::C)
  add_library(ParallelHDF5::C INTERFACE IMPORTED)
  target_include_directories(ParallelHDF5::C SYSTEM INTERFACE ${ParallelHDF5_INCLUDE_DIR})
  target_link_libraries(ParallelHDF5::C INTERFACE ${ParallelHDF5_LIBRARY})
endif()
mark_as_advanced(ParallelHDF5_LIBRARY ParallelHDF5_INCLUDE_DIR)
