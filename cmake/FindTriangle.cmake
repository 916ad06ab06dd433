# Shewchuk's Triangle, for benchmarks to compare with: its C source, as the sdist of PyPI's `triangle` has it in c/, put
# into ${BARRIO_PEERS_DIR}/triangle. Not free for commerce, and no part of barrio. Makes the target Triangle::Triangle.
find_path(Triangle_SOURCE_DIR triangle.c HINTS ${BARRIO_PEERS_DIR} PATH_SUFFIXES triangle triangle/c NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Triangle REQUIRED_VARS Triangle_SOURCE_DIR)
if(Triangle_FOUND AND NOT TARGET Triangle::Triangle)
  add_library(peer_triangle STATIC EXCLUDE_FROM_ALL ${Triangle_SOURCE_DIR}/triangle.c)
  target_include_directories(peer_triangle SYSTEM INTERFACE ${Triangle_SOURCE_DIR})
  # its own makefile's options, with contraction off, which its predicates ask for
  target_compile_definitions(peer_triangle PRIVATE TRILIBRARY NO_TIMER PUBLIC ANSI_DECLARATORS REAL=double VOID=void)
  target_compile_options(peer_triangle PRIVATE -O3 -ffp-contract=off -w)
  add_library(Triangle::Triangle ALIAS peer_triangle)
endif()
mark_as_advanced(Triangle_SOURCE_DIR)
