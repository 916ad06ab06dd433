#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "barrio/base/memory.hpp"
#include "barrio/mesh/assembly/adoption.hpp"
#include "barrio/mesh/assembly/carry_tags.hpp"
#include "barrio/mesh/assembly/offsets.hpp"
#include "barrio/mesh/assembly/sides_along.hpp"
#include "barrio/mesh/tables/append_each.hpp"
#include "barrio/mesh/tables/drawn_owner.hpp"
#include "barrio/mesh/tables/order_of_runs.hpp"
#include "barrio/mesh/tables/tag_look_up.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

constexpr RegionName adopt_region{"mesh.adopt"};

/// Invert an order: return the place of each value in it, -1 if the order lacks the value.
/// @param n  number of possible values
std::vector<std::int32_t> inverse(std::span<const std::int32_t> order, std::size_t n) {
  std::vector<std::int32_t> place(n, -1);
  std::int32_t n_placed = 0;
  for (const std::int32_t at : order) place[at] = n_placed++;
  return place;
}

}  // namespace

MeshAdoption::MeshAdoption(mpi::Context& context, LocalMesh& from, Mesh::Storage& out)
    : context_(context), options_(from.options), out_(out), from_(from) {
  known_.dim = from.cell_dim;
  known_.takes_ghosts = options_.ghost_layers > 0;
}

void MeshAdoption::check() {
  const Region region(context_.trace(), adopt_region);
  agree_after(context_, [&] { check_arrays(); });
  out_.cell_dim = from_.cell_dim;
  agree_on_shapes();
  detail::check_options(context_, options_, out_.cell_dim);
  take_own();
  confer();
  check_distinct();
  take_sets();
}

MeshAdoption::Shape MeshAdoption::shape_of(const Mesh::Storage& mesh) {
  Shape shape;
  shape.n_vertices = mesh.vertices.n_global;
  for (std::size_t d = 1; d < 4; ++d) {
    const EntityTable& from = mesh.entities[d];
    EntityTable& to = shape.tables[d];
    shape.is_listed[d] = mesh.halos[d] != nullptr;
    to.has_one_type = from.has_one_type;
    to.nodes_per_entity = from.nodes_per_entity;
    to.n_global = from.n_global;
    if (from.has_one_type) to.types = from.types;
    if (!from.offsets.empty()) to.offsets = {0};
  }
  return shape;
}

void MeshAdoption::trust(Shape shape) {
  const Region region(context_.trace(), adopt_region);
  out_.cell_dim = from_.cell_dim;
  out_.revision = from_.revision + 1;
  out_.n_parts = context_.size();
  out_.parts = {LocalId{context_.rank()}, LocalId{context_.rank() + 1}};
  out_.vertices.n_global = shape.n_vertices;
  shapes_ = std::move(shape.tables);
  known_.cells = std::move(shapes_[index(out_.cell_dim)]);
  is_listed_ = shape.is_listed;
  is_trusted_ = true;
  for (int d = 0; d <= value(out_.cell_dim); ++d)
    order_[d] = detail::order_of_runs(d == 0 ? from_.vertex_ids : from_.entities[d].ids);
  take_own();
  take_sets();
}

void MeshAdoption::take_own() {
  for (int d = 0; d < 4; ++d) n_given_[d] = from_.size(Dim{d});
  users_ = from_.rank_sets;
  take_vertices();
  take_cells();
  if (is_trusted_) {  // the given arrays are consumed: free each one once it is copied
    free_memory(from_.vertex_ids);
    free_memory(from_.coordinates);
    free_memory(from_.entities[index(out_.cell_dim)]);
  }
  for (int d = 1; d < value(out_.cell_dim); ++d) take_sides(Dim{d});
}

void MeshAdoption::free_given() {
  free_memory(from_.vertex_ids);
  free_memory(from_.coordinates);
  free_memory(from_.vertex_sharers);
  free_memory(from_.entities);
  free_memory(from_.cell_parts);
  free_memory(from_.sets);
  free_memory(place_);
}

