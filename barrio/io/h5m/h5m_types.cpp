#include <fmt/format.h>

#include <array>

#include "barrio/io/common/readers.hpp"

namespace barrio::io::detail {
namespace {

using mesh::CellType;

// Numbers as current files have them.
struct TypeName {
  const char* name;
  CellType type;
  std::uint8_t number;
};
constexpr std::array<TypeName, 10> type_names{{{"Edge", CellType::edge, 1},
                                               {"Tri", CellType::triangle, 2},
                                               {"Quad", CellType::quad, 3},
                                               {"Polygon", CellType::polygon, 4},
                                               {"Tet", CellType::tet, 5},
                                               {"Pyramid", CellType::pyramid, 6},
                                               {"Prism", CellType::prism, 7},
                                               {"Knife", CellType::knife, 8},
                                               {"Hex", CellType::hex, 9},
                                               {"Polyhedron", CellType::polyhedron, 10}}};

const TypeName& entry_of(CellType type) {
  for (const TypeName& entry : type_names)
    if (entry.type == type) return entry;
  return type_names.front();
}

}  // namespace

std::optional<CellType> cell_type_of(const std::string& h5m_name) {
  for (const TypeName& entry : type_names)
    if (h5m_name == entry.name) return entry.type;
  return {};
}

std::string h5m_name(CellType type) { return entry_of(type).name; }
std::uint8_t h5m_type_number(CellType type) { return entry_of(type).number; }

files::Handle h5m_element_enum() {
  files::Handle type(H5Tenum_create(H5T_NATIVE_UINT8), &H5Tclose);
  for (const TypeName& entry : type_names) H5Tenum_insert(type.get(), entry.name, &entry.number);
  return type;
}

std::string block_name(const mesh::MeshTables& tables, std::size_t block) {
  const auto name_of = [&](const mesh::CellBlock& b) {
    return h5m_name(b.type) + (b.nodes_per_cell > 0 ? std::to_string(b.nodes_per_cell) : "");
  };
  const std::string name = name_of(tables.blocks[block]);
  int n_alike = 1;
  for (std::size_t b = 0; b < block; ++b) n_alike += name_of(tables.blocks[b]) == name ? 1 : 0;
  return n_alike == 1 ? name : fmt::format("{}_{}", name, n_alike);
}

}  // namespace barrio::io::detail
