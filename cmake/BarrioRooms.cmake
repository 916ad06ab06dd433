# The rooms of the house and who may know whom. This list is the architecture: targets are linked by it, and
# tests/architecture fails on any other include. A room may include the rooms it names here and itself.
set(BARRIO_ROOMS base geometry mpi probe files exchange partition mobile rankmap mesh io adapt amr cases delaunay)
set(BARRIO_EDGES_base)
set(BARRIO_EDGES_geometry base)
set(BARRIO_EDGES_mpi base)
set(BARRIO_EDGES_probe base mpi)
set(BARRIO_EDGES_files base geometry mpi)
set(BARRIO_EDGES_exchange base mpi)
set(BARRIO_EDGES_partition base geometry mpi exchange)
set(BARRIO_EDGES_mobile base mpi exchange)
set(BARRIO_EDGES_rankmap base mpi exchange)
set(BARRIO_EDGES_mesh base geometry mpi exchange partition)
set(BARRIO_EDGES_io base mpi files exchange partition mesh)
set(BARRIO_EDGES_adapt base geometry mpi exchange partition mesh)
set(BARRIO_EDGES_amr base geometry mpi files exchange)
set(BARRIO_EDGES_cases base geometry mpi exchange amr)
set(BARRIO_EDGES_delaunay base geometry mpi files exchange mobile)
set(BARRIO_EDGES_apps base geometry mpi probe files exchange partition rankmap mesh io adapt amr cases delaunay)
# Rooms that also build against the simulator, which has no HDF5; amr without its files.
set(BARRIO_SMPI_ROOMS base geometry mpi exchange partition rankmap mesh adapt amr)

# barrio_add_room(name SOURCES ... [LINK ...] [PRIVATE_LINK ...])
function(barrio_add_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK;PRIVATE_LINK")
  set(target barrio_${room})
  add_library(${target} ${arg_SOURCES})
  add_library(barrio::${room} ALIAS ${target})
  # Before 1.0 a minor version may change interfaces.
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${room} VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PUBLIC barrio_compiler ${arg_LINK} PRIVATE $<BUILD_INTERFACE:barrio_warnings> ${arg_PRIVATE_LINK})
  foreach(known IN LISTS BARRIO_EDGES_${room})
    if(NOT BARRIO_MPI_FLAVOUR STREQUAL smpi OR known IN_LIST BARRIO_SMPI_ROOMS)
      target_link_libraries(${target} PUBLIC barrio::${known})
    endif()
  endforeach()
  if(BARRIO_PRECOMPILED_HEADERS)
    barrio_precompile_headers(${room})
  endif()
  set_property(GLOBAL APPEND PROPERTY BARRIO_BUILT_ROOMS ${target})
endfunction()

# Share one set of headers of others, parsed once for `mpi`, among the rooms that know it.
function(barrio_precompile_headers room)
  if(room STREQUAL mpi)
    set(headers algorithm array cmath cstdint functional map memory numeric optional ranges span string vector mpi.h
                fmt/format.h fmt/ranges.h)
    list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
    target_precompile_headers(barrio_mpi PRIVATE ${headers})
  elseif(mpi IN_LIST BARRIO_EDGES_${room})
    target_precompile_headers(barrio_${room} REUSE_FROM barrio_mpi)
  endif()
endfunction()

# Install a benchmark with the others. What is installed has to be built: see barrio-install.
function(barrio_install_benchmark target)
  install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT bench)
  set_property(GLOBAL APPEND PROPERTY BARRIO_INSTALLED_BENCHMARKS ${target})
endfunction()
