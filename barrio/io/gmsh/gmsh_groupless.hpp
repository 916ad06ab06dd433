#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "barrio/io/gmsh/gmsh_file.hpp"

namespace barrio::io::detail {

/// Counter of elements in no physical group, by the geometric entities that they are on. They matter in dimensions
/// of which other elements are in groups: there, a group has probably been forgotten. Its size is bounded.
class GmshGroupless {
 public:
  /// Count elements of an entity. Local.
  void add(int dim, int entity, bool has_group, std::int64_t n_elements);
  /// Count the elements of a 4.1 file, but not those on interfaces of parts. Local, on rank 0.
  void add_all(const GmshIndex& index);
  /// Bring the counts of all ranks together on rank 0. Collective.
  void gather(mpi::Context& context);
  /// Describe them, a text for each dimension: "surfaces 5, 7 in no physical group (12 elements)". Local.
  [[nodiscard]] std::vector<std::string> described() const;

 private:
  static constexpr int more = -1;                       // stands for entities beyond the limit
  std::array<std::map<int, std::int64_t>, 4> without_;  // by dimension: entity -> number of elements
  std::array<std::int64_t, 4> n_grouped_{};             // elements in groups, by dimension
};

}  // namespace barrio::io::detail
