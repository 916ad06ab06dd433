#include <algorithm>
#include <utility>
#include <variant>

#include "barrio/mesh/assembly/storage.hpp"
#include "barrio/mesh/local_mesh.hpp"

// A mesh comes apart: what is owned stays, and so do the copies that own cells use; the rest came from other ranks.

namespace barrio::mesh {
namespace {

/// The entities of one dimension that stay.
class Kept {
 public:
  /// @param sharing  of the dimension: copies in it are used by own cells
  Kept(const Sharing& sharing, std::size_t n_owned, std::size_t n)
      : n_owned_(n_owned), place_of_copy_(n - n_owned, -1) {
    for (const LocalId id : sharing.shared) {
      if (index(id) < n_owned) continue;
      place_of_copy_[index(id) - n_owned] = static_cast<std::int32_t>(size());
      copies_.push_back(id);
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return n_owned_ + copies_.size(); }
  [[nodiscard]] bool are_all() const noexcept { return copies_.size() == place_of_copy_.size(); }
  /// Its new place, or -1.
  [[nodiscard]] std::int32_t place(LocalId id) const {
    return index(id) < n_owned_ ? barrio::value(id) : place_of_copy_[index(id) - n_owned_];
  }
  /// Former local id of a place.
  [[nodiscard]] LocalId id(std::size_t place) const {
    return place < n_owned_ ? local_id(place) : copies_[place - n_owned_];
  }

  /// Keep their items of an array. @param width  items for each entity
  template <class T>
  void keep(std::vector<T>& items, std::size_t width = 1) const {
    for (std::size_t k = 0; k < copies_.size(); ++k)
      std::copy_n(items.begin() + index(copies_[k]) * width, width, items.begin() + (n_owned_ + k) * width);
    items.resize(size() * width);
  }
  [[nodiscard]] Range keep(const Range& ids) const {
    Range places;
    for (const LocalRange& run : ids.runs()) {
      const LocalId end = std::min(run.last, local_id(n_owned_));
      if (run.first < end) places.insert({run.first, end});
      // Copies that stay ascend, so those of a run get places that follow each other.
      const auto first = std::ranges::lower_bound(copies_, run.first) - copies_.begin();
      const auto last = std::ranges::lower_bound(copies_, run.last) - copies_.begin();
      if (first < last) places.insert({local_id(n_owned_ + first), local_id(n_owned_ + last)});
    }
    return places;
  }
  [[nodiscard]] MeshTag::Values keep(MeshTag::Values values, const TagInfo& info) const {
    if (are_all() || values.entities.empty()) return values;
    MeshTag::Values kept;
    std::size_t i = 0;
    for (const LocalId id : values.entities) {
      const std::int32_t at = place(id);
      if (at >= 0) {
        kept.entities.insert(LocalId{at});
        kept.items.add(values.items.value(i, info.value_bytes()), info.length_varies);
      }
      i += 1;
    }
    return kept;
  }

 private:
  std::size_t n_owned_;
  std::vector<LocalId> copies_;  // that stay, ascending
  std::vector<std::int32_t> place_of_copy_;
};

/// Who shares what stays; its sets of ranks become known to `sets`.
std::vector<std::int32_t> sharers_of(const Sharing& sharing, const Kept& kept, RankSets& sets) {
  std::vector<std::int32_t> sharers;
  if (sharing.shared.empty()) return sharers;
  sharers.assign(kept.size(), -1);
  std::vector<std::int32_t> number(sharing.rank_sets.size(), -1);
  for (std::size_t s = 0; s < sharing.shared.size(); ++s) {
    std::int32_t& known = number[sharing.sharer_sets[s]];
    if (known < 0) known = sets.add(sharing.sharers_of(s));
    sharers[kept.place(sharing.shared[s])] = known;
  }
  return sharers;
}

LocalEntities taken_apart(EntityTable& table, const Kept& kept, const Kept& vertices, RankSets& sets) {
  LocalEntities out;
  out.nodes_per_entity = table.nodes_per_entity;
  out.sharers = sharers_of(table, kept, sets);
  if (table.offsets.empty()) {
    kept.keep(table.nodes, table.nodes_per_entity);
  } else {
    std::vector<std::int32_t> offsets{0};
    offsets.reserve(kept.size() + 1);
    std::size_t n = 0;
    for (std::size_t place = 0; place < kept.size(); ++place) {
      const auto nodes = table.nodes_of(index(kept.id(place)));
      std::ranges::copy(nodes, table.nodes.begin() + n);
      n += nodes.size();
      offsets.push_back(static_cast<std::int32_t>(n));
    }
    table.nodes.resize(n);
    out.offsets = std::move(offsets);
  }
  for (LocalId& v : table.nodes) v = LocalId{vertices.place(v)};
  if (!table.has_one_type) kept.keep(table.types);
  kept.keep(table.global_ids);
  out.types = std::move(table.types);
  out.nodes = std::move(table.nodes);
  out.ids = std::move(table.global_ids);
  return out;
}

}  // namespace

LocalMesh Mesh::release() && {
  update_copies();
  const std::unique_ptr<Storage> old = std::move(storage_);
  LocalMesh out;
  out.cell_dim = old->cell_dim;
  out.options = std::move(old->options);
  out.revision = old->revision;
  out.n_parts = old->n_parts;
  out.part_sets = std::move(old->part_sets);
  std::vector<Kept> kept;  // by dimension
  kept.emplace_back(old->vertices, old->vertices.n_owned, old->vertices.size());
  for (std::size_t d = 1; d < 4; ++d)
    kept.emplace_back(old->entities[d], old->entities[d].n_owned, old->entities[d].size());

  out.vertex_sharers = sharers_of(old->vertices, kept[0], out.rank_sets);
  for (int d = 1; d <= value(out.cell_dim); ++d)
    out.entities[d] = taken_apart(old->entities[d], kept[d], kept[0], out.rank_sets);
  kept[index(out.cell_dim)].keep(old->cell_parts);
  kept[0].keep(old->vertices.global_ids);
  kept[0].keep(old->vertices.coordinates, 3);
  out.cell_parts = std::move(old->cell_parts);
  out.vertex_ids = std::move(old->vertices.global_ids);
  out.coordinates = std::move(old->vertices.coordinates);
  for (MeshSet& set : old->sets) {
    set.vertices = kept[0].keep(set.vertices);
    for (std::size_t d = 1; d < 4; ++d) set.entities[d] = kept[d].keep(set.entities[d]);
  }
  out.sets = std::move(old->sets);
  for (MeshTag& tag : old->tags)
    for (std::size_t d = 0; d < 4; ++d) tag.on[d] = kept[d].keep(std::move(tag.on[d]), tag.info);
  out.tags = std::move(old->tags);
  for (const std::unique_ptr<FieldData>& field : old->fields) {
    std::visit([&](auto& values) { kept[index(field->dim)].keep(values, field->n_components); }, field->values);
    out.fields.push_back(std::move(*field));
  }
  return out;
}

}  // namespace barrio::mesh
