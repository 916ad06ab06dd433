# Refuse to install a tree that is not built: CMake stops in the middle of it otherwise, and leaves half of it there.
# BarrioInstall writes the list of files.
set(barrio_installed_list ${PROJECT_BINARY_DIR}/barrio-installed.txt)
set(barrio_check [[
  file(STRINGS "@barrio_installed_list@" barrio_files)
  set(barrio_missing)
  foreach(file IN LISTS barrio_files)
    if(NOT EXISTS "${file}")
      list(APPEND barrio_missing "${file}")
    endif()
  endforeach()
  if(barrio_missing)
    list(LENGTH barrio_missing barrio_n)
    list(GET barrio_missing 0 barrio_first)
    message(FATAL_ERROR "barrio: ${barrio_n} of the files to install are not built, ${barrio_first} among them; nothing was "
                        "installed.\nRun `make install PREFIX=...`, which builds them, or first "
                        "`cmake --build @PROJECT_BINARY_DIR@ --target barrio-install`")
  endif()
]])
string(CONFIGURE "${barrio_check}" barrio_check @ONLY)
install(CODE "${barrio_check}")
