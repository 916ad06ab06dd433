#pragma once

#include <string>

#include "barrio/base/json.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {

/// Give all ranks the catalog of a file that rank 0 has. Collective.
template <class Catalog>
void share_catalog(mpi::Context& context, Catalog& catalog) {
  std::string text =
      context.is_root() ? nlohmann::json(catalog).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) : "";
  mpi::broadcast(context, text);
  catalog = nlohmann::json::parse(text).get<Catalog>();
}

}  // namespace barrio::io::detail
