#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::adapt::detail {

/// Values of fields and tags on listed faces and edges. Each distinct value has a number, the same on all ranks, which
/// sides carry beside the numbers of their sets: parts of a side inherit its values.
class SideValues {
 public:
  SideValues() = default;
  /// Number the distinct values. Collective. Cost: one reduction of their bytes to a rank, and a broadcast
  explicit SideValues(const mesh::Mesh& mesh);

  /// Return the names of fields and tags with too many distinct values, which are left out.
  [[nodiscard]] std::vector<std::string> left_out() const;
  /// Add the numbers that local entities have. Collective.
  /// @param mesh  that of the constructor, or the same with its cells on other ranks
  /// @param[in,out] members  pairs of an entity's local id and a number
  void add_numbers(const mesh::Mesh& mesh, mesh::Dim dim,
                   std::vector<std::pair<std::int32_t, std::int32_t>>& members) const;
  /// Write the values of sides. Local.
  /// @param numbers_of  returns those of the i-th side in `out`; numbers of sets among them are skipped
  void give(mesh::Dim dim, const std::function<std::span<const std::int32_t>(std::size_t)>& numbers_of,
            mesh::LocalMesh& out) const;

 private:
  /// A field or tag on entities of one dimension.
  struct Item {
    bool is_tag = false;
    std::size_t from = 0;  // place among the fields or tags of the mesh
    mesh::Dim dim = mesh::Dim::face;
    mesh::FieldData field;            // without values; of a tag: its name alone
    std::vector<std::string> values;  // bytes of the distinct ones, ascending
    std::int32_t first = 0;           // number of the first one
    bool is_left_out = false;
    [[nodiscard]] std::int32_t number_of(const std::string& value) const;
  };
  void find_items(const mesh::Mesh& mesh);
  void agree(mpi::Context& context);

  std::vector<Item> items_;
};

}  // namespace barrio::adapt::detail
