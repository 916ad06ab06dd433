#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/common/listed_sides.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/h5m/h5m_contents.hpp"
#include "barrio/mesh/nested_sets.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

using Plan = H5mPlan;
using Link = H5mContents::Link;
using mesh::Dim;
using mesh::MeshTables;
using mesh::PartRows;
using mesh::SetKind;
using mesh::SetRows;

/// Tell whether a set keeps the order of its contents. Pairs of ids and counts have no order.
bool is_list(std::int64_t flags) {
  return (flags & files::H5mSetList::ordered) != 0 && (flags & files::H5mSetList::ranged) == 0;
}

/// The sets that hold a set, directly or through others, itself included.
class Holders {
 public:
  explicit Holders(const std::vector<Link>& links) {
    for (const Link& link : links) outer_[link.inner].push_back(link.outer);
  }
  std::vector<std::int64_t> of(std::int64_t set) const {
    std::vector<std::int64_t> all{set};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto found = outer_.find(all[i]);
      if (found == outer_.end()) continue;
      for (const std::int64_t outer : found->second)
        if (std::find(all.begin(), all.end(), outer) == all.end()) all.push_back(outer);
    }
    return all;
  }

 private:
  std::map<std::int64_t, std::vector<std::int64_t>> outer_;
};

std::string name_of(const Plan& plan, std::int64_t set) {
  const auto at = std::lower_bound(plan.names.begin(), plan.names.end(), std::pair(set, std::string()));
  return at != plan.names.end() && at->first == set ? at->second : "";
}

/// Return the value of a tag on a set; null without one.
const files::H5mSetValue* value_of(const std::vector<files::H5mSetValue>& values, std::int64_t set) {
  const auto at = std::ranges::lower_bound(values, set, {}, &files::H5mSetValue::set);
  return at != values.end() && at->set == set ? &*at : nullptr;
}

/// Return the meanings that tags give to a set, in the order of `set_tags`.
std::vector<mesh::SetRole> roles_of(const Plan& plan, std::int64_t set) {
  std::vector<mesh::SetRole> roles;
  for (std::size_t k = 0; k < set_tags.size(); ++k) {
    const files::H5mSetValue* entry = value_of(plan.kinds[k], set);
    if (entry == nullptr) continue;
    mesh::SetRole role{set_tags[k].kind, static_cast<std::int32_t>(entry->value), Dim::vertex};
    if (role.kind == SetKind::geometry) {
      if (entry->value < 0 || entry->value > 3) continue;  // 4 marks groups of geometry
      role.geometry_dim = Dim{static_cast<int>(entry->value)};
      const files::H5mSetValue* id = value_of(plan.global_ids, set);
      role.id = id != nullptr ? static_cast<std::int32_t>(id->value) : 0;
    }
    roles.push_back(role);
  }
  return roles;
}

/// Find the sets that are only parts.
std::vector<bool> pure_parts(const Plan& plan) {
  std::vector<bool> is_part(plan.catalog.n_sets, false);
  for (const files::H5mSetValue& entry : plan.partition) is_part[entry.set] = roles_of(plan, entry.set).empty();
  return is_part;
}

}  // namespace

void H5mContents::read(mpi::Context& context, files::Place file, const Plan& plan, const IdSpace& ids, Dim top) {
  const std::vector<bool> is_part = pure_parts(plan);
  const Slabs slabs{plan.catalog.n_contents, context.size()};
  const std::int64_t first = slabs.first(context.rank());
  const std::int64_t count = slabs.size(context.rank());
  // A pair may begin in this slab and end in the next.
  const std::int64_t more = count > 0 && first + count < plan.catalog.n_contents ? 1 : 0;
  const std::vector<std::int64_t> entries =
      plan.catalog.n_contents > 0 ? files::read_integers(file, "/tstt/sets/contents", {first, count + more})
                                  : std::vector<std::int64_t>{};
  part_rows.reserve(count);
  std::int64_t at = first;
  while (at < first + count) {
    const std::vector<std::int64_t>& ends = plan.list.contents_end;
    const auto set = static_cast<std::int32_t>(std::upper_bound(ends.begin(), ends.end(), at) - ends.begin());
    if (set == std::ssize(ends)) break;
    const std::int64_t begin = set == 0 ? 0 : ends[set - 1];
    const std::int64_t end = std::min(ends[set], first + count);
    const bool is_ranged = (plan.list.flags[set] & files::H5mSetList::ranged) != 0;
    if (is_ranged && (at - begin) % 2 == 1) ++at;  // the pair began in the previous slab
    for (; at < end; at += is_ranged ? 2 : 1) {
      const std::size_t place = at - first;
      const std::int64_t n = is_ranged && place + 1 < entries.size() ? entries[place + 1] : 1;
      if (is_part[set]) {
        take_part(set, entries[place], n, ids, top);
        continue;
      }
      const bool is_ordered = is_list(plan.list.flags[set]);
      take(set, entries[place], n, is_ordered ? at - begin : -1, ids);
    }
    at = std::max(at, end);
  }
}

