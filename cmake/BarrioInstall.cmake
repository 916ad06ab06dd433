include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY BARRIO_BUILT_ROOMS)
set(barrio_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/barrio)

install(TARGETS ${rooms} barrio_barrio barrio_compiler barrio_mpi_library EXPORT barrioTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(EXPORT barrioTargets NAMESPACE barrio:: DESTINATION ${barrio_config_dir} COMPONENT dev)
# Headers are public as direct children of their room; public templates need those in detail/.
file(GLOB headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/barrio/*.hpp ${PROJECT_SOURCE_DIR}/barrio/*/*.hpp
     ${PROJECT_SOURCE_DIR}/barrio/*/detail/*.hpp)
foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder} COMPONENT dev)
endforeach()

if(TARGET barrio_command)
  install(TARGETS barrio_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/tools/doctor DESTINATION ${CMAKE_INSTALL_DATADIR}/barrio COMPONENT tools)
endif()
foreach(preloaded IN ITEMS barrio_yield barrio_record)
  if(TARGET ${preloaded})
    install(TARGETS ${preloaded} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/barrio COMPONENT tools)
  endif()
endforeach()

# The Python package, for the Python that it was built with; the command finds its reports there.
set(barrio_python_dir ${CMAKE_INSTALL_LIBDIR}/barrio/python)
if(TARGET barrio_python)
  install(TARGETS barrio_python LIBRARY DESTINATION ${barrio_python_dir}/barrio COMPONENT python)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/barrio DESTINATION ${barrio_python_dir} COMPONENT python PATTERN __pycache__ EXCLUDE)
  install(FILES ${PROJECT_BINARY_DIR}/python/barrio/_build.py ${PROJECT_BINARY_DIR}/python/barrio/_core.pyi
          DESTINATION ${barrio_python_dir}/barrio COMPONENT python)
endif()

# All that has to be built first; BarrioInstallCheck looks for the files.
get_property(benchmarks GLOBAL PROPERTY BARRIO_INSTALLED_BENCHMARKS)
set(installed ${rooms})
foreach(target IN LISTS benchmarks ITEMS barrio_command barrio_yield barrio_record barrio_python)
  if(TARGET ${target})
    list(APPEND installed ${target})
  endif()
endforeach()
add_custom_target(barrio-install)
add_dependencies(barrio-install ${installed})
if(TARGET barrio_python_stub)
  add_dependencies(barrio-install barrio_python_stub)
endif()
list(TRANSFORM installed REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE files)
list(JOIN files "\n" files)
file(GENERATE OUTPUT ${barrio_installed_list} CONTENT "${files}\n")

# Whoever uses an installed barrio needs the same MPI and the libraries it was built with.
get_property(BARRIO_HAS_METIS GLOBAL PROPERTY BARRIO_HAS_METIS)
get_property(BARRIO_HAS_PTSCOTCH GLOBAL PROPERTY BARRIO_HAS_PTSCOTCH)
get_property(BARRIO_HAS_ZOLTAN GLOBAL PROPERTY BARRIO_HAS_ZOLTAN)
get_property(BARRIO_HAS_MUPARSER GLOBAL PROPERTY BARRIO_HAS_MUPARSER)
get_property(BARRIO_HAS_PNG GLOBAL PROPERTY BARRIO_HAS_PNG)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/barrioConfig.cmake.in ${PROJECT_BINARY_DIR}/barrioConfig.cmake
                              INSTALL_DESTINATION ${barrio_config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/barrioConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/barrioConfig.cmake ${PROJECT_BINARY_DIR}/barrioConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindParallelHDF5.cmake ${PROJECT_SOURCE_DIR}/cmake/FindMETIS.cmake ${PROJECT_SOURCE_DIR}/cmake/FindGMP.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindPTScotch.cmake ${PROJECT_SOURCE_DIR}/cmake/FindZoltan.cmake ${PROJECT_SOURCE_DIR}/cmake/FindmuParser.cmake
        DESTINATION ${barrio_config_dir} COMPONENT dev)
include(BarrioPkgConfig)
include(BarrioPackages)
