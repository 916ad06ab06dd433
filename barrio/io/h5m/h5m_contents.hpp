#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "barrio/io/h5m/h5m_plan.hpp"

namespace barrio::io::detail {

/// The contents of the sets of a .h5m file, read in slabs: each rank turns its piece into runs of rows.
struct H5mContents {
  struct Link {
    std::int64_t outer;
    std::int64_t inner;
    std::int64_t position;  ///< -1 if `outer` is not ordered
  };
  std::vector<std::pair<std::int64_t, mesh::SetRows>> runs;  ///< set -> rows; SetRows::set is not used yet
  std::vector<mesh::PartRows> part_rows;                     ///< of sets that are only parts; `part` is the set
  std::vector<Link> links;                                   ///< sets in sets

  /// Read this rank's slab. Collective.
  /// @param top  dimension of the highest cells: for sets that are only parts, only its rows matter
  void read(mpi::Context& context, files::Place file, const H5mPlan& plan, const IdSpace& ids, mesh::Dim top);
  /// Gather the links on all ranks. They are few, such as material sets that hold geometry sets. Collective.
  void share_links(mpi::Context& context);

 private:
  void take_part(std::int32_t set, std::int64_t first, std::int64_t count, const IdSpace& ids, mesh::Dim top);
  void take(std::int64_t set, std::int64_t first, std::int64_t count, std::int64_t position, const IdSpace& ids);
};

/// Make the sets of the tables from those of the file, except sets that are, or hold, only parts. Local.
/// @return index in the tables of each set of the file, or -1
std::vector<std::int32_t> make_sets(const H5mPlan& plan, const H5mContents& contents, mesh::MeshTables& tables);

/// Log sets that contain themselves or each other, as those of DAGMC do. Local.
void tell_sets_in_themselves(mpi::Context& context, const mesh::MeshTables& tables, const std::string& path);

/// Return the values of parts, ascending. Local.
std::vector<std::int64_t> values_of_parts(const H5mPlan& plan);

/// Return the part that each set of the file is, or -1. Local.
std::vector<std::int32_t> parts_of_sets(const H5mPlan& plan, const std::vector<std::int64_t>& part_values);

/// Give sets their members. Local. @return the rows of parts
std::vector<mesh::PartRows> take_members(H5mContents& contents, const std::vector<std::int32_t>& part_of,
                                         const std::vector<std::int32_t>& place_of, mesh::MeshTables& tables);

}  // namespace barrio::io::detail