void H5mContents::share_links(mpi::Context& context) {
  const std::vector<Rank> to_root(links.size(), 0);
  links = exchange::route(context, exchange::pack_by_rank<Link>(to_root, links)).items;
  mpi::broadcast(context, links);
}

void H5mContents::take_part(std::int32_t set, std::int64_t first, std::int64_t count, const IdSpace& ids, Dim top) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  ids.for_each_piece(first, count, [&](const IdSpace::Table& table, std::int64_t row, std::int64_t n) {
    if (table.is_set) {
      for (std::int64_t i = 0; i < n; ++i) links.push_back({set, row + i, -1});
    } else if (table.dim == top) {
      row += table.first_row;
      if (!part_rows.empty() && part_rows.back().part == set && part_rows.back().count + n <= most &&
          part_rows.back().first + part_rows.back().count == row) {
        part_rows.back().count += static_cast<std::int32_t>(n);
        return;
      }
      for (; n > 0; row += most, n -= most)
        part_rows.push_back({row, static_cast<std::int32_t>(std::min(n, most)), set});
    }
  });
}

void H5mContents::take(std::int64_t set, std::int64_t first, std::int64_t count, std::int64_t position,
                       const IdSpace& ids) {
  ids.for_each_piece(first, count, [&](const IdSpace::Table& table, std::int64_t row, std::int64_t n) {
    if (table.is_set) {
      for (std::int64_t i = 0; i < n; ++i) links.push_back({set, row + i, position});
      return;
    }
    SetRows rows{-1, table.dim, table.first_row + row, n, position};
    const auto goes_on = [&](const SetRows& run) {
      return run.dim == rows.dim && run.first + run.count == rows.first &&
             rows.position == (run.position < 0 ? -1 : run.position + run.count);
    };
    if (!runs.empty() && runs.back().first == set && goes_on(runs.back().second)) {
      runs.back().second.count += n;
    } else {
      runs.emplace_back(set, rows);
    }
  });
}

std::vector<std::int32_t> make_sets(const Plan& plan, const H5mContents& contents, MeshTables& tables) {
  const std::size_t n_sets = plan.catalog.n_sets;
  std::vector<bool> is_part(n_sets, false);
  for (const files::H5mSetValue& entry : plan.partition) is_part[entry.set] = true;
  std::vector<std::int64_t> n_parts_in(n_sets, 0);
  std::vector<bool> has_more(n_sets, false);
  for (const Link& link : contents.links) {
    const std::size_t outer = link.outer;
    if (is_part[link.inner]) {
      n_parts_in[outer] += 1;
    } else {
      has_more[outer] = true;
    }
  }
  std::vector<std::int32_t> place_of(n_sets, -1);
  for (std::size_t s = 0; s < n_sets; ++s) {
    const std::int64_t set = s;
    const std::vector<mesh::SetRole> roles = roles_of(plan, set);
    if (roles.empty() && (is_part[s] || (n_parts_in[s] > 0 && !has_more[s]))) continue;
    mesh::SetInfo info{.name = name_of(plan, set)};
    if (!roles.empty()) {
      info.kind = roles[0].kind;
      info.id = roles[0].id;
      info.geometry_dim = roles[0].geometry_dim;
      info.more_roles.assign(roles.begin() + 1, roles.end());
    } else if (const files::H5mSetValue* id = value_of(plan.global_ids, set); id != nullptr && id->value > 0) {
      info.id = static_cast<std::int32_t>(id->value);
    }
    info.is_ordered = is_list(plan.list.flags[s]);
    info.tracks_members = (plan.list.flags[s] & files::H5mSetList::tracking) != 0;
    place_of[s] = add_set(tables, std::move(info));
  }
  const auto place = [&](std::int64_t id) {
    const auto set = plan.catalog.row_of_set(id);
    return set ? place_of[*set] : -1;
  };
  const auto relatives = [&](std::size_t s, const std::vector<std::int64_t>& ids,
                             const std::vector<std::int64_t>& ends) {
    std::vector<std::int32_t> places;
    for (std::int64_t i = s == 0 ? 0 : ends[s - 1]; i < ends[s]; ++i)
      if (const std::int32_t other = place(ids[i]); other >= 0) places.push_back(other);
    return places;
  };
  for (std::size_t s = 0; s < n_sets; ++s) {
    if (place_of[s] < 0) continue;
    mesh::SetInfo& info = tables.sets[place_of[s]];
    info.children = relatives(s, plan.list.children, plan.list.children_end);
    info.parents = relatives(s, plan.list.parents, plan.list.parents_end);
  }
  for (const Link& link : contents.links) {
    const std::int32_t outer = place_of[link.outer];
    const std::int32_t inner = place_of[link.inner];
    if (outer >= 0 && inner >= 0) tables.sets[outer].contained.push_back({inner, link.position});
  }
  return place_of;
}

