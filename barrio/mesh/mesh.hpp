#pragma once

/// @file The distributed mesh: owners, sharers, ghosts, sets, tags, fields and the migration of cells.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "barrio/exchange/halo.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mesh/owners.hpp"
#include "barrio/mesh/payload.hpp"
#include "barrio/mesh/range.hpp"
#include "barrio/mesh/rank_sets.hpp"
#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// Entities that the cells of several ranks use, with these ranks: their sharers.
struct Sharing {
  std::vector<LocalId> shared;            ///< ascending; ghosts do not count as use
  std::vector<std::int32_t> sharer_sets;  ///< for each of `shared`, a number in `rank_sets`
  RankSets rank_sets;                     ///< each of at least two ranks, including this one

  /// Return the ranks that share an entity, this one included, ascending.
  /// @param i  place in `shared`
  [[nodiscard]] std::span<const Rank> sharers_of(std::size_t i) const& noexcept { return rank_sets[sharer_sets[i]]; }
  /// Return the bytes of these lists on this rank.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
};

/// Entities of one dimension >= 1 on one rank. Local order: interior, fringe, ghosts grouped by owner;
/// within each group by ascending global id.
struct EntityTable : Sharing {
  std::vector<CellType> types;        ///< one entry if the whole mesh has one type, else one per entity
  bool has_one_type = true;           ///< the same on every rank
  std::vector<std::int32_t> offsets;  ///< empty if all have `nodes_per_entity` nodes
  int nodes_per_entity = 0;           ///< in the whole mesh, so the same on every rank; 0 if it varies
  std::vector<LocalId> nodes;         ///< vertices, entity after entity: see `nodes_of`
  std::vector<GlobalId> global_ids;   ///< by local id
  Owners owners;                      ///< by local id
  std::size_t n_interior = 0;         ///< entities whose vertices are all owned here
  std::size_t n_owned = 0;            ///< entities of this rank, first in local order
  std::int64_t n_global = 0;          ///< on all ranks, each entity once

  /// Return the number of entities on this rank, ghosts included.
  [[nodiscard]] std::size_t size() const noexcept { return global_ids.size(); }
  /// Return the global id of an entity.
  /// @param i  local id
  [[nodiscard]] GlobalId id(std::size_t i) const noexcept { return global_ids[i]; }
  /// Return the rank that owns an entity. Cost: O(log owners) for copies.
  /// @param i  local id
  [[nodiscard]] Rank owner(std::size_t i) const noexcept { return owners[i]; }
  /// Return the type of an entity.
  /// @param i  local id
  [[nodiscard]] CellType type(std::size_t i) const noexcept { return has_one_type ? types[0] : types[i]; }
  /// Return the vertices of an entity as local ids, in the order of its type.
  /// @param i  local id
  [[nodiscard]] std::span<const LocalId> nodes_of(std::size_t i) const& noexcept {
    if (offsets.empty()) {
      const std::size_t n = nodes_per_entity;
      return std::span<const LocalId>(nodes).subspan(i * n, n);
    }
    const std::size_t first = offsets[i];
    return std::span<const LocalId>(nodes).subspan(first, offsets[i + 1] - first);
  }
  /// Return the bytes of the table on this rank, sharing included.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
};

/// Vertices on one rank. Local order: interior, fringe, then copies grouped by owner.
/// A copy is a vertex that another rank owns: one on the interface, or one that only ghost cells use.
struct VertexTable : Sharing {
  std::vector<double> coordinates;   ///< shape (n_local, 3)
  std::vector<GlobalId> global_ids;  ///< by local id
  Owners owners;                     ///< by local id
  std::size_t n_interior = 0;        ///< owned, and no cell joins them to a copy
  std::size_t n_owned = 0;           ///< vertices of this rank, first in local order
  std::int64_t n_global = 0;         ///< on all ranks, each vertex once

  /// Return the number of vertices on this rank, copies included.
  [[nodiscard]] std::size_t size() const noexcept { return global_ids.size(); }
  /// Return the bytes of the table on this rank, sharing included.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
};

/// Ownership and sharing of an entity, as one rank sees it.
struct EntityStatus {
  Rank owner;                     ///< the one rank that owns it; may be this rank
  bool is_owned;                  ///< this rank is the owner
  bool is_ghost;                  ///< only ghosts use it here; for cells: another rank owns it
  std::span<const Rank> sharers;  ///< ranks whose own cells use it, ascending; empty for a single one and for ghosts

