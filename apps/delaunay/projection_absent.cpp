#include "apps/delaunay/projection.hpp"
#include "barrio/base/error.hpp"

// Without PROJ.

namespace barrio::apps {

Projection make_projection(const std::string& name, std::string& used) {
  used.clear();
  if (name == "none") return {};
  return [](std::span<delaunay::Point>) {
    refuse(ErrorCode::usage, "--project", "projections are not in this build",
           "use --project none, or build with PROJ (Debian: libproj-dev)");
  };
}

}  // namespace barrio::apps
