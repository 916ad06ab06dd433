#include <fmt/format.h>

#include "barrio/base/json.hpp"
#include "barrio/io/cgns/cgns_file.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// The catalog travels from rank 0 to all ranks as JSON.

namespace barrio::io::detail {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CgnsSection, path, name, type, n_nodes, n, first, row, mixed, kind)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CgnsMixed, path, name, first, n, step, kinds, words, counts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CgnsBoundary, path, name, has_family, on_vertices, low, high, n, normal)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CgnsArray, path, name, on_cells, is_integer, step)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CgnsPoints, path, begin, end)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CgnsInterface, name, zone, donor, here, there, transform, n)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CgnsZone, path, name, is_structured, is_single, n_indices, n, first_vertex, sections,
                                   mixed, boundaries, arrays)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CgnsCatalog, cell_dim, n_dims, n_vertices, zones, n_steps, left_out, interfaces,
                                   open_interfaces)

namespace {

/// Encode a path in hexadecimal: JSON is UTF-8, a name in a file need not be, and HDF5 needs it unchanged.
std::string hex_of(std::string_view bytes) {
  std::string digits;
  for (const char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

std::string from_hex(std::string_view digits) {
  const auto value_of = [](char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; };
  std::string bytes;
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2)
    bytes += static_cast<char>(16 * value_of(digits[at]) + value_of(digits[at + 1]));
  return bytes;
}

template <class Change>
void change_paths(CgnsCatalog& catalog, Change&& change) {
  for (CgnsZone& zone : catalog.zones) {
    zone.path = change(zone.path);
    for (CgnsSection& section : zone.sections) section.path = change(section.path);
    for (CgnsMixed& mixed : zone.mixed) mixed.path = change(mixed.path);
    for (CgnsBoundary& boundary : zone.boundaries) boundary.path = change(boundary.path);
    for (CgnsArray& array : zone.arrays) array.path = change(array.path);
  }
  for (CgnsInterface& one : catalog.interfaces)
    for (CgnsPoints* points : {&one.here, &one.there}) points->path = change(points->path);
}

}  // namespace

CgnsCatalog share_cgns_catalog(mpi::Context& context, const std::string& path) {
  CgnsCatalog catalog;
  std::string text;
  agree_after(context, [&] {
    if (!context.is_root()) return;
    catalog = read_cgns_catalog(files::open_to_read(path).get(), path);
    change_paths(catalog, hex_of);
    text = nlohmann::json(catalog).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  });
  mpi::broadcast(context, text);
  catalog = nlohmann::json::parse(text).get<CgnsCatalog>();
  change_paths(catalog, from_hex);
  return catalog;
}

}  // namespace barrio::io::detail
