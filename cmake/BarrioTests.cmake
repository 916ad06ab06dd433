# barrio_add_mpi_test(name SOURCES ... RANKS 1 4 ... [FULL_RANKS 3 ...] [NIGHTLY_RANKS 2 7 ...] [LABELS ...] [TIMEOUT seconds] [LINK ...])
#
# One GoogleTest binary, launched once per rank count, as `<name>_npN`. RANKS run in the fast set (if LABELS says
# `fast`) and in the check set, FULL_RANKS in the check set, NIGHTLY_RANKS in `make nightly SLICE=ranks`. Under MPICH the
# check set has 3 ranks alone, or 4 where 3 are not listed; on the simulator 3 and 4. The limit per single test is
# TIMEOUT (default 180 s); a rank that exceeds it is named, with the test it is in.
#
# Labels say in which set a test runs: `fast`; `quick`, a part of a test of the check set, for the fast set alone;
# `nightly-SLICE`, which the check set leaves out. All others are in the check set.
find_package(GTest QUIET)
if(NOT GTest_FOUND)
  message(FATAL_ERROR "barrio: the tests need GoogleTest, which is not found.\n"
                      "Install it (Debian: libgtest-dev), or leave the tests out with -DBARRIO_TESTS=OFF")
endif()

set(BARRIO_MPI_TEST_SUPPORT ${CMAKE_CURRENT_LIST_DIR}/../tests/support)
set(BARRIO_INTEROP_DIR "$ENV{BARRIO_INTEROP}" CACHE PATH "folder of files of other programs; tests that want them say why they are skipped")
set(BARRIO_STRANGERS "" CACHE PATH "folder of inputs that failed for others; by default the folder strangers of BARRIO_INTEROP_DIR")
if(NOT BARRIO_STRANGERS AND IS_DIRECTORY "${BARRIO_INTEROP_DIR}/strangers")
  set(BARRIO_STRANGERS "${BARRIO_INTEROP_DIR}/strangers")
endif()

# Flags and environment of a launch; lists for add_test.
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
foreach(folder IN ITEMS BARRIO_INTEROP_DIR BARRIO_STRANGERS)
  if(${folder} AND NOT IS_DIRECTORY "${${folder}}")
    message(FATAL_ERROR "barrio: ${folder} is '${${folder}}', which is not a folder")
  endif()
endforeach()
if(BARRIO_INTEROP_DIR)
  list(APPEND barrio_launch_environment BARRIO_INTEROP=${BARRIO_INTEROP_DIR})
endif()
if(BARRIO_STRANGERS)
  list(APPEND barrio_launch_environment BARRIO_STRANGERS=${BARRIO_STRANGERS})
endif()
if(TARGET barrio_yield)
  list(APPEND barrio_launch_environment LD_PRELOAD=$<TARGET_FILE:barrio_yield>)
endif()

# Paths of this tree in a source of their own: all others compile alike in another folder, for a compiler cache.
configure_file(${BARRIO_MPI_TEST_SUPPORT}/paths.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/paths.cpp @ONLY)
add_library(barrio_test_main STATIC ${BARRIO_MPI_TEST_SUPPORT}/main.cpp ${CMAKE_CURRENT_BINARY_DIR}/paths.cpp)
set_target_properties(barrio_test_main PROPERTIES UNITY_BUILD OFF)
target_link_libraries(barrio_test_main PUBLIC barrio::mpi GTest::gtest PRIVATE barrio_warnings)

# Where several sources compile as one, names of one test shadow those of another. Builds of each source alone look for
# names that shadow others in a source.
add_library(barrio_test_warnings INTERFACE)
if(CMAKE_UNITY_BUILD)
  target_compile_options(barrio_test_warnings INTERFACE -Wno-shadow)
endif()

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
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;RANKS;FULL_RANKS;NIGHTLY_RANKS;LABELS;LINK")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 180)
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # which makes programs several times as slow
    math(EXPR arg_TIMEOUT "3 * ${arg_TIMEOUT}")
  endif()
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/tests OUTPUT_VARIABLE room)
  string(REGEX REPLACE "/.*" "" room ${room})
  set(target test_${name})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE barrio_test_main barrio_warnings barrio_test_warnings ${arg_LINK})
  math(EXPR launch_limit "7 * ${arg_TIMEOUT}")
  set(check_ranks ${arg_RANKS} ${arg_FULL_RANKS})
  if(BARRIO_MPI_FLAVOUR STREQUAL mpich)
    if(3 IN_LIST check_ranks)
      set(check_ranks 3)
    else()
      list(FILTER check_ranks INCLUDE REGEX "^[24]$")
    endif()
  elseif(BARRIO_MPI_FLAVOUR STREQUAL smpi AND NOT check_ranks STREQUAL 1)
    list(FILTER check_ranks INCLUDE REGEX "^[34]$")
  endif()
  # Both MPIs run 7 and 8 ranks for real. On the simulator 8 stand for 7, but for the rooms whose tests take minutes there:
  # it looks for a message among all that were sent.
  if(BARRIO_MPI_FLAVOUR STREQUAL smpi)
    set(not_simulated 7)
    if(name MATCHES "^(adapt|adapt_shapes|exchange|mesh)$")
      list(APPEND not_simulated 8)
    endif()
    foreach(set IN ITEMS RANKS FULL_RANKS NIGHTLY_RANKS)
      list(REMOVE_ITEM arg_${set} ${not_simulated})
    endforeach()
  endif()
  foreach(set IN ITEMS RANKS FULL_RANKS NIGHTLY_RANKS)
    foreach(ranks IN LISTS arg_${set})
      set(labels ${arg_LABELS} ${room})
      if(NOT set STREQUAL RANKS OR NOT BARRIO_MPI_FLAVOUR STREQUAL openmpi)
        list(REMOVE_ITEM labels fast)
      endif()
      if(NOT ranks IN_LIST check_ranks AND NOT labels MATCHES nightly)
        list(APPEND labels nightly-ranks)
      endif()
      # The simulator runs one rank at a time, so many ranks take long there, and few beside other work.
      set(limit ${arg_TIMEOUT})
      if(BARRIO_MPI_FLAVOUR STREQUAL smpi)
        math(EXPR limit "5 * ${arg_TIMEOUT}")
      endif()
      # It also spends ever more time on looking for messages the longer a launch lives, though none is left unreceived.
      # So each launch does every sixth test.
      set(n_launches 1)
      if(BARRIO_MPI_FLAVOUR STREQUAL smpi AND ranks GREATER 2 AND name MATCHES "^(adapt|adapt_shapes|exchange|mesh)$")
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