void MeshAdoption::run() {
  const Region region(context_.trace(), adopt_region);
  free_given();
  out_.context = &context_;
  out_.options = options_;
  out_.part_sets = std::move(from_.part_sets);
  take_sharers();
  detail::Ghosts ghosts = detail::add_ghosts(context_, options_, *choice_, known_);
  numbered_ = detail::number(context_, std::move(known_), ghosts);
  std::array<detail::PlacedSides, 4> sides;
  for (int d = 1; d < value(out_.cell_dim); ++d)
    if (is_listed_[d])
      sides[d] = detail::place_sides(context_, options_, held_sides(Dim{d}), std::move(shapes_[d]), numbered_, ghosts);
  MeshAssembly::put_together(out_, numbered_, sides, infos_);
  out_.neighbours = std::move(ghosts.neighbours);
  take_values(ghosts);
  if (!is_trusted_) count();
  from_ = {};
}

void MeshAdoption::take_vertices() {
  const LocalEntities& cells = given(out_.cell_dim);
  const std::size_t n_given = from_.n_vertices();
  if (!is_trusted_) {
    std::vector<std::uint8_t> is_used(n_given, 0);
    for (const LocalId v : cells.nodes) is_used[index(v)] = 1;
    std::erase_if(order_[0], [&](std::int32_t v) { return leave_out(Dim::vertex, v, is_used[v] != 0); });
  }
  place_[0] = inverse(order_[0], n_given);

  known_.n_used = order_[0].size();
  std::vector<GlobalId> ids;
  ids.reserve(known_.n_used);
  detail::append_in_order(ids, from_.vertex_ids, order_[0]);
  known_.coordinates.reserve(3 * known_.with_room(known_.n_used));
  detail::append_in_order(known_.coordinates, from_.coordinates, order_[0], 3);
  known_.vertex_sharers.reserve(known_.with_room(known_.n_used));
  if (from_.vertex_sharers.empty()) {
    known_.vertex_sharers.assign(known_.n_used, -1);
  } else {
    detail::append_in_order(known_.vertex_sharers, from_.vertex_sharers, order_[0]);
  }
  known_.index_known(ids, cells.nodes.size());
}

bool MeshAdoption::leave_out(Dim dim, std::int32_t at, bool is_used) {
  if (!is_used && given_sharers(dim, at) >= 0) unused_[index(dim)].push_back(at);
  return !is_used;
}

void MeshAdoption::take_sharers() {
  std::vector<std::int32_t> number(users_.size(), -1);  // in the mesh
  known_.vertex_owners.reserve(known_.with_room(known_.n_used));
  for (std::size_t v = 0; v < known_.n_used; ++v) {
    std::int32_t& set = known_.vertex_sharers[v];
    if (set < 0) {
      known_.vertex_owners.push_back(context_.rank());
      continue;
    }
    if (number[set] < 0) number[set] = known_.rank_sets.add(users_[set]);
    const std::size_t drawn = detail::drawn_owner(Dim::vertex, known_.vertices.ids()[v], users_[set].size());
    known_.vertex_owners.push_back(users_[set][drawn]);
    set = number[set];
  }
}

void MeshAdoption::take_cells() {
  const auto d = index(out_.cell_dim);
  EntityTable& table = known_.cells;
  const std::size_t room = known_.with_room(order_[d].size());
  table.global_ids.reserve(room);
  table.nodes.reserve(known_.with_room(given(out_.cell_dim).nodes.size()));
  add_given(out_.cell_dim, order_[d], table);
  known_.parts.reserve(room);
  if (from_.cell_parts.empty()) {
    known_.parts.assign(order_[d].size(), context_.rank());
  } else {
    detail::append_in_order(known_.parts, from_.cell_parts, order_[d]);
  }
  known_.n_own = table.size();
}

