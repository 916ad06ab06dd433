#include "barrio/mesh/mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mesh/assembly/assembly.hpp"
#include "barrio/mesh/assembly/builder.hpp"
#include "barrio/mesh/assembly/ghosts/ghosts.hpp"
#include "barrio/mesh/assembly/storage.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

/// Hash the dimensions of payloads.
std::int64_t hash_of(std::span<const Payload> payloads) {
  Hash64 dims;
  for (const Payload& payload : payloads) dims.add(std::int64_t{mesh::value(payload.dim)});
  return dims.add(std::uint64_t{payloads.size()}).value() >> 1U;
}

[[noreturn]] void refuse_unlike_payloads() {
  refuse_together(ErrorCode::usage, "payloads", "must be on the same dimensions on every rank",
                  "give all ranks the same list, also ranks without cells");
}

}  // namespace

std::uint64_t Sharing::memory_bytes() const noexcept {
  return barrio::memory_bytes(shared) + barrio::memory_bytes(sharer_sets) + rank_sets.memory_bytes();
}

std::uint64_t EntityTable::memory_bytes() const noexcept {
  return barrio::memory_bytes(types) + barrio::memory_bytes(offsets) + barrio::memory_bytes(nodes) +
         barrio::memory_bytes(global_ids) + owners.memory_bytes() + Sharing::memory_bytes();
}

std::uint64_t VertexTable::memory_bytes() const noexcept {
  return barrio::memory_bytes(coordinates) + barrio::memory_bytes(global_ids) + owners.memory_bytes() +
         Sharing::memory_bytes();
}

void MeshAssembly::put_together(Mesh::Storage& out, detail::Numbered& numbered,
                                std::array<detail::PlacedSides, 4>& sides, std::span<const SetInfo> infos) {
  out.sets = detail::filled_sets(infos, numbered, sides);
  numbered.vertices.n_global = out.vertices.n_global;
  out.vertices = std::move(numbered.vertices);
  out.halos[0] = std::move(numbered.vertex_halo);
  for (std::size_t d = 1; d < index(numbered.cell_dim); ++d) {
    out.entities[d] = std::move(sides[d].table);
    out.halos[d] = std::move(sides[d].halo);
  }
  out.entities[index(numbered.cell_dim)] = std::move(numbered.cells);
  out.halos[index(numbered.cell_dim)] = std::move(numbered.cell_halo);
  out.cell_parts = std::move(numbered.parts);
}