  /// Tell whether the entity lies on the interface to other ranks.
  [[nodiscard]] bool is_shared() const noexcept { return !sharers.empty(); }
  /// Tell whether the cells of more than two ranks use the entity.
  [[nodiscard]] bool is_multi_shared() const noexcept { return sharers.size() > 2; }
};

/// Entities of one dimension that the same ranks share.
struct Interface {
  std::span<const Rank> ranks;  ///< ascending, this one included
  Range entities;               ///< local ids of all that exactly these ranks share
};

/// A set and its members on this rank, including the members of the sets that it contains.
struct MeshSet {
  SetInfo info;                   ///< the same on every rank
  Range vertices;                 ///< copies included
  std::array<Range, 4> entities;  ///< by dimension; [0] unused; ghosts included for cells
};

/// Array of a field's values; its type is one of those that a field may have.
using FieldValues =
    std::variant<std::vector<double>, std::vector<float>, std::vector<std::int32_t>, std::vector<std::int64_t>>;

/// Values on the entities of one dimension, owned by a Mesh.
struct FieldData {
  std::string name;       ///< unique on its dimension
  Dim dim = Dim::vertex;  ///< of the entities with the values
  int n_components = 1;   ///< values of each entity
  FieldValues values;     ///< shape (n_local(dim), n_components), entity after entity
};

/// Typed reference to a field of a Mesh. Borrowed: the mesh must outlive it. Copying copies the reference.
template <class T>
class Field {
 public:
  /// Construct a reference to the values of a field. Local.
  /// @throws std::bad_variant_access if they are not of type T
  explicit Field(FieldData& data) : data_(&data), values_(std::get<std::vector<T>>(data.values)) {}
  /// Return the values: shape (n_local(dim), n_components), contiguous by entity.
  [[nodiscard]] std::span<T> values() const noexcept { return values_; }
  /// Return the first component of an entity's value.
  T& operator[](LocalId id) const noexcept { return values_[index(id) * data_->n_components]; }
  /// Return the name, which is unique on the dimension.
  [[nodiscard]] const std::string& name() const noexcept { return data_->name; }
  /// Return the dimension of the entities that have the values.
  [[nodiscard]] Dim dim() const noexcept { return data_->dim; }
  /// Return the number of values of each entity.
  [[nodiscard]] int n_components() const noexcept { return data_->n_components; }

 private:
  FieldData* data_;
  std::span<T> values_;
};

/// Options of the ghosts of a mesh, the same on all ranks.
struct BuildOptions {
  /// Number of ghost layers. Layer 1: cells of other ranks that share a vertex (see `bridge`) with a cell of this rank;
  /// layer k + 1: those that share one with a cell of layer k.
  int ghost_layers = 0;
  /// Dimension over which ghost layers spread: Dim::vertex, Dim::edge or, for volumes, Dim::face.
  Dim bridge = Dim::vertex;
  /// Ghost cells bring their listed faces and edges, with sets, tags and fields.
  bool ghost_sides = false;
  /// Sets whose cells become ghosts; the sets that they contain count too. Give a set's name, or kind and id ("material
  /// 3"). Empty: all cells.
  std::vector<std::string> ghost_sets = {};
  /// Ranks that send and receive ghosts. The same on every rank. Empty: all ranks.
  std::vector<Rank> ghost_ranks = {};
};

struct LocalMesh;  // local_mesh.hpp

/// A mesh distributed over the ranks of a context: each rank holds the cells of its parts, the vertices they use, and
/// on request layers of ghost cells. Move-only.
///
/// Every entity has one owner. A cell belongs to the rank that holds its part. An entity on the interface belongs to
/// one of its sharers, chosen by a hash of its global id, so that no rank gets more than its share.
class Mesh {
 public:
  /// Build the mesh of all ranks from tables. Collective.
  /// Parts go to ranks in contiguous slices; a rank without a part is legal and empty.
  /// @pre tables.n_parts > 0 and `validate(tables)` holds
  /// @throws AgreedError{usage} for cells in no parts, a negative number of layers, a bridge that is not a side of a
  /// cell, a set or a rank that does not exist, and ghost_ranks that differ between ranks
  /// Cost: three routed exchanges for cells and vertices; for ghosts one neighbourhood round, then two for each further
  /// layer (over a bridge of edges or faces, two for every layer); memory O(n_local).
  /// Source: Tautges et al. 2012, sections II to IV; here sharing comes with the look-up of coordinates, and no skin is
  /// computed.
  Mesh(mpi::Context& context, const MeshTables& tables, BuildOptions options = {});
  /// Build the mesh with less memory: tables are freed as the mesh grows.
  /// @param tables  consumed
  Mesh(mpi::Context& context, MeshTables&& tables, BuildOptions options = {});
  ~Mesh();
  Mesh(Mesh&&) noexcept;
  Mesh& operator=(Mesh&&) noexcept;

