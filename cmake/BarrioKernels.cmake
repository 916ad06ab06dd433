# barrio_add_kernels(room SOURCES ...)
#
# Compile sources once for each instruction set, so that one program runs at its best on every processor: a source puts
# all it defines into the namespace BARRIO_KERNEL_SET, and a table of its functions is chosen at start by
# chosen_instruction_set(). All sets give the same bits: contraction is off, and no source depends on how many lanes a
# vector has.
#
# Such a source includes no header whose inline functions others use too: the linker keeps one copy of them, and may
# keep that of an instruction set which the processor has not. tests/architecture looks at the objects.
function(barrio_add_kernels room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES")
  set(sets scalar baseline)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND sets avx2 avx512)
  endif()
  set(flags_avx2 -mavx2)
  set(flags_avx512 -mavx2 -mavx512f -mavx512dq -mavx512vl -mprefer-vector-width=512)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # GCC 12 finds uninitialised registers in its own header of these instructions.
    list(APPEND flags_avx512 -Wno-uninitialized -Wno-maybe-uninitialized)
  endif()
  foreach(set IN LISTS sets)
    set(target barrio_${room}_kernels_${set})
    add_library(${target} OBJECT ${arg_SOURCES})
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
    target_compile_definitions(${target} PRIVATE BARRIO_KERNEL_SET=kernels_${set})
    if(set STREQUAL scalar)
      target_compile_definitions(${target} PRIVATE BARRIO_KERNEL_IS_SCALAR)
    endif()
    target_compile_options(${target} PRIVATE -fno-exceptions ${flags_${set}})
    # sanitizers look at the source once: with wide vectors the compiler takes ten minutes for it
    if(NOT set STREQUAL scalar AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
      target_compile_options(${target} PRIVATE -fno-sanitize=all)
    endif()
    target_link_libraries(${target} PRIVATE barrio_compiler barrio_warnings)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_sources(barrio_${room} PRIVATE $<TARGET_OBJECTS:${target}>)
  endforeach()
endfunction()
