# Makes the target PETSc::PETSc. Debian builds it for Open MPI only; the caller decides if that fits.
# Clusters: a module sets PETSC_DIR, and PETSC_ARCH where PETSc was not installed.
find_package(PkgConfig QUIET)
if(PKG_CONFIG_FOUND)
  pkg_check_modules(pc_petsc QUIET petsc)
endif()
find_path(PETSc_INCLUDE_DIR petscsf.h HINTS ${pc_petsc_INCLUDE_DIRS} ENV PETSC_DIR PATH_SUFFIXES include petsc)
find_path(PETSc_CONFIG_INCLUDE_DIR petscconf.h
  HINTS ${pc_petsc_INCLUDE_DIRS} $ENV{PETSC_DIR}/$ENV{PETSC_ARCH} ENV PETSC_DIR PATH_SUFFIXES include petsc)
find_library(PETSc_LIBRARY NAMES ${pc_petsc_LIBRARIES} petsc petsc_real
  HINTS ${pc_petsc_LIBRARY_DIRS} $ENV{PETSC_DIR}/$ENV{PETSC_ARCH} ENV PETSC_DIR PATH_SUFFIXES lib)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PETSc REQUIRED_VARS PETSc_LIBRARY PETSc_INCLUDE_DIR PETSc_CONFIG_INCLUDE_DIR
  VERSION_VAR pc_petsc_VERSION)
if(PETSc_FOUND AND NOT TARGET PETSc::PETSc)
  add_library(PETSc::PETSc INTERFACE IMPORTED)
  target_include_directories(PETSc::PETSc SYSTEM INTERFACE ${PETSc_INCLUDE_DIR} ${PETSc_CONFIG_INCLUDE_DIR})
  target_link_libraries(PETSc::PETSc INTERFACE ${PETSc_LIBRARY})
endif()
mark_as_advanced(PETSc_INCLUDE_DIR PETSc_CONFIG_INCLUDE_DIR PETSc_LIBRARY)
