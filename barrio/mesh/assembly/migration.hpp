#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "barrio/mesh/assembly/assembly.hpp"
#include "barrio/mesh/assembly/cell_message.hpp"
#include "barrio/mesh/tables/tag_look_up.hpp"

namespace barrio::mesh {

/// Make a new mesh from an old one, with its cells on other ranks. Each step is collective.
///
/// Cells travel with their vertices, listed sides, sets, tags and fields. All ranks that then have an entity meet at
/// its former owner, which tells them of each other; so no rank asks one that is not near.
class MeshMigration : private MeshAssembly {
 public:
  /// @param from  the old mesh; it is not changed
  /// @param[in] to  rank of each owned cell
  /// @param termination  of rounds that begin with the old neighbours
  MeshMigration(const Mesh::Storage& from, std::span<const Rank> to, exchange::Termination termination,
                Mesh::Storage& out);
  void run();

 private:
  /// Where an entity of the new mesh comes from.
  struct Origin {
    static constexpr std::int32_t old_mesh = -1;
    static constexpr std::int32_t owner = -2;  // a ghost: what it carries comes from its owner
    std::int32_t message = owner;
    std::int32_t at = 0;  // local id in the old mesh, or place in the message
  };
  /// What came from one rank.
  struct Arrival {
    explicit Arrival(std::span<const std::byte> message)
        : bytes(message.begin(), message.end()), reader(bytes), cells(reader) {}
    std::vector<std::byte> bytes;
    detail::MessageReader reader;
    detail::CellMessage cells;
    std::array<std::vector<detail::SideColumnsView>, 4> sides;      // by dimension, one or none
    std::array<std::vector<detail::ByteValuesView>, 4> tags;        // by dimension, then place in the mesh
    std::array<std::vector<std::span<const std::byte>>, 4> fields;  // the same; empty for other dimensions
  };

  // migrate.cpp
  void send_cells();
  void take_cells();
  void take_vertices();
  void share_vertices();
  [[nodiscard]] HeldSides take_sides(Dim dim);
  [[nodiscard]] bool has_sides(Dim dim) const {
    return dim > Dim::vertex && dim < out_.cell_dim && old_.halos[index(dim)] != nullptr;
  }
  [[nodiscard]] const EntityTable& old_table(Dim dim) const { return old_.entities[index(dim)]; }
  /// Members of the old mesh's sets that are still here. @param place_of  by old local id, -1 if it is gone
  void keep_sets(Dim dim, std::span<const std::int32_t> place_of, std::vector<detail::SetRun>& runs) const;
  // migrate_values.cpp
  void put_values(detail::MessageWriter& out, Dim dim, std::span<const std::int32_t> ids) const;
  void read_values(Arrival& arrival, Dim dim) const;
  void take_values();
  /// By local id of the new mesh.
  [[nodiscard]] std::vector<Origin> origins_of(Dim dim) const;
  void take_tags(Dim dim, std::span<const Origin> origins);
  void take_fields(Dim dim, std::span<const Origin> origins);

  const Storage& old_;
  std::span<const Rank> to_;
  exchange::Neighborhood reach_;  // reaches all ranks that get cells, or share what these have
  std::array<std::vector<detail::TagLookUp>, 4> old_tags_;  // by dimension, then place in the mesh
  std::vector<Arrival> arrivals_;
  std::array<std::vector<std::int32_t>, 4> kept_sides_;  // by dimension, local ids in the old mesh
  std::vector<Origin> cell_origins_;                     // by place
  std::vector<Origin> vertex_origins_;                   // by place
  struct SideOrigins {
    detail::IdIndex places;
    std::vector<Origin> origins;
  };
  std::array<SideOrigins, 4> side_origins_;  // by dimension
};

}  // namespace barrio::mesh