void MeshAdoption::take_sides(Dim dim) {
  const auto d = index(dim);
  if (!is_trusted_) leave_out_sides(dim);
  sides_[d] = shapes_[d];
  add_given(dim, order_[d], sides_[d]);
  for (const std::int32_t at : order_[d]) sharers_[d].push_back(given_sharers(dim, at));
  place_[d] = inverse(order_[d], given(dim).size());
}

void MeshAdoption::leave_out_sides(Dim dim) {
  const auto d = index(dim);
  // A side with a vertex that no cell uses is not a side of any cell.
  std::erase_if(order_[d], [&](std::int32_t at) {
    return leave_out(dim, at,
                     std::ranges::none_of(given(dim).nodes_of(at), [&](LocalId v) { return place_[0][index(v)] < 0; }));
  });
  EntityTable all = shapes_[d];
  add_given(dim, order_[d], all);
  std::vector<bool> is_used(all.size(), false);
  detail::for_each_side_and_cell(known_.cells, known_.n_own, known_.n_used, all,
                                 [&](std::int32_t side, std::int32_t) { is_used[side] = true; });
  std::size_t side = 0;
  std::erase_if(order_[d], [&](std::int32_t at) { return leave_out(dim, at, is_used[side++]); });
}

void MeshAdoption::add_given(Dim dim, std::span<const std::int32_t> order, EntityTable& to) {
  const LocalEntities& all = given(dim);
  detail::append_in_order(to.global_ids, all.ids, order);
  if (is_trusted_ && dim == out_.cell_dim) free_memory(from_.entities[index(dim)].ids);
  detail::for_each_run(order, [&](std::size_t first, std::size_t last) {
    const LocalId* const begin = all.nodes_of(first).data();
    const auto end = all.nodes_of(last);
    detail::append_each(to.nodes, std::span(begin, end.data() + end.size()),
                        [&](LocalId v) { return LocalId{place_[0][index(v)]}; });
  });
  if (!to.has_one_type)
    for (const std::int32_t at : order) to.types.push_back(all.type(at));
  if (to.nodes_per_entity > 0) return;
  for (const std::int32_t at : order) detail::append_row(to.offsets, all.nodes_of(at).size());
}

detail::HeldSides MeshAdoption::held_sides(Dim dim) {
  const auto d = index(dim);
  detail::HeldSides held;
  std::vector<LocalId> local;
  for (std::size_t s = 0; s < sides_[d].size(); ++s) {
    local.clear();
    for (const LocalId v : sides_[d].nodes_of(s)) local.push_back(numbered_.vertex_at[index(v)]);
    held.add(sides_[d].global_ids[s], sides_[d].type(s), local, context_.rank());
    if (sharers_[d][s] >= 0) held.set_sharers(s, dim, users_[sharers_[d][s]]);
  }
  held.sets = std::move(set_runs_[d]);
  set_runs_[d] = {};
  return held;
}

void MeshAdoption::take_sets() {
  const auto top = index(out_.cell_dim);
  for (const MeshSet& set : from_.sets) {
    infos_.push_back(set.info);
    if (!set.entities[top].empty() && place_[top].empty()) place_[top] = inverse(order_[top], known_.n_own);
  }
  for (std::int32_t s = 0; s < std::ssize(from_.sets); ++s) {
    for (std::size_t d = 0; d < 4; ++d) {
      const Range& members = d == 0 ? from_.sets[s].vertices : from_.sets[s].entities[d];
      std::vector<detail::SetRun>& runs = d == 0 ? known_.vertex_sets : (d == top ? known_.cell_sets : set_runs_[d]);
      for (const LocalRange& run : members.runs()) {
        for (std::size_t at = index(run.first); at < index(run.last);) {
          const std::int32_t first = place_[d][at];
          std::int32_t n = 0;  // members with consecutive places
          while (at < index(run.last) && place_[d][at] == (first < 0 ? -1 : first + n)) ++at, ++n;
          if (first >= 0) runs.push_back({s, first, n});
        }
      }
    }
  }
  choice_.emplace(context_.rank(), options_, infos_, known_);
}

