# Find the HDF5 that was built for one MPI. CMake's FindHDF5 takes whichever flavour comes first, and the wrong one
# links and then dies at run time, so the flavour is named, and what is found is held against it.
#   ParallelHDF5_FLAVOUR   openmpi, mpich or other
# Makes the target ParallelHDF5::C.
find_package(PkgConfig QUIET)
set(ParallelHDF5_FOUND FALSE)
if(NOT TARGET ParallelHDF5::C)
  # Clusters: a module sets HDF5_DIR or HDF5_ROOT.
  if(DEFINED ENV{HDF5_DIR} OR DEFINED ENV{HDF5_ROOT})
    find_path(ParallelHDF5_INCLUDE_DIR hdf5.h HINTS ENV HDF5_DIR ENV HDF5_ROOT PATH_SUFFIXES include NO_DEFAULT_PATH)
    find_library(ParallelHDF5_LIBRARY NAMES hdf5 HINTS ENV HDF5_DIR ENV HDF5_ROOT PATH_SUFFIXES lib lib64 NO_DEFAULT_PATH)
  endif()
  if(PKG_CONFIG_FOUND)
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
  find_path(ParallelHDF5_INCLUDE_DIR hdf5.h)
  find_library(ParallelHDF5_LIBRARY NAMES hdf5)
endif()

# Why an HDF5 does not fit ParallelHDF5_FLAVOUR; empty if it does, or if that cannot be told.
function(_parallel_hdf5_misfit include_dir library result)
  file(GLOB settings ${include_dir}/H5pubconf*.h)  # one for each word size on some systems
  set(parallel)
  foreach(file IN LISTS settings)
    file(STRINGS ${file} found REGEX "^#define H5_HAVE_PARALLEL 1")
    list(APPEND parallel ${found})
  endforeach()
  if(settings AND NOT parallel)
    set(${result} "has no parallel input and output (H5_HAVE_PARALLEL in ${include_dir}/H5pubconf.h)" PARENT_SCOPE)
    return()
  endif()
  # Open MPI's predefined handles are symbols of these names; MPICH's are numbers.
  file(STRINGS ${library} handles REGEX "ompi_mpi_" LIMIT_COUNT 1)
  set(${result} "" PARENT_SCOPE)
  if(handles AND ParallelHDF5_FLAVOUR STREQUAL mpich)
    set(${result} "was built for Open MPI, barrio is built for MPICH" PARENT_SCOPE)
  elseif(NOT handles AND ParallelHDF5_FLAVOUR STREQUAL openmpi)
    set(${result} "was not built for Open MPI, as barrio is" PARENT_SCOPE)
  endif()
endfunction()

set(_parallel_hdf5_remedy "install the HDF5 built for ${ParallelHDF5_FLAVOUR} (Debian: libhdf5-${ParallelHDF5_FLAVOUR}-dev), \
or set the environment variable HDF5_ROOT to where it is")
set(_parallel_hdf5_reason "${_parallel_hdf5_remedy}")
if(ParallelHDF5_LIBRARY AND ParallelHDF5_INCLUDE_DIR)
  _parallel_hdf5_misfit(${ParallelHDF5_INCLUDE_DIR} ${ParallelHDF5_LIBRARY} _parallel_hdf5_misfit)
  if(_parallel_hdf5_misfit)
    set(_parallel_hdf5_reason "${ParallelHDF5_LIBRARY} ${_parallel_hdf5_misfit}: ${_parallel_hdf5_remedy}")
    # Not kept: the next run of CMake looks again.
    unset(ParallelHDF5_LIBRARY CACHE)
    unset(ParallelHDF5_INCLUDE_DIR CACHE)
  endif()
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ParallelHDF5 REQUIRED_VARS ParallelHDF5_LIBRARY ParallelHDF5_INCLUDE_DIR
  VERSION_VAR ParallelHDF5_VERSION
  REASON_FAILURE_MESSAGE "${_parallel_hdf5_reason}")
if(ParallelHDF5_FOUND AND NOT TARGET ParallelHDF5::C)
  add_library(ParallelHDF5::C INTERFACE IMPORTED)
  target_include_directories(ParallelHDF5::C SYSTEM INTERFACE ${ParallelHDF5_INCLUDE_DIR})
  target_link_libraries(ParallelHDF5::C INTERFACE ${ParallelHDF5_LIBRARY})
endif()
mark_as_advanced(ParallelHDF5_LIBRARY ParallelHDF5_INCLUDE_DIR)