  /// Return the context of the mesh's ranks, which must outlive the mesh.
  [[nodiscard]] mpi::Context& context() const noexcept;
  /// Return the dimension of the cells: Dim::face for a surface mesh, Dim::volume for a solid one.
  [[nodiscard]] Dim cell_dim() const noexcept;
  /// Return the number of ghost layers of the mesh; 0: no ghosts.
  [[nodiscard]] int ghost_layers() const noexcept;
  /// Return the options that determine the ghosts of the mesh.
  [[nodiscard]] const BuildOptions& build_options() const& noexcept;
  /// Refuse a temporary: its options end with it.
  const BuildOptions& build_options() && = delete;

  /// Return the number of entities on this rank, copies included. Below the cells' dimension only those that the file
  /// lists count.
  [[nodiscard]] std::size_t n_local(Dim dim) const;
  /// Return the number of entities that this rank owns; they come first in local order.
  [[nodiscard]] std::size_t n_owned(Dim dim) const;
  /// Return the number of local entities that other ranks own; for vertices, all copies, including those on the
  /// interface.
  [[nodiscard]] std::size_t n_ghost(Dim dim) const { return n_local(dim) - n_owned(dim); }
  /// Return the number of entities on all ranks, each counted once. Local.
  [[nodiscard]] std::int64_t n_global(Dim dim) const;

  /// Return the vertices on this rank, copies included.
  [[nodiscard]] const VertexTable& vertices() const& noexcept;
  /// Refuse a temporary: its vertices end with it.
  const VertexTable& vertices() && = delete;
  /// Return the cells on this rank, ghosts included: entities(cell_dim()).
  [[nodiscard]] const EntityTable& cells() const& noexcept;
  /// Refuse a temporary: its cells end with it.
  const EntityTable& cells() && = delete;
  /// Return the entities of dimension 1 to 3. Below the cells' dimension only those that the file lists; ghosts of
  /// these only if `BuildOptions::ghost_sides` asked for them.
  [[nodiscard]] const EntityTable& entities(Dim dim) const&;
  /// Return the part of each local cell, ghosts included.
  [[nodiscard]] std::span<const std::int32_t> cell_parts() const& noexcept;
  /// Return the range of this rank's parts.
  [[nodiscard]] LocalRange parts() const noexcept;
  /// Return the number of parts on all ranks together.
  [[nodiscard]] int n_parts() const noexcept;
  /// Return the file's data on this rank's parts; empty once cells have migrated.
  [[nodiscard]] const PartSets& part_sets() const& noexcept;
  /// Refuse a temporary: its data end with it.
  const PartSets& part_sets() && = delete;
  /// Return all sets, the same list on every rank, each with its members here.
  [[nodiscard]] std::span<const MeshSet> sets() const& noexcept;
  /// Return the set of a kind with a name.
  /// @throws Error{usage} with "did you mean" if the mesh has no such set; with their ids if it has several
  [[nodiscard]] const MeshSet& set(SetKind kind, std::string_view name) const&;

  /// Return all tags, the same list on every rank, each with its values here.
  [[nodiscard]] std::span<const MeshTag> tags() const& noexcept;
  /// Tell whether the mesh has a tag with a name; the same on every rank.
  [[nodiscard]] bool has_tag(std::string_view name) const noexcept;
  /// Return the tag with a name.
  /// @throws Error{usage} with "did you mean" if the mesh has no such tag
  [[nodiscard]] const MeshTag& tag(std::string_view name) const&;

  /// Return the owned entities that can be computed before ghosts arrive.
  [[nodiscard]] LocalRange interior(Dim dim) const;
  /// Return the owned entities that need ghosts.
  [[nodiscard]] LocalRange fringe(Dim dim) const;

