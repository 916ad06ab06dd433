# The formula parser of case files. Sets muParser_FOUND, and makes the target muParser::muParser.
find_path(muParser_INCLUDE_DIR muParser.h)
find_library(muParser_LIBRARY muparser)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(muParser REQUIRED_VARS muParser_LIBRARY muParser_INCLUDE_DIR)
mark_as_advanced(muParser_INCLUDE_DIR muParser_LIBRARY)
if(muParser_FOUND AND NOT TARGET muParser::muParser)
  add_library(muParser::muParser UNKNOWN IMPORTED)
  set_target_properties(muParser::muParser PROPERTIES
    IMPORTED_LOCATION ${muParser_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${muParser_INCLUDE_DIR})
endif()
