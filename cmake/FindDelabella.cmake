# delabella, for benchmarks to compare with: its source, put into ${BARRIO_PEERS_DIR}/delabella (delabella.cpp, delabella.h,
# predicates.h). No registry has it, and it is no part of barrio. Makes the target Delabella::Delabella.
find_path(Delabella_SOURCE_DIR delabella.cpp HINTS ${BARRIO_PEERS_DIR} PATH_SUFFIXES delabella NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Delabella REQUIRED_VARS Delabella_SOURCE_DIR)
if(Delabella_FOUND AND NOT TARGET Delabella::Delabella)
  add_library(peer_delabella STATIC EXCLUDE_FROM_ALL ${Delabella_SOURCE_DIR}/delabella.cpp)
  set_target_properties(peer_delabella PROPERTIES UNITY_BUILD OFF)
  target_include_directories(peer_delabella SYSTEM INTERFACE ${Delabella_SOURCE_DIR})
  target_compile_options(peer_delabella PRIVATE -O3 -ffp-contract=off -w)
  add_library(Delabella::Delabella ALIAS peer_delabella)
endif()
mark_as_advanced(Delabella_SOURCE_DIR)
