#include "barrio/mesh/tables/id_index.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace barrio::mesh::detail {

template <class Id>
void IdIndex::take(std::span<const Id> ids, std::int64_t window_limit) {
  if (ids.empty()) return;
  const auto [lowest, highest] = std::ranges::minmax(ids);
  const std::int64_t low = value(lowest);
  const std::int64_t high = value(highest);
  if (high - low < window_limit) {
    first_ = low;
    window_.assign(high - low + 1, -1);
    for (const Id id : ids) window_[value(id) - low] = 0;
    ids_.reserve(std::ranges::count(window_, 0));
    std::int32_t n = 0;
    for (std::size_t i = 0; i < window_.size(); ++i) {
      if (window_[i] < 0) continue;
      window_[i] = n++;
      ids_.push_back(GlobalId{low} + i);
    }
    return;
  }
  for (const Id id : ids) add(GlobalId{value(id)});
  std::ranges::sort(ids_);
  for (std::int32_t place = 0; place < std::ssize(ids_); ++place) table_[slot_of(ids_[place])].place = place;
  ids_.shrink_to_fit();
}
template void IdIndex::take(std::span<const GlobalId> ids, std::int64_t window_limit);
template void IdIndex::take(std::span<const LocalId> ids, std::int64_t window_limit);

std::int32_t IdIndex::add(GlobalId id) {
  if (const std::int32_t place = find(id); place >= 0) return place;
  if (2 * n_in_table_ >= table_.size()) grow();
  const auto place = static_cast<std::int32_t>(ids_.size());
  table_[slot_of(id)] = {id, place};
  ids_.push_back(id);
  n_in_table_ += 1;
  return place;
}

void IdIndex::grow() {
  constexpr std::size_t least = 64;
  const std::vector<Slot> before = std::exchange(table_, {});
  table_.assign(std::max(least, 4 * before.size()), Slot{no_global_id, -1});
  shift_ = 64 - std::countr_zero(table_.size());
  for (const Slot& slot : before)
    if (slot.place >= 0) table_[slot_of(slot.id)] = slot;
}

}  // namespace barrio::mesh::detail
