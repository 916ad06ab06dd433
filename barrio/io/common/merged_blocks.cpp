#include "barrio/io/common/merged_blocks.hpp"

#include <map>

namespace barrio::io::detail {

std::vector<std::int32_t> add_merged_blocks(const mpi::Context& context, mesh::MeshTables& tables,
                                            const std::vector<ElementRun>& runs) {
  struct Merged {
    std::int64_t n = 0;
    std::int32_t block = 0;
  };
  std::map<std::pair<mesh::CellType, int>, Merged> alike;
  for (const ElementRun& run : runs) alike[{run.type, run.n_nodes}].n += run.n;
  for (auto& [kind, merged] : alike) {
    merged.block = static_cast<std::int32_t>(tables.blocks.size());
    tables.blocks.push_back({kind.first, {merged.n, context.size()}, kind.second, {}, {}});
  }
  std::vector<std::int32_t> table_of;
  for (const ElementRun& run : runs) table_of.push_back(alike[{run.type, run.n_nodes}].block);
  return table_of;
}

}  // namespace barrio::io::detail
