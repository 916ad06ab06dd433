#pragma once

#include <array>
#include <memory>
#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh {

/// Data of a Mesh, except for the values of its fields.
struct Mesh::StorageBase {
  mpi::Context* context = nullptr;
  Dim cell_dim = Dim::volume;
  BuildOptions options;
  std::uint64_t revision = 0;
  int n_parts = 0;
  LocalRange parts;
  PartSets part_sets;
  VertexTable vertices;
  std::array<EntityTable, 4> entities;  // [0] unused
  std::vector<std::int32_t> cell_parts;
  std::vector<MeshSet> sets;
  std::vector<MeshTag> tags;
  std::vector<Rank> neighbours;
  std::array<std::shared_ptr<const exchange::HaloPlan>, 4> halos;  // by dimension; null without entities

  [[nodiscard]] std::size_t n_local(Dim dim) const noexcept {
    return dim == Dim::vertex ? vertices.size() : entities[index(dim)].size();
  }
  [[nodiscard]] const Sharing& sharing(Dim dim) const noexcept {
    if (dim == Dim::vertex) return vertices;
    return entities[index(dim)];
  }
  [[nodiscard]] std::size_t n_owned(Dim dim) const noexcept {
    return dim == Dim::vertex ? vertices.n_owned : entities[index(dim)].n_owned;
  }
};

struct Mesh::Storage : StorageBase {
  Storage() = default;
  explicit Storage(const StorageBase& base) : StorageBase(base) {}
  std::vector<std::unique_ptr<FieldData>> fields;

  [[nodiscard]] std::unique_ptr<Storage> copy() const {
    const StorageBase& base = *this;
    auto all = std::make_unique<Storage>(base);
    for (const std::unique_ptr<FieldData>& field : fields) all->fields.push_back(std::make_unique<FieldData>(*field));
    return all;
  }
};

}  // namespace barrio::mesh
