#include "barrio/io/common/id_sets.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "barrio/base/sort_unique.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

struct Key {
  std::int32_t dimension;
  std::int32_t id;
  auto operator<=>(const Key&) const = default;
};
static_assert(sizeof(Key) == 8);

std::string pack(const std::vector<Key>& keys) {
  std::string text(keys.size() * sizeof(Key), '\0');
  if (!keys.empty()) std::memcpy(text.data(), keys.data(), text.size());
  return text;
}

std::vector<Key> unpack(const std::string& text) {
  std::vector<Key> keys(text.size() / sizeof(Key));
  if (!keys.empty()) std::memcpy(keys.data(), text.data(), text.size());
  return keys;
}

/// Return the keys of all ranks, ascending. Collective.
std::vector<Key> union_of(mpi::Context& context, const std::vector<Key>& mine) {
  std::string all = mpi::reduce_to_root(context, pack(mine), [](const std::string& a, const std::string& b) {
    const std::vector<Key> left = unpack(a);
    const std::vector<Key> right = unpack(b);
    std::vector<Key> both;
    std::ranges::set_union(left, right, std::back_inserter(both));
    both.resize(std::min(both.size(), IdSets::most + 1));
    return pack(both);
  });
  mpi::broadcast(context, all);
  return unpack(all);
}

}  // namespace

void IdSets::add(mesh::Dim dim, std::int64_t id, std::int64_t row) {
  if (!runs_.empty()) {
    Run& last = runs_.back();
    if (last.dim == dim && last.id == id && last.first + last.count == row) {
      ++last.count;
      return;
    }
  }
  runs_.push_back({dim, id, row, 1});
}

bool IdSets::move_into(mpi::Context& context, mesh::MeshTables& tables,
                       const std::map<std::pair<int, int>, std::string>& names) {
  std::vector<Key> keys;
  int is_wide = 0;
  for (const Run& run : runs_) {
    if (!std::in_range<std::int32_t>(run.id)) is_wide = 1;
    keys.push_back({value(run.dim), static_cast<std::int32_t>(run.id)});
  }
  sort_unique(keys);
  keys.resize(std::min(keys.size(), most + 1));
  keys = union_of(context, keys);
  if (mpi::max(context, is_wide) > 0 || keys.size() > most) return false;
  const std::size_t n_before = tables.sets.size();
  for (const Key& key : keys) {
    const auto named = names.find({key.dimension, key.id});
    tables.sets.push_back({.kind = kind_of_id_set(mesh::Dim{key.dimension}, tables.top_dim()),
                           .id = key.id,
                           .name = named == names.end() ? "" : named->second});
  }
  for (const Run& run : runs_) {
    const auto at = std::ranges::lower_bound(keys, Key{value(run.dim), static_cast<std::int32_t>(run.id)});
    tables.members.push_back(
        {static_cast<std::int32_t>(n_before + (at - keys.begin())), run.dim, run.first, run.count});
  }
  runs_.clear();
  return true;
}

}  // namespace barrio::io::detail
