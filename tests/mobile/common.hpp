#pragma once

#include <filesystem>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/mobile/store.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::mobile::test_support {

/// Return a folder on a disk: that for files of tests, or the current one. The scratch file has no name.
inline std::string disk() {
  const std::string usual = test::scratch().string();
  return folder_kind(usual) == FolderKind::memory ? std::filesystem::current_path().string() : usual;
}
inline bool has_disk() { return folder_kind(disk()) != FolderKind::memory; }

/// Return the error that all ranks throw; "no error" without one.
template <class Act>
std::string error_of_all(Act&& act) {
  try {
    act();
  } catch (const AgreedError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace barrio::mobile::test_support
