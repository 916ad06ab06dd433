#include "barrio/io/inspect.hpp"

#include <filesystem>

#include "barrio/base/error.hpp"
#include "barrio/io/common/file_watch.hpp"
#include "barrio/io/formats/known_formats.hpp"

namespace barrio::io {

Json inspect(const std::string& path, InspectOptions options) {
  const detail::FileWatch watch(path);
  Json result;
  const Status fault = capture([&] {
    result = detail::known_format(detect_format(path)).inspect(path, options);
    if (result["entities"].empty()) result["unsupported"].push_back("a mesh without cells: it can be read only here");
    result["file_bytes"] = std::filesystem::file_size(path);
  });
  if (fault) throw watch.explain(*fault).value_or(*fault);
  watch.check();
  return result;
}

}  // namespace barrio::io
