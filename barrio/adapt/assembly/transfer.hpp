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

/// Whether a tag has values on sets that are entities: these have other numbers afterwards.
bool names_entities(const mesh::MeshTag& tag);

/// Fields and tags of a mesh on their way through its adaptation. Reals that all vertices have are linear between
/// vertices, and travel with them. All else is inherited: it waits where it was, and those that come from it ask there
/// for it.
class Transfer {
 public:
  Transfer() = default;
  /// Keep values of owned entities. Collective.
  /// @param parent_field  name of one more field on cells, as AdaptOptions::parent_field; empty: none
  /// @param left_behind  name of a field on vertices that does not go along
  /// Cost: one reduction, one halo exchange of the linear values
  Transfer(const mesh::Mesh& mesh, const std::string& parent_field, const std::string& left_behind);

  [[nodiscard]] const Tets::Carried& carried() const noexcept { return carried_; }
  /// Give a vertex what it carries. Local.
  void take_vertex(LocalId v, Slot slot, Tets& tets) const;
  /// The same by parts: linear values of a local vertex, and where its other values wait.
  [[nodiscard]] std::span<const double> values_of(LocalId v) const noexcept {
    return std::span(values_).subspan(index(v) * carried_.n_values, carried_.n_values);
  }
  [[nodiscard]] Origin vertex_origin(LocalId v) const noexcept {
    return vertex_origins_.empty() ? Origin{} : vertex_origins_[index(v)];
  }
  /// Where the values of a local cell wait.
  [[nodiscard]] Origin cell_origin(LocalId c) const noexcept {
    return cell_origins_.empty() ? Origin{} : cell_origins_[index(c)];
  }
  /// Give memory back that only taking needs. Local.
  void end_taking();

  /// Write the fields and tags of a mesh that takes the place of the one that was. Collective.
  /// @param[in] vertices, tets  by place in `out` @param[in] others  cells that follow the tetrahedra there. Cost: two
  /// routes for vertices, two for cells, if they inherit
  void give(mpi::Context& context, const Tets& kernel, std::span<const Slot> vertices, std::span<const Slot> tets,
            std::span<const Origin> others, mesh::LocalMesh& out) const;

 private:
  /// A field or tag whose values are linear.
  struct Linear {
    bool is_tag;
    std::size_t from;   // place among the fields or tags of the mesh
    std::size_t at;     // of this
    std::size_t first;  // column of its first component
    std::size_t n_components;
  };
  /// A field or tag whose values are inherited by entities of one dimension.
  struct Kept {
    bool is_tag;
    std::size_t at;                  // as above
    std::size_t row_bytes;           // of a field
    std::vector<std::byte> rows;     // of a field: those of owned entities
    mesh::MeshTag::Values of_range;  // of a tag
  };

  void find_tags(const mesh::Mesh& mesh);
  void add_field(const mesh::Mesh& mesh, std::size_t from);
  void add_parents(const mesh::Mesh& mesh, const std::string& name);
  void add_tag(const mesh::Mesh& mesh, std::size_t at, mesh::Dim dim, bool is_linear);
  void take_linear(const mesh::Mesh& mesh);
  void write_linear(const Tets& tets, std::span<const Slot> vertices, mesh::LocalMesh& out) const;
  void answer(const std::vector<Kept>& kept, std::span<const std::int32_t> places,
              exchange::MessageWriter& message) const;
  template <class ValueOf>
  void write(const Kept& one, mesh::Dim dim, std::size_t n, const ValueOf& value, mesh::LocalMesh& out) const;
  void write_kept(mpi::Context& context, const std::vector<Kept>& kept, mesh::Dim dim, std::span<const Origin> origins,
                  mesh::LocalMesh& out) const;

  Tets::Carried carried_;
  std::vector<mesh::FieldData> fields_;  // without values
  std::vector<mesh::MeshTag> tags_;      // without values of entities
  bool has_parent_field_ = false;        // the last one
  std::vector<Linear> linear_;
  std::vector<Kept> of_vertices_;
  std::vector<Kept> of_cells_;
  std::vector<double> values_;          // linear ones, shape (n_local vertices, n_values)
  std::vector<Origin> vertex_origins_;  // of local vertices
  std::vector<Origin> cell_origins_;    // of local cells
};

}  // namespace barrio::adapt::detail
