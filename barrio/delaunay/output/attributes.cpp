#include "barrio/delaunay/output/attributes.hpp"

#include <string>

#include "barrio/base/json.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::delaunay::detail {

std::vector<Attribute> share_attributes(mpi::Context& context, const Triangulation& mesh) {
  Json list = Json::array();
  for (const Attribute& attribute : mesh.attributes) list.push_back({attribute.name, attribute.n_components});
  std::string text = list.dump(-1, ' ', false, Json::error_handler_t::replace);
  mpi::broadcast(context, text);
  std::vector<Attribute> attributes;
  for (const Json& one : Json::parse(text)) attributes.push_back({one[0].get<std::string>(), one[1].get<int>()});
  return attributes;
}

}  // namespace barrio::delaunay::detail
