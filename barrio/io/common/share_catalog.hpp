#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {

/// Replace invalid UTF-8 in texts: a file may name its variables by any bytes.
inline void make_utf8(nlohmann::json& value) {
  if (value.is_string()) {
    value = nlohmann::json::parse(value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
  } else if (value.is_structured()) {
    for (nlohmann::json& item : value) make_utf8(item);
  }
}

/// Broadcast the catalog of a file from rank 0. Collective. Numbers arrive bit by bit the same, also NaN (whatever its
/// payload) and infinities, for which JSON has no text.
template <class Catalog>
void share_catalog(mpi::Context& context, Catalog& catalog) {
  std::vector<std::uint8_t> bytes;
  if (context.is_root()) {
    nlohmann::json document(catalog);
    make_utf8(document);
    nlohmann::json::to_cbor(document, bytes);
  }
  mpi::broadcast(context, bytes);
  catalog = nlohmann::json::from_cbor(bytes).template get<Catalog>();
}

}  // namespace barrio::io::detail