Mesh::Mesh(mpi::Context& context, const MeshTables& tables, BuildOptions options)
    : storage_(std::make_unique<Storage>()) {
  MeshBuilder(context, tables, std::move(options), *storage_).build();
}
Mesh::Mesh(mpi::Context& context, MeshTables&& tables, BuildOptions options) : storage_(std::make_unique<Storage>()) {
  MeshBuilder(context, std::move(tables), std::move(options), *storage_).build();
}
Mesh::Mesh(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
Mesh::~Mesh() = default;
Mesh::Mesh(Mesh&&) noexcept = default;
Mesh& Mesh::operator=(Mesh&&) noexcept = default;

mpi::Context& Mesh::context() const noexcept { return *storage_->context; }
Dim Mesh::cell_dim() const noexcept { return storage_->cell_dim; }
int Mesh::ghost_layers() const noexcept { return storage_->options.ghost_layers; }
const BuildOptions& Mesh::build_options() const& noexcept { return storage_->options; }
int Mesh::n_parts() const noexcept { return storage_->n_parts; }
const PartSets& Mesh::part_sets() const& noexcept { return storage_->part_sets; }
LocalRange Mesh::parts() const noexcept { return storage_->parts; }
std::uint64_t Mesh::revision() const noexcept { return storage_->revision; }
const VertexTable& Mesh::vertices() const& noexcept { return storage_->vertices; }
const EntityTable& Mesh::entities(Dim dim) const& { return storage_->entities[index(dim)]; }
const EntityTable& Mesh::cells() const& noexcept { return storage_->entities[index(cell_dim())]; }
std::span<const std::int32_t> Mesh::cell_parts() const& noexcept { return storage_->cell_parts; }
std::span<const MeshSet> Mesh::sets() const& noexcept { return storage_->sets; }
std::span<const Rank> Mesh::neighbours() const& noexcept { return storage_->neighbours; }
std::span<const std::unique_ptr<FieldData>> Mesh::fields() const& noexcept { return storage_->fields; }

std::size_t Mesh::n_local(Dim dim) const { return dim == Dim::vertex ? vertices().size() : entities(dim).size(); }
std::size_t Mesh::n_owned(Dim dim) const { return dim == Dim::vertex ? vertices().n_owned : entities(dim).n_owned; }
std::int64_t Mesh::n_global(Dim dim) const { return dim == Dim::vertex ? vertices().n_global : entities(dim).n_global; }

const Sharing& Mesh::sharing(Dim dim) const& {
  if (dim == Dim::vertex) return vertices();
  return entities(dim);
}

std::span<const GlobalId> Mesh::global_ids(Dim dim) const& {
  return dim == Dim::vertex ? vertices().global_ids : entities(dim).global_ids;
}

EntityStatus Mesh::status(Dim dim, LocalId id) const& {
  const Rank owner = (dim == Dim::vertex ? vertices().owners : entities(dim).owners)[index(id)];
  const bool is_owned = owner == context().rank();
  const Sharing& sharing = this->sharing(dim);
  const auto at = std::ranges::lower_bound(sharing.shared, id);
  if (at == sharing.shared.end() || *at != id) return {owner, is_owned, !is_owned, {}};
  return {owner, is_owned, false, sharing.sharers_of(at - sharing.shared.begin())};
}

std::vector<Interface> Mesh::interfaces(Dim dim) const& {
  const Sharing& sharing = this->sharing(dim);
  std::vector<Interface> all(sharing.rank_sets.size());
  for (std::size_t s = 0; s < sharing.shared.size(); ++s) {
    Interface& one = all[sharing.sharer_sets[s]];
    one.ranks = sharing.sharers_of(s);
    one.entities.insert(sharing.shared[s]);
  }
  std::erase_if(all, [](const Interface& one) { return one.entities.empty(); });  // rank sets of ghost vertices only
  return all;
}

Range Mesh::shared_with(Dim dim, Rank rank) const {
  const Sharing& sharing = this->sharing(dim);
  Range found;
  for (std::size_t s = 0; s < sharing.shared.size(); ++s)
    if (std::ranges::binary_search(sharing.sharers_of(s), rank)) found.insert(sharing.shared[s]);
  return found;
}

LocalRange Mesh::interior(Dim dim) const {
  const std::size_t n = dim == Dim::vertex ? vertices().n_interior : entities(dim).n_interior;
  return {LocalId{0}, local_id(n)};
}

LocalRange Mesh::fringe(Dim dim) const { return {interior(dim).last, local_id(n_owned(dim))}; }

const MeshSet& Mesh::set(SetKind kind, std::string_view wanted) const& {
  std::vector<std::string> known;
  std::vector<std::int32_t> ids;
  const MeshSet* found = nullptr;
  for (const MeshSet& one : sets()) {
    const auto id = one.info.id_as(kind);
    if (!id) continue;
    known.push_back(one.info.name);
    if (one.info.name != wanted) continue;
    ids.push_back(*id);
    found = &one;
  }
  if (ids.size() == 1) return *found;
  if (ids.size() > 1)
    throw Error(ErrorCode::usage, {.subject = fmt::format("{} set '{}'", mesh::name(kind), wanted),
                                   .cause = fmt::format("is the name of {} sets of the mesh, with the ids {}",
                                                        ids.size(), fmt::join(ids, ", ")),
                                   .remedy = "take each from the mesh's list `sets`, by its id"});
  throw Error(ErrorCode::usage,
              {.subject = fmt::format("{} set '{}'", mesh::name(kind), wanted),
               .cause = "is not in the mesh." + did_you_mean(wanted, known),
               .remedy = known.empty() ? "" : fmt::format("the mesh has: {}", fmt::join(known, ", "))});
}

std::span<const MeshTag> Mesh::tags() const& noexcept { return storage_->tags; }

bool Mesh::has_tag(std::string_view wanted) const noexcept {
  return std::ranges::any_of(tags(), [&](const MeshTag& tag) { return tag.info.name == wanted; });
}

const MeshTag& Mesh::tag(std::string_view wanted) const& {
  std::vector<std::string> known;
  for (const MeshTag& tag : tags()) {
    if (tag.info.name == wanted) return tag;
    known.push_back(tag.info.name);
  }
  throw Error(ErrorCode::usage,
              {.subject = fmt::format("tag '{}'", wanted),
               .cause = "is not in the mesh." + did_you_mean(wanted, known),
               .remedy = known.empty() ? "" : fmt::format("the mesh has: {}", fmt::join(known, ", "))});
}

void Mesh::update_copies() {
  for (const auto& field : fields()) {
    const auto& halo = storage_->halos[index(field->dim)];
    if (!halo) continue;
    std::visit(
        [&]<class T>(std::vector<T>& values) {
          exchange::HaloExchange<T>(context(), halo, values, field->n_components,
                                    described({}, field->name, field->dim, sizeof(T) * field->n_components))
              .exchange();
        },
        field->values);
  }
}

Mesh::Distance Mesh::distance_to(std::span<const Rank> to) const {
  const mpi::Context& here = context();
  const auto distance = [&](Rank rank) {
    if (rank == here.rank()) return Distance::none;
    if (rank < 0 || rank >= here.size()) return Distance::wrong;
    return std::ranges::binary_search(neighbours(), rank) ? Distance::near : Distance::far;
  };
  Distance highest = to.size() == n_owned(cell_dim()) ? Distance::none : Distance::wrong;
  Rank last = here.rank();  // consecutive cells often go to the same rank
  for (const Rank rank : to) {
    if (rank == last) continue;
    highest = std::max(highest, distance(rank));
    last = rank;
  }
  return highest;
}

void Mesh::pack(std::span<const Payload> payloads) {
  const std::int64_t hash = hash_of(payloads);
  std::array<std::int64_t, 2> ends{hash, -hash};
  mpi::all_reduce(context(), std::span<std::int64_t>(ends), MPI_MAX);
  if (ends[0] != -ends[1]) refuse_unlike_payloads();
  pack_payloads(payloads);
}

void Mesh::unpack(std::span<const Payload> payloads) { unpack_payloads(payloads); }

Mesh::Distance Mesh::agree_on_distance(std::span<const Rank> to, std::span<const Payload> payloads) const {
  mpi::Context& here = context();
  const Distance mine = distance_to(to);
  const std::int64_t hash = hash_of(payloads);
  std::array<std::int64_t, 3> ends{static_cast<std::int64_t>(mine), hash, -hash};
  mpi::all_reduce(here, std::span<std::int64_t>(ends), MPI_MAX);
  const auto highest = static_cast<Distance>(ends[0]);
  if (ends[1] != -ends[2]) refuse_unlike_payloads();
  if (highest != Distance::wrong) return highest;
  agree_after(here, [&] {
    if (mine != Distance::wrong) return;
    const std::size_t n = n_owned(cell_dim());
    if (to.size() != n)
      refuse(ErrorCode::usage, fmt::format("{} destinations", to.size()),
             fmt::format("must be one for each of the {} owned cells of this rank", n),
             "give a rank for each owned cell, in local order");
    const auto wrong = std::ranges::find_if(to, [&](Rank rank) { return rank < 0 || rank >= here.size(); });
    refuse(ErrorCode::usage, fmt::format("destination {}", *wrong),
           fmt::format("must be one of the {} ranks", here.size()),
           fmt::format("give ranks from 0 to {}", here.size() - 1));
  });
  return highest;
}

Mesh Mesh::moved(Storage& storage, std::span<const Rank> to, Distance distance) {
  // Rounds of the old neighbourhood suffice if all cells go to neighbours: a former owner of a cell's vertices or sides
  // is then at most two hops away.
  const auto termination =
      distance == Distance::far ? exchange::Termination::consensus : exchange::Termination::introductions;
  return MeshAssembly::moved(storage, to, termination);
}

Mesh Mesh::moved(std::span<const Rank> to) {
  const Distance distance = agree_on_distance(to);
  update_copies();
  const std::unique_ptr<Storage> copy = storage_->copy();
  return moved(*copy, to, distance);
}

void Mesh::make_ranks_parts() {
  drop_part_sets(context(), storage_->part_sets);
  if (n_parts() == context().size()) return;  // slices are contiguous: each rank already has one part
  storage_->n_parts = context().size();
  storage_->parts = {LocalId{context().rank()}, LocalId{context().rank() + 1}};
  storage_->cell_parts = cells().owners.to_vector();
}

std::size_t Mesh::migrate(std::span<const Rank> to, const std::vector<Payload>& payloads,
                          const std::optional<BuildOptions>& ghosts) {
  if (ghosts) detail::check_options(context(), *ghosts, cell_dim());
  const Distance distance = agree_on_distance(to, payloads);
  if (distance == Distance::none && !ghosts) {
    make_ranks_parts();
    return 0;
  }
  pack_payloads(payloads);
  update_copies();
  // Counted before this mesh is taken apart: `to` may lie in its memory.
  const auto n_left = std::ranges::count_if(to, [&](Rank rank) { return rank != context().rank(); });
  if (ghosts) storage_->options = *ghosts;
  *this = moved(*storage_, to, distance);
  unpack_payloads(payloads);
  return n_left;
}

FieldData& Mesh::new_field(const std::string& wanted, Dim dim, int n_components, FieldValues values) {
  for (const auto& field : storage_->fields) {
    if (field->name == wanted && field->dim == dim) {
      throw Error(ErrorCode::usage, {.subject = fmt::format("field '{}'", wanted),
                                     .cause = "already exists on this dimension",
                                     .remedy = "choose another name or use field()"});
    }
  }
  storage_->fields.push_back(std::make_unique<FieldData>(FieldData{wanted, dim, n_components, std::move(values)}));
  return *storage_->fields.back();
}

FieldData& Mesh::find_field(std::string_view wanted, Dim dim) const {
  std::vector<std::string> known;
  for (const auto& field : storage_->fields) {
    if (field->dim != dim) continue;
    if (field->name == wanted) return *field;
    known.push_back(field->name);
  }
  throw Error(ErrorCode::usage,
              {.subject = fmt::format("field '{}'", wanted),
               .cause = fmt::format("does not exist on dimension {}.{}", value(dim), did_you_mean(wanted, known))});
}

void Mesh::refuse_type(const FieldData& found, const FieldValues& wanted) {
  constexpr std::array<const char*, std::variant_size_v<FieldValues>> type_names{"double", "float", "int32", "int64"};
  throw Error(ErrorCode::usage, {.subject = fmt::format("field '{}'", found.name),
                                 .cause = fmt::format("has values of type {}, and was asked for as {}",
                                                      type_names[found.values.index()], type_names[wanted.index()]),
                                 .remedy = fmt::format("ask for {}", type_names[found.values.index()])});
}

exchange::RepeatedExchangeOptions Mesh::described(exchange::RepeatedExchangeOptions how, const std::string& name,
                                                  Dim dim, std::size_t n_bytes) {
  if (how.contents.empty()) how.contents = fmt::format("field '{}' on dimension {}", name, value(dim));
  if (how.message_class.empty()) how.message_class = fmt::format("mesh, {} bytes on dimension {}", n_bytes, index(dim));
  return how;
}

std::shared_ptr<const exchange::HaloPlan> Mesh::halo_plan(Dim dim) const {
  const auto d = index(dim);
  if (d < storage_->halos.size() && storage_->halos[d]) return storage_->halos[d];
  throw Error(ErrorCode::usage, {.subject = fmt::format("exchange on dimension {}", value(dim)),
                                 .cause = "is not possible: the mesh has no entities of that dimension",
                                 .remedy = "make all faces or edges with mesh::Sides, and use its plan"});
}

std::uint64_t Mesh::checksum() const {
  std::uint64_t total = 0;
  const VertexTable& v = vertices();
  for (std::size_t i = 0; i < v.n_owned; ++i) {
    total += Hash64(0)
                 .add(barrio::value(v.global_ids[i]))
                 .add_all(std::span<const double>(&v.coordinates[3 * i], 3))
                 .value();
  }
  const EntityTable& c = cells();
  for (std::size_t i = 0; i < c.n_owned; ++i) {
    Hash64 hash(1);
    hash.add(barrio::value(c.global_ids[i])).add(static_cast<std::uint64_t>(c.type(i)));
    for (const LocalId node : c.nodes_of(i)) hash.add(barrio::value(v.global_ids[index(node)]));
    total += hash.value();
  }
  return mpi::sum(context(), total);
}

std::uint64_t Mesh::checksum(const FieldData& field) const {
  std::uint64_t total = 0;
  const std::span<const GlobalId> ids = global_ids(field.dim);
  const std::size_t n = field.n_components;
  std::visit(
      [&](const auto& values) {
        for (std::size_t i = 0; i < n_owned(field.dim); ++i) {
          Hash64 hash(2);
          hash.add(barrio::value(ids[i]));
          for (std::size_t c = 0; c < n; ++c) {
            using Value = std::decay_t<decltype(values[0])>;
            if constexpr (std::is_floating_point_v<Value>) {
              hash.add(static_cast<double>(values[i * n + c]));
            } else {
              hash.add(static_cast<std::int64_t>(values[i * n + c]));
            }
          }
          total += hash.value();
        }
      },
      field.values);
  return mpi::sum(context(), total);
}

std::uint64_t Mesh::memory_bytes() const noexcept {
  std::uint64_t bytes = storage_->vertices.memory_bytes() + barrio::memory_bytes(storage_->cell_parts);
  for (const auto& halo : storage_->halos)
    if (halo) bytes += halo->memory_bytes();
  for (const EntityTable& table : storage_->entities) bytes += table.memory_bytes();
  for (const MeshSet& set : storage_->sets) {
    bytes += set.vertices.memory_bytes();
    for (const Range& range : set.entities) bytes += range.memory_bytes();
  }
  for (const MeshTag& tag : storage_->tags) bytes += tag.memory_bytes();
  for (const auto& field : storage_->fields)
    std::visit([&](const auto& values) { bytes += barrio::memory_bytes(values); }, field->values);
  return bytes;
}

}  // namespace barrio::mesh