  /// Return the ranks that share a vertex with this one, ascending.
  [[nodiscard]] std::span<const Rank> neighbours() const& noexcept;
  /// Return the shared entities of a dimension, with their sharers. Cells are never shared.
  [[nodiscard]] const Sharing& sharing(Dim dim) const&;
  /// Return the global ids of a dimension, by local id.
  [[nodiscard]] std::span<const GlobalId> global_ids(Dim dim) const&;
  /// Return the owner and the sharers of an entity. Local. Cost: O(log of shared entities and of owners). The sharers
  /// are borrowed from the mesh.
  [[nodiscard]] EntityStatus status(Dim dim, LocalId id) const&;
  /// List the shared entities by their sharers, in the order of `Sharing::rank_sets`. Local. Cost: O(shared).
  [[nodiscard]] std::vector<Interface> interfaces(Dim dim) const&;
  /// Find the entities that this rank shares with another one. Local. Cost: O(shared).
  [[nodiscard]] Range shared_with(Dim dim, Rank rank) const;

  /// Add a field, zero everywhere. Local.
  /// @throws Error{usage} if the name is taken on that dimension
  template <class T>
  Field<T> add_field(const std::string& name, Dim dim, int n_components = 1);
  /// Return the field with a name on a dimension.
  /// @throws Error{usage} with "did you mean" if there is no such field of that type
  template <class T>
  [[nodiscard]] Field<T> field(std::string_view name, Dim dim) const;
  /// Return all fields, in the order in which they were added. The span is valid until a field is added.
  [[nodiscard]] std::span<const std::unique_ptr<FieldData>> fields() const& noexcept;

  /// Make an exchange that brings the copies of a field up to date. Local: the plan was made with the mesh.
  /// @param how  strategy, tests while the caller computes, communication thread. If it names no message class,
  /// exchanges of values of one size on entities of one dimension form a class: those of a rebuilt mesh continue with
  /// the measurements of their predecessors.
  /// @throws Error{usage} if the mesh has no entities of the field's dimension
  template <class T>
  [[nodiscard]] exchange::HaloExchange<T> plan(const Field<T>& field,
                                               const exchange::RepeatedExchangeOptions& how = {}) const {
    return {context(), halo_plan(field.dim()), field.values(), field.n_components(),
            described(how, field.name(), field.dim(), sizeof(T) * field.n_components())};
  }
  /// Return the plan that brings the copies of values on a dimension up to date. Local: it was made with the mesh.
  /// @throws Error{usage} if the mesh has no entities of that dimension
  [[nodiscard]] std::shared_ptr<const exchange::HaloPlan> halo_plan(Dim dim) const;

  /// Move cells to other ranks, with all that belongs to them. Collective.
  ///
  /// Vertices and listed faces and edges follow the cells that use them. So do sets, tags, payloads and fields, whose
  /// copies are brought up to date first. Sharers, owners, ghosts and plans become those of a mesh built with this
  /// distribution. Each rank becomes one part. All references to the old mesh are invalid: ask again for fields, plans
  /// and spans, and make `Sides` again. If no cell moves on any rank, only the parts change, one reduction is the whole
  /// cost, and payloads are not called.
  /// @param[in] to  rank of each owned cell, in local order: shape (n_owned(cell_dim())); any rank may be named
  /// @param[in] payloads  data that the program keeps itself; on the same dimensions on every rank
  /// @param[in] ghosts  options of other ghosts than the mesh has, the same on every rank: the mesh is then rebuilt
  /// even if no cell moves
  /// @throws AgreedError on all ranks: {usage} for a wrong number of destinations, a rank that does not exist or a
  /// payload on a dimension without entities; or the exception of `pack` on the lowest rank where it throws. The mesh
  /// is then untouched. Exceptions of `unpack` come once cells have moved.
  /// @return number of cells that left this rank
  /// @pre all ranks have the same fields
  /// Cost: a small reduction, two rounds with the ranks that cells go to or whose entities they use, and those of
  /// ghosts and plans, whatever the number of ranks. The two end in non-blocking barriers if a cell goes to a rank that
  /// is not a neighbour. With payloads two reductions, and a round for each payload. Time and memory O(n_local): at its
  /// highest about twice the mesh.
  std::size_t migrate(std::span<const Rank> to, const std::vector<Payload>& payloads = {},
                      const std::optional<BuildOptions>& ghosts = {});
  /// Keep the program's data on entities in the mesh, as hidden tags. Operations that move cells of this mesh to other
  /// ranks, or replace them, take the data along. Collective. The next call is `unpack`, with the same payloads.
  /// `migrate` does both by itself.
  /// @throws AgreedError on all ranks, as `migrate`; the mesh is then untouched
  /// Cost: three reductions, and a round for each payload
  void pack(std::span<const Payload> payloads);
  /// Deliver the data that `pack` kept to the entities as they are now. Collective. Cost: a reduction
  void unpack(std::span<const Payload> payloads);
  /// Make the mesh that `migrate` would make. This one stays; the copies of its fields are brought up to date.
  /// Collective.
  /// Cost: as `migrate`, and a copy of this mesh.
  [[nodiscard]] Mesh moved(std::span<const Rank> to);

