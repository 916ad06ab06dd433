# barrio_add_mpi_test(name SOURCES ... RANKS 1 2 4 ... [FULL_RANKS 3 7 ...] [LABELS ...] [TIMEOUT seconds] [LINK ...])
#
# One GoogleTest binary, launched once per rank count, as `<name>_npN`. RANKS run in the fast set (if LABELS says
# `fast`), FULL_RANKS in the full set only. Under MPICH all of them are full. The limit per single test is TIMEOUT
# (default 180 s); a rank that exceeds it is named, with the test it is in.
find_package(GTest QUIET)
if(NOT GTest_FOUND)
  message(FATAL_ERROR "barrio: the tests need GoogleTest, which is not found.\n"
                      "Install it (Debian: libgtest-dev), or leave the tests out with -DBARRIO_TESTS=OFF")
endif()

set(BARRIO_MPI_TEST_SUPPORT ${CMAKE_CURRENT_LIST_DIR}/../tests/support)
get_filename_component(BARRIO_INTEROP_FOLDER ${PROJECT_SOURCE_DIR}/../shared/interop ABSOLUTE)

# What a launch needs beside the rank count; lists for add_test.
# Leaks are not looked for under sanitizers: the MPI libraries have their own. Nor does the thread sanitizer look at what
# MPI does, which it cannot follow.
set(barrio_launch_environment TSAN_OPTIONS=ignore_noninstrumented_modules=1 BARRIO_AS_TEST=1 BARRIO_PROFILE=off ASAN_OPTIONS=detect_leaks=0)
if(BARRIO_MPI_FLAVOUR STREQUAL openmpi)
  set(barrio_launch_flags --oversubscribe --bind-to none -q)
  list(APPEND barrio_launch_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
       OMPI_MCA_btl_vader_single_copy_mechanism=none)
  # A launcher that does not answer within two seconds while its ranks end takes their end for a crash, and ends with
  # code 1 (PMIx 4.2 waits no longer). So nothing of a launch waits for a disk.
  if(IS_DIRECTORY /dev/shm)
    list(APPEND barrio_launch_environment OMPI_MCA_orte_tmpdir_base=/dev/shm)
  endif()
elseif(BARRIO_MPI_FLAVOUR STREQUAL smpi)
  set(barrio_launch_flags -platform ${PROJECT_SOURCE_DIR}/tests/smpi/fat-tree.xml -hostfile
      ${PROJECT_SOURCE_DIR}/tests/smpi/hosts --cfg=smpi/simulate-computation:no --cfg=smpi/iprobe:1e-7
      --cfg=smpi/test:1e-7 --cfg=smpi/grow-injected-times:no --log=root.thres:warning)
elseif(BARRIO_MPI_FLAVOUR STREQUAL mpich)
  set(barrio_launch_flags)
endif()
if(TARGET barrio_yield)
  list(APPEND barrio_launch_environment LD_PRELOAD=$<TARGET_FILE:barrio_yield>)
endif()

add_library(barrio_test_main STATIC ${BARRIO_MPI_TEST_SUPPORT}/main.cpp)
target_link_libraries(barrio_test_main PUBLIC barrio::mpi GTest::gtest PRIVATE barrio_warnings)
target_compile_definitions(barrio_test_main PUBLIC BARRIO_INTEROP_DIR="${BARRIO_INTEROP_FOLDER}"
                           BARRIO_DATA_DIR="${PROJECT_SOURCE_DIR}/data")

if(BARRIO_MPI_FLAVOUR STREQUAL smpi)
  # Programs are linked as libraries there, which take no `main` from an archive unless asked to.
  target_link_options(barrio_test_main INTERFACE LINKER:--undefined=main)
endif()

function(barrio_launch_test name command ranks)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "TIMEOUT;PASS" "LABELS;ARGS;ENVIRONMENT")
  set(flags ${barrio_launch_flags})
  if(BARRIO_MPI_FLAVOUR STREQUAL mpich AND ranks EQUAL 1)
    set(flags)
  endif()
  add_test(NAME ${name} COMMAND ${barrio_mpiexec} -n ${ranks} ${flags} ${command} ${arg_ARGS})
  # A launch occupies the cores it can use, not the ranks it starts: they wait for each other most of the time. The
  # simulator is one thread.
  set(processors 2)
  if(ranks EQUAL 1 OR BARRIO_MPI_FLAVOUR STREQUAL smpi)
    set(processors 1)
  endif()
  set_tests_properties(${name} PROPERTIES PROCESSORS ${processors} LABELS "${arg_LABELS}"
    ENVIRONMENT "${barrio_launch_environment};${arg_ENVIRONMENT}")
  if(arg_TIMEOUT)
    set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT})
  endif()
endfunction()

function(barrio_add_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;RANKS;FULL_RANKS;LABELS;LINK")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 180)
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # which makes programs several times as slow
    math(EXPR arg_TIMEOUT "3 * ${arg_TIMEOUT}")
  endif()
  set(target test_${name})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE barrio_test_main barrio_warnings ${arg_LINK})
  math(EXPR launch_limit "7 * ${arg_TIMEOUT}")
  foreach(set IN ITEMS RANKS FULL_RANKS)
    foreach(ranks IN LISTS arg_${set})
      set(labels ${arg_LABELS} ${name})
      if(set STREQUAL FULL_RANKS OR NOT BARRIO_MPI_FLAVOUR STREQUAL openmpi)
        list(REMOVE_ITEM labels fast)
      endif()
      # The simulator runs one rank at a time, so many ranks take long there.
      set(limit ${arg_TIMEOUT})
      if(BARRIO_MPI_FLAVOUR STREQUAL smpi AND ranks GREATER 4 AND name MATCHES "^(adapt|exchange|mesh)$")
        list(APPEND labels long)
        math(EXPR limit "5 * ${arg_TIMEOUT}")
      endif()
      # It also spends ever more time on looking for messages the longer a launch lives, though none is left unreceived.
      # So each launch does every sixth test.
      set(n_launches 1)
      if(BARRIO_MPI_FLAVOUR STREQUAL smpi AND ranks GREATER 2 AND name MATCHES "^(adapt|exchange|mesh)$")
        set(n_launches 6)
      endif()
      foreach(launch RANGE 1 ${n_launches})
        set(launch_name ${name}_np${ranks})
        if(n_launches GREATER 1)
          string(APPEND launch_name _${launch}of${n_launches})
        endif()
        math(EXPR shard "${launch} - 1")
        # Brief: where a launch of hundreds of tests fails, its record is the failure and not a list of what passed.
        barrio_launch_test(${launch_name} $<TARGET_FILE:${target}> ${ranks} TIMEOUT ${launch_limit}
          LABELS ${labels} ENVIRONMENT BARRIO_TEST_LIMIT=${limit};GTEST_BRIEF=1;GTEST_TOTAL_SHARDS=${n_launches};GTEST_SHARD_INDEX=${shard})
      endforeach()
    endforeach()
  endforeach()
endfunction()
