#include <array>

#include "barrio/io/common/readers.hpp"

namespace barrio::io::detail {
namespace {

using mesh::CellType;

struct TypeName {
  const char* name;
  CellType type;
};
constexpr std::array<TypeName, 10> type_names{{{"Edge", CellType::edge},
                                               {"Tri", CellType::triangle},
                                               {"Quad", CellType::quad},
                                               {"Polygon", CellType::polygon},
                                               {"Tet", CellType::tet},
                                               {"Pyramid", CellType::pyramid},
                                               {"Prism", CellType::prism},
                                               {"Knife", CellType::knife},
                                               {"Hex", CellType::hex},
                                               {"Polyhedron", CellType::polyhedron}}};

}  // namespace

std::optional<CellType> cell_type_of(const std::string& h5m_name) {
  for (const TypeName& entry : type_names)
    if (h5m_name == entry.name) return entry.type;
  return {};
}

std::string h5m_name(CellType type) {
  for (const TypeName& entry : type_names)
    if (entry.type == type) return entry.name;
  return {};
}

}  // namespace barrio::io::detail