  /// Take the mesh apart into this rank's share, with sharers, sets, tags and fields, without ghosts and plans. `adopt`
  /// makes a mesh of it again (local_mesh.hpp); this one is then empty. Collective: copies of fields are brought up to
  /// date first.
  /// @pre all ranks have the same fields
  /// Cost: an exchange for each field, O(n_local); arrays are not copied
  [[nodiscard]] LocalMesh release() &&;
  /// Make the value that `release` would give. This mesh stays. Collective.
  /// Cost: as `release`, and a copy of the mesh
  [[nodiscard]] LocalMesh released();
  /// Return how often cells were moved or changed since the mesh was built: 0 at first. Data derived from a mesh is
  /// stale once the number has grown.
  [[nodiscard]] std::uint64_t revision() const noexcept;

  /// Compute a hash of the owned mesh: vertices with coordinates, cells with connectivity. Collective. Does not depend
  /// on the rank count or on ghosts; see `Hash64`.
  [[nodiscard]] std::uint64_t checksum() const;
  /// Compute a hash of the owned values of a field. Collective.
  [[nodiscard]] std::uint64_t checksum(const FieldData& field) const;

  /// Check every invariant of the mesh. Collective.
  /// @throws AgreedError{internal} naming the first broken one: every entity owned once; sharers agree; the remote id
  /// of the remote id is the entity; a 1 from every sharer sums up to their number; copies equal their owners'
  /// entities; local order; plans complete
  /// Cost: O(n_local) without messages, messages O(interface), and one routed id for each owned entity.
  void validate() const;

  /// Return the bytes that this rank holds for the mesh and its fields. Local.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  [[nodiscard]] static exchange::RepeatedExchangeOptions described(exchange::RepeatedExchangeOptions how,
                                                                   const std::string& name, Dim dim,
                                                                   std::size_t n_bytes);
  friend class MeshAssembly;
  friend class MeshBuilder;
  friend class MeshMigration;
  friend class MeshAdoption;
  struct StorageBase;
  struct Storage;
  explicit Mesh(std::unique_ptr<Storage> storage);
  /// Bring the copies of all fields up to date. Collective.
  void update_copies();
  /// Make the value that `release` gives.
  /// @param storage  consumed; copies of fields are up to date
  [[nodiscard]] static LocalMesh released(Storage& storage);
  /// Distance that cells go: nowhere, to neighbours, to other ranks, or to a rank that does not exist.
  enum class Distance : std::int64_t { none, near, far, wrong };
  [[nodiscard]] Distance distance_to(std::span<const Rank> to) const;
  /// Agree on the farthest distance of all ranks. Collective.
  /// @throws AgreedError{usage} if one is wrong, or payloads are not on the same dimensions
  [[nodiscard]] Distance agree_on_distance(std::span<const Rank> to, std::span<const Payload> payloads = {}) const;
  /// Make the mesh with its cells moved.
  /// @param storage  of this mesh or of a copy: consumed
  [[nodiscard]] static Mesh moved(Storage& storage, std::span<const Rank> to, Distance distance);
  void make_ranks_parts();
  // carry_payloads.cpp. Collective.
  void pack_payloads(std::span<const Payload> payloads);
  void unpack_payloads(std::span<const Payload> payloads);
  FieldData& new_field(const std::string& name, Dim dim, int n_components, FieldValues values);
  [[nodiscard]] FieldData& find_field(std::string_view name, Dim dim) const;
  [[noreturn]] static void refuse_type(const FieldData& found, const FieldValues& wanted);
  std::unique_ptr<Storage> storage_;
};

template <class T>
Field<T> Mesh::add_field(const std::string& name, Dim dim, int n_components) {
  return Field<T>(new_field(name, dim, n_components, std::vector<T>(n_local(dim) * n_components)));
}

template <class T>
Field<T> Mesh::field(std::string_view name, Dim dim) const {
  FieldData& found = find_field(name, dim);
  if (!std::holds_alternative<std::vector<T>>(found.values)) refuse_type(found, std::vector<T>());
  return Field<T>(found);
}

}  // namespace barrio::mesh

namespace barrio {
using mesh::Dim;
using mesh::Mesh;
}  // namespace barrio
