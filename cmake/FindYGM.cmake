# Makes the target YGM::YGM, which is headers alone. No registry has it: BARRIO_PEERS_DIR/ygm is where it was installed,
# or its sources. It wants cereal (libcereal-dev).
find_path(YGM_INCLUDE_DIR ygm/comm.hpp HINTS ${BARRIO_PEERS_DIR}/ygm PATH_SUFFIXES include)
find_path(YGM_CEREAL_INCLUDE_DIR cereal/cereal.hpp HINTS ${BARRIO_PEERS_DIR}/ygm PATH_SUFFIXES include)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(YGM REQUIRED_VARS YGM_INCLUDE_DIR YGM_CEREAL_INCLUDE_DIR)
if(YGM_FOUND AND NOT TARGET YGM::YGM)
  add_library(YGM::YGM INTERFACE IMPORTED)
  target_include_directories(YGM::YGM SYSTEM INTERFACE ${YGM_INCLUDE_DIR} ${YGM_CEREAL_INCLUDE_DIR})
endif()
mark_as_advanced(YGM_INCLUDE_DIR YGM_CEREAL_INCLUDE_DIR)
