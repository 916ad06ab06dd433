#include "barrio/adapt/rounds/border.hpp"

#include <algorithm>
#include <iterator>

#include "barrio/adapt/kernel/operator.hpp"
#include "barrio/base/sort_unique.hpp"

namespace barrio::adapt::detail {

void KeyIndex::clear(std::size_t n_expected) {
  std::size_t size = 16;
  while (size < 2 * n_expected) size *= 2;
  entries_.assign(size, Entry{});
  n_ = 0;
}

Slot KeyIndex::find(const Key& key) const noexcept {
  const std::size_t mask = entries_.size() - 1;
  std::size_t at = hash_of(key, {}) & mask;
  while (entries_[at].slot != no_slot && entries_[at].key != key) at = (at + 1) & mask;
  return entries_[at].slot;
}

void KeyIndex::put(const Key& key, Slot slot) noexcept {
  const std::size_t mask = entries_.size() - 1;
  std::size_t at = hash_of(key, {}) & mask;
  while (entries_[at].slot != no_slot && entries_[at].key != key) at = (at + 1) & mask;
  entries_[at] = {key, slot};
}

void KeyIndex::insert(const Key& key, Slot slot) {
  if (2 * ++n_ > entries_.size()) {
    const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(2 * entries_.size()));
    for (const Entry& entry : old)
      if (entry.slot != no_slot) put(entry.key, entry.slot);
  }
  put(key, slot);
}

bool Border::has_foreign(const Tet& tet) const noexcept {
  return std::ranges::any_of(tet.v, [&](Slot v) { return mesh_.vertices[v].owner != me_; });
}

void Border::find_all() {
  tets_.clear();
  foreign_.clear();
  for (Slot t = 0; t < std::ssize(mesh_.tets); ++t)
    if (!mesh_.tets[t].is_free() && has_foreign(mesh_.tets[t])) tets_.push_back(t);
  for (Slot v = 0; v < std::ssize(mesh_.vertices); ++v)
    if (mesh_.vertices[v].tet != no_slot && mesh_.vertices[v].owner != me_) foreign_.push_back(v);
  update();
}

void Border::update() {
  const std::uint32_t mark = mesh_.next_mark();
  std::erase_if(tets_, [&](Slot t) {
    Tet& tet = mesh_.tets[t];
    if (tet.is_free() || tet.mark == mark || !has_foreign(tet)) return true;
    tet.mark = mark;
    return false;
  });
  for (const Slot v : met_) mesh_.vertices[v].is_met = false;
  met_.clear();
  neighbours_.clear();
  row_.resize(mesh_.vertices.size(), -1);
  std::int32_t n_rows = 0;
  for (const Slot t : tets_) {
    for (const Slot v : mesh_.tets[t].v) {
      Vertex& vertex = mesh_.vertices[v];
      const bool is_foreign = vertex.owner != me_;
      if (vertex.mark == mark) continue;
      vertex.mark = mark;
      if (is_foreign) {
        neighbours_.push_back(vertex.owner);
        row_[v] = n_rows++;
      } else {
        vertex.is_met = true;
        met_.push_back(v);
      }
    }
  }
  around_ = Ragged<Slot, std::uint32_t>::grouped(n_rows, [&](auto&& put) {
    for (const Slot t : tets_)
      for (const Slot v : mesh_.tets[t].v)
        if (mesh_.vertices[v].owner != me_) put(row_[v], t);
  });
  sort_unique(neighbours_);
  std::erase_if(foreign_, [&](Slot v) {
    if (mesh_.vertices[v].mark == mark) return false;
    mesh_.free_vertex(v);
    return true;
  });
  index_.clear(met_.size() + foreign_.size());
  for (const Slot v : met_) index_.insert(mesh_.key(v), v);
  for (const Slot v : foreign_) index_.insert(mesh_.key(v), v);
}

void Border::add(std::span<const Slot> made) {
  std::ranges::copy_if(made, std::back_inserter(tets_),
                       [&](Slot t) { return !mesh_.tets[t].is_free() && has_foreign(mesh_.tets[t]); });
}

Slot Border::add_foreign(const Vertex& vertex) {
  const Slot v = mesh_.add_vertex(vertex);
  row_.resize(mesh_.vertices.size(), -1);
  row_[v] = -1;  // the vertex that had the slot before may have had a row
  foreign_.push_back(v);
  index_.insert(vertex.key, v);
  return v;
}

}  // namespace barrio::adapt::detail
