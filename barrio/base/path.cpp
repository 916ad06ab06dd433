#include "barrio/base/path.hpp"

#include <sys/stat.h>

namespace barrio {

std::string why_not_replaceable(const std::string& path) {
  struct stat known{};
  if (::stat(path.c_str(), &known) != 0 || S_ISREG(known.st_mode)) return {};
  return S_ISDIR(known.st_mode) ? "it is a folder" : "it is a device or a pipe, not a file";
}

}  // namespace barrio