void tell_sets_in_themselves(mpi::Context& context, const MeshTables& tables, const std::string& path) {
  const mesh::NestedSets nested(tables.sets);
  const std::vector<std::int32_t>& found = nested.in_themselves();
  if (found.empty()) return;
  const std::string& name = tables.sets[found.front()].name;
  context.log().notice(fmt::format(
      "{}: {} of {} sets contain themselves, directly or through others; the first is set {}{} (0-based); they are "
      "kept",
      path, found.size(), tables.sets.size(), found.front(), name.empty() ? "" : fmt::format(" '{}'", name)));
}

std::vector<std::int64_t> values_of_parts(const Plan& plan) {
  std::vector<std::int64_t> part_values;
  for (const files::H5mSetValue& entry : plan.partition) part_values.push_back(entry.value);
  sort_unique(part_values);
  return part_values;
}

std::vector<std::int32_t> parts_of_sets(const Plan& plan, const std::vector<std::int64_t>& part_values) {
  std::vector<std::int32_t> part_of(plan.catalog.n_sets, -1);
  for (const files::H5mSetValue& entry : plan.partition) {
    part_of[entry.set] = static_cast<std::int32_t>(
        std::lower_bound(part_values.begin(), part_values.end(), entry.value) - part_values.begin());
  }
  return part_of;
}

std::vector<PartRows> take_members(H5mContents& contents, const std::vector<std::int32_t>& part_of,
                                   const std::vector<std::int32_t>& place_of, MeshTables& tables) {
  const Holders holders(contents.links);
  // A part may hold sets that hold its elements.
  const auto parts_with = [&](std::int64_t set) {
    std::vector<std::int32_t> parts;
    for (const std::int64_t holder : holders.of(set))
      if (const std::int32_t part = part_of[holder]; part >= 0) parts.push_back(part);
    return parts;
  };
  // Runs of one set are consecutive, so its parts are looked up once.
  std::vector<PartRows> part_rows = std::move(contents.part_rows);
  const std::size_t n_listed = part_rows.size();
  for (std::size_t i = 0; i < n_listed;) {
    const std::int32_t set = part_rows[i].part;
    const std::vector<std::int32_t> parts = parts_with(set);  // the set itself comes first
    for (; i < n_listed && part_rows[i].part == set; ++i) {
      part_rows[i].part = parts[0];
      for (std::size_t p = 1; p < parts.size(); ++p) {
        const PartRows rows{part_rows[i].first, part_rows[i].count, parts[p]};
        part_rows.push_back(rows);
      }
    }
  }
  for (std::size_t i = 0; i < contents.runs.size();) {
    const std::int64_t set = contents.runs[i].first;
    const std::int32_t place = place_of[set];
    const std::vector<std::int32_t> parts = parts_with(set);
    for (; i < contents.runs.size() && contents.runs[i].first == set; ++i) {
      SetRows rows = contents.runs[i].second;
      rows.set = place;
      if (place >= 0) tables.members.push_back(rows);
      if (rows.dim != tables.top_dim()) continue;
      constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
      for (const std::int32_t part : parts)
        for (std::int64_t skip = 0; skip < rows.count; skip += most)
          part_rows.push_back({rows.first + skip, static_cast<std::int32_t>(std::min(rows.count - skip, most)), part});
    }
  }
  return part_rows;
}

}  // namespace barrio::io::detail
