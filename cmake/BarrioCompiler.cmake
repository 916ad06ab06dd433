# Compiler settings of barrio's own targets, as one interface target.
add_library(barrio_compiler INTERFACE)
target_compile_features(barrio_compiler INTERFACE cxx_std_20)
# Sums that must be the same on every rank count may not be fused differently in two loops.
target_compile_options(barrio_compiler INTERFACE -ffp-contract=off)
target_compile_definitions(barrio_compiler INTERFACE BARRIO_ASSERT_LEVEL=${BARRIO_ASSERT_LEVEL})

add_library(barrio_warnings INTERFACE)
target_compile_options(barrio_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow)
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Clang also warns of names of other sources in the unit. Builds of each source alone look for the rest.
  target_compile_options(barrio_warnings INTERFACE -Wno-shadow)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # Clang counts changes of sign among the conversions, GCC does not.
  target_compile_options(barrio_warnings INTERFACE -Wno-sign-conversion)
endif()
if(BARRIO_DEVELOPER)
  target_compile_options(barrio_warnings INTERFACE -Werror)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    # GCC 12 sees uninitialised members inside std::function once the sanitizers have instrumented it.
    target_compile_options(barrio_warnings INTERFACE -Wno-error=maybe-uninitialized)
  endif()
endif()

# A compiler cache, where there is one, that knows the sources again in another folder: paths inside this tree count from
# its root. What would name the folder itself stands in sources of its own (paths.cpp).
option(BARRIO_CCACHE "compile through ccache if it is installed" ${PROJECT_IS_TOP_LEVEL})
if(BARRIO_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(BARRIO_CCACHE_PROGRAM ccache)
  mark_as_advanced(BARRIO_CCACHE_PROGRAM)
  if(BARRIO_CCACHE_PROGRAM)
    set(barrio_launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
        ${BARRIO_CCACHE_PROGRAM})
    set(CMAKE_C_COMPILER_LAUNCHER ${barrio_launcher})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${barrio_launcher})
    add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
  endif()
endif()

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endif()

# The commit goes into every result. It is read at configure time, and a build configures anew after each commit: the log
# of HEAD tells of them.
set(BARRIO_COMMIT unknown)
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${PROJECT_SOURCE_DIR} describe --always --dirty=+ --abbrev=12
                  OUTPUT_VARIABLE barrio_described OUTPUT_STRIP_TRAILING_WHITESPACE
                  RESULT_VARIABLE barrio_git_failed ERROR_QUIET)
  if(NOT barrio_git_failed)
    set(BARRIO_COMMIT ${barrio_described})
    execute_process(COMMAND ${GIT_EXECUTABLE} -C ${PROJECT_SOURCE_DIR} rev-parse --path-format=absolute --git-path logs/HEAD
                    OUTPUT_VARIABLE barrio_head_log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(EXISTS "${barrio_head_log}")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${barrio_head_log})
    endif()
  endif()
endif()
