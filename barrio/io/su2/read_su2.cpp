#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "barrio/base/json.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/common/share_catalog.hpp"
#include "barrio/io/su2/su2_file.hpp"
#include "barrio/io/vtk/inspect_vtk.hpp"
#include "barrio/mpi/agree.hpp"

// Rank 0 scans the file and finds where each rank's share begins; then every rank reads its own. Elements state VTK's
// types, and take the path of VTK's cells.

namespace barrio::io::detail {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Su2Catalog, n_dims, n_points, markers, left_out)

mesh::MeshTables read_su2(mpi::Context& context, const std::string& path) {
  Su2Index index;
  agree_after(context, [&] {
    if (context.is_root()) index = index_su2(path, context.size());
  });
  share_catalog(context, index.catalog);
  if (!index.catalog.left_out.empty())
    context.log().notice(fmt::format("{}: left out: {}", path, fmt::join(index.catalog.left_out, ", ")));
  std::vector<Rank> to;
  std::vector<Su2Segment> segments;
  for (const auto& [rank, segment] : index.segments) {
    to.push_back(rank);
    segments.push_back(segment);
  }
  segments = exchange::route(context, exchange::pack_by_rank<Su2Segment>(to, segments)).items;
  VtkGrid grid;
  agree_after(context, [&] { grid = read_su2_share(path, index.catalog, segments); });
  return tables_of_vtk(context, std::move(grid), path, index.catalog.set_names());
}

Json inspect_su2(const std::string& path, const InspectOptions& options) {
  const int n = n_shares_of(std::filesystem::file_size(path));
  const Su2Index index = index_su2(path, n);
  VtkShares shares{.format = "SU2",
                   .n = n,
                   .n_points = index.catalog.n_points,
                   .read =
                       [&](int share, bool) {
                         std::vector<Su2Segment> mine;
                         for (const auto& [of, segment] : index.segments)
                           if (of == share) mine.push_back(segment);
                         return read_su2_share(path, index.catalog, mine);
                       },
                   .set_names = index.catalog.set_names()};
  Json result = inspect_vtk_shares(path, shares, options);
  if (!index.catalog.left_out.empty()) result["unsupported"] = index.catalog.left_out;
  return result;
}

}  // namespace barrio::io::detail
