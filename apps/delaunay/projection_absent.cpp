#include "apps/delaunay/projection.hpp"
#include "barrio/base/error.hpp"

// Without PROJ.

namespace barrio::apps {

Projection make_projection(const std::string& name, std::string&) {
  if (name == "none") return {};
  refuse(ErrorCode::usage, "--project", "projections are not in this build", "build with PROJ (Debian: libproj-dev)");
}

}  // namespace barrio::apps