std::vector<std::int32_t> MeshAdoption::origins_of(Dim dim) const {
  const auto d = index(dim);
  std::vector<std::int32_t> origins(out_.n_local(dim), -1);
  if (dim == Dim::vertex || dim == out_.cell_dim) {
    const std::vector<LocalId>& at = dim == Dim::vertex ? numbered_.vertex_at : numbered_.cell_at;
    for (std::size_t place = 0; place < order_[d].size(); ++place) origins[index(at[place])] = order_[d][place];
    return origins;
  }
  // Own sides ascend by global id here; those of the mesh ascend within a few runs.
  const std::vector<GlobalId>& own = sides_[d].global_ids;
  std::size_t place = 0;
  for (std::size_t i = 0; i < origins.size(); ++i) {
    const GlobalId id = out_.entities[d].global_ids[i];
    if (place >= own.size() || own[place] != id) place = std::ranges::lower_bound(own, id) - own.begin();
    if (place < own.size() && own[place] == id) origins[i] = order_[d][place++];
  }
  return origins;
}

void MeshAdoption::take_values(detail::Ghosts& ghosts) {
  for (MeshTag& tag : from_.tags) out_.tags.push_back({tag.info, {}, std::move(tag.on_sets)});
  for (FieldData& field : from_.fields) out_.fields.push_back(std::make_unique<FieldData>(std::move(field)));
  for (int d = 0; d <= value(out_.cell_dim); ++d) {
    const Dim dim{d};
    const std::shared_ptr<const exchange::HaloPlan>& halo = out_.halos[d];
    if (!halo) continue;
    const std::vector<std::int32_t> origins = origins_of(dim);
    if (!out_.tags.empty()) {
      std::vector<detail::TagLookUp> given_values;
      for (const MeshTag& tag : from_.tags) given_values.emplace_back(tag, dim, n_given_[d]);
      detail::carry_tags(ghosts.hood, *halo, dim, out_.n_owned(dim), out_.tags,
                         [&](std::size_t t, LocalId id, auto&& visit) {
                           const std::size_t at = origins[index(id)];
                           if (!given_values[t].has(at)) return false;
                           visit(given_values[t].of(at));
                           return true;
                         });
    }
    for (const std::unique_ptr<FieldData>& field : out_.fields) {
      if (field->dim != dim) continue;
      const std::size_t width = field->n_components;
      std::visit(
          [&]<class T>(std::vector<T>& given_values) {
            std::vector<T> values(origins.size() * width);
            for (std::size_t i = 0; i < origins.size(); ++i)
              if (origins[i] >= 0)
                std::copy_n(given_values.begin() + width * origins[i], width, values.begin() + width * i);
            exchange::HaloExchange<T>(context_, halo, values, field->n_components,
                                      {.contents = fmt::format("field '{}'", field->name)})
                .exchange();
            given_values = std::move(values);
          },
          field->values);
    }
  }
}

void MeshAdoption::count() {
  std::array<std::int64_t, 4> n{};
  for (int d = 0; d <= value(out_.cell_dim); ++d) n[d] = out_.n_owned(Dim{d});
  mpi::all_reduce(context_, std::span<std::int64_t>(n), MPI_SUM);
  out_.vertices.n_global = n[0];
  for (std::size_t d = 1; d < 4; ++d) out_.entities[d].n_global = n[d];
}

Mesh adopt(mpi::Context& context, LocalMesh&& local) { return MeshAssembly::adopted(context, std::move(local)); }

Mesh MeshAssembly::adopted(mpi::Context& context, LocalMesh&& local) {
  Mesh mesh(std::make_unique<Mesh::Storage>());
  MeshAdoption adoption(context, local, *mesh.storage_);
  adoption.check();
  adoption.run();
  return mesh;
}

}  // namespace barrio::mesh
