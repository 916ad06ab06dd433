# Makes the target PCU::PCU. No registry has it: BARRIO_PEERS_DIR/pcu is where the core of SCOREC was installed, or its
# folder pcu alone.
find_path(PCU_INCLUDE_DIR PCU.h HINTS ${BARRIO_PEERS_DIR}/pcu PATH_SUFFIXES include)
find_library(PCU_LIBRARY NAMES pcu HINTS ${BARRIO_PEERS_DIR}/pcu PATH_SUFFIXES lib)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PCU REQUIRED_VARS PCU_LIBRARY PCU_INCLUDE_DIR)
if(PCU_FOUND AND NOT TARGET PCU::PCU)
  add_library(PCU::PCU INTERFACE IMPORTED)
  target_include_directories(PCU::PCU SYSTEM INTERFACE ${PCU_INCLUDE_DIR})
  target_link_libraries(PCU::PCU INTERFACE ${PCU_LIBRARY})
endif()
mark_as_advanced(PCU_INCLUDE_DIR PCU_LIBRARY)
