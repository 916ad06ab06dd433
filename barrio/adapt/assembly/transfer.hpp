#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barrio/adapt/kernel/tets.hpp"
#include "barrio/exchange/message.hpp"
#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::adapt::detail {

/// Tell whether a tag has values on sets that are entities, which adaptation renumbers.
bool names_entities(const mesh::MeshTag& tag);

/// Transfer of fields and tags through adaptation. Reals that all vertices have are linear between vertices, and travel
/// with them. All other values are inherited: they stay on their rank, from which new entities fetch those of their
/// parent.
class Transfer {
 public:
  Transfer() = default;
  /// Take the values of owned entities. Collective.
  /// @param parent_field  name of one more field on cells, as AdaptOptions::parent_field; empty: no such field
  /// @param left_behind  name of a field on vertices that is not transferred
  /// Cost: one reduction, one halo exchange of the linear values
  Transfer(const mesh::Mesh& mesh, const std::string& parent_field, const std::string& left_behind);

  [[nodiscard]] const Tets::Carried& carried() const noexcept { return carried_; }
  /// Give a vertex of the kernel its values and its parent. Local.
  void take_vertex(LocalId v, Slot slot, Tets& tets) const;
  /// Return the linear values of a local vertex.
  [[nodiscard]] std::span<const double> values_of(LocalId v) const noexcept {
    return std::span(values_).subspan(index(v) * carried_.n_values, carried_.n_values);
  }
  /// Return the parent that a local vertex of the mesh is.
  [[nodiscard]] Parent vertex_parent(LocalId v) const noexcept {
    return vertex_parents_.empty() ? Parent{} : vertex_parents_[index(v)];
  }
  /// Return the parent that a local cell of the mesh is.
  [[nodiscard]] Parent cell_parent(LocalId c) const noexcept {
    return cell_parents_.empty() ? Parent{} : cell_parents_[index(c)];
  }
  /// Free the memory that only the import needs. Local.
  void end_taking();

  /// Write the fields and tags of the adapted mesh. Collective.
  /// @param[in] vertices, tets  by place in `out` @param[in] others  parents of the cells that follow the tetrahedra
  /// there. Cost: two routes for vertices, two for cells, if they inherit
  void give(mpi::Context& context, const Tets& kernel, std::span<const Slot> vertices, std::span<const Slot> tets,
            std::span<const Parent> others, mesh::LocalMesh& out) const;

 private:
  /// A field or tag whose values are linear.
  struct Linear {
    bool is_tag;
    std::size_t from;   // place among the fields or tags of the mesh
    std::size_t at;     // of this
    std::size_t first;  // column of its first component
    std::size_t n_components;
  };
  /// A field or tag that entities of one dimension inherit.
  struct Kept {
    bool is_tag;
    std::size_t at;                  // as above
    std::size_t row_bytes;           // of a field
    std::vector<std::byte> rows;     // of a field: those of owned entities
    mesh::MeshTag::Values of_range;  // of a tag
  };

  void find_tags(const mesh::Mesh& mesh);
  void add_field(const mesh::Mesh& mesh, std::size_t from);
  void add_parent_field(const mesh::Mesh& mesh, const std::string& name);
  void add_tag(const mesh::Mesh& mesh, std::size_t at, mesh::Dim dim, bool is_linear);
  void take_linear(const mesh::Mesh& mesh);
  void write_linear(const Tets& tets, std::span<const Slot> vertices, mesh::LocalMesh& out) const;
  void answer(const std::vector<Kept>& kept, std::span<const std::int32_t> places,
              exchange::MessageWriter& message) const;
  template <class ValueOf>
  void write(const Kept& one, mesh::Dim dim, std::size_t n, const ValueOf& value, mesh::LocalMesh& out) const;
  void write_kept(mpi::Context& context, const std::vector<Kept>& kept, mesh::Dim dim, std::span<const Parent> parents,
                  mesh::LocalMesh& out) const;

  Tets::Carried carried_;
  std::vector<mesh::FieldData> fields_;  // without values
  std::vector<mesh::MeshTag> tags_;      // without values of entities
  bool has_parent_field_ = false;        // the last one
  std::vector<Linear> linear_;
  std::vector<Kept> of_vertices_;
  std::vector<Kept> of_cells_;
  std::vector<double> values_;          // linear ones, shape (n_local vertices, n_values)
  std::vector<Parent> vertex_parents_;  // of local vertices
  std::vector<Parent> cell_parents_;    // of local cells
};

}  // namespace barrio::adapt::detail
