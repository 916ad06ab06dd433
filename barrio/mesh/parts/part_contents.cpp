#include "barrio/mesh/part_contents.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/outbox.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/memberships.hpp"
#include "barrio/mesh/nested_sets.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

using Inclusion = PartContents::Inclusion;

/// An entity in a part.
struct Belonging {
  Dim dim;
  std::int64_t row;
  std::int32_t part;
  auto operator<=>(const Belonging&) const = default;
};

struct TopCell {
  std::span<const GlobalId> nodes;
  CellType type;
  std::int32_t part;
};

std::vector<TopCell> top_cells(mpi::Context& context, const MeshTables& tables) {
  std::vector<TopCell> cells;
  for (const CellBlock& block : tables.blocks) {
    if (topology(block.type).dim != tables.top_dim()) continue;
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i)
      cells.push_back({block.cell(i), block.type, tables.parts[cells.size()]});
  }
  return cells;
}

/// Finds the entities of each part, by vertex. The home of a side's lowest vertex knows the ranks with cells there, and
/// only those can have the side.
class Finder {
 public:
  Finder(mpi::Context& context, const MeshTables& tables)
      : context_(context), tables_(tables), cells_(top_cells(context, tables)) {}

  /// Find the entities of this rank's slabs and the parts they are in. @return sorted
  std::vector<Belonging> find() {
    std::vector<Belonging> found = vertices();
    const std::vector<Belonging> sides = listed_sides();
    found.insert(found.end(), sides.begin(), sides.end());
    const std::vector<GlobalId> ids = top_ids(context_, tables_);
    for (std::size_t i = 0; i < ids.size(); ++i) found.push_back({tables_.top_dim(), value(ids[i]), tables_.parts[i]});
    sort_unique(found);
    return found;
  }

 private:
  struct User {
    GlobalId vertex;
    Rank rank;
    auto operator<=>(const User&) const = default;
  };

  std::vector<Belonging> vertices() {
    struct Use {
      GlobalId vertex;
      std::int32_t part;
      auto operator<=>(const Use&) const = default;
    };
    std::vector<Use> uses;
    for (const TopCell& cell : cells_)
      for (const GlobalId node : cell.nodes) uses.push_back({node, cell.part});
    sort_unique(uses);
    std::vector<Rank> to;
    for (const Use& use : uses) to.push_back(tables_.vertices.rank_of(use.vertex));
    const auto received = exchange::route(context_, exchange::pack_by_rank<Use>(to, uses));
    std::vector<Belonging> found;
    for (std::size_t p = 0; p < received.n_peers(); ++p) {
      for (const Use& use : received.of(p)) {
        found.push_back({Dim::vertex, value(use.vertex), use.part});
        users_.push_back({use.vertex, received.peers[p]});
      }
    }
    sort_unique(users_);
    return found;
  }

  std::vector<Belonging> listed_sides() {
    // Words of a side on its way: dimension, row, number of corners, corners.
    exchange::Outbox to_homes;
    for (std::size_t b = 0; b < tables_.blocks.size(); ++b) {
      const CellBlock& block = tables_.blocks[b];
      const Dim dim = topology(block.type).dim;
      if (dim == tables_.top_dim()) continue;
      const GlobalId first{tables_.first_row(b) + block.rows.first(context_.rank())};
      for (std::size_t i = 0; i < block.rows.size(context_.rank()); ++i) {
        const auto corners = block.cell(i).first(n_corners(block.type, block.cell(i).size()));
        auto& words = to_homes.begin(tables_.vertices.rank_of(*std::ranges::min_element(corners)));
        words.insert(words.end(), {value(dim), value(first + i), std::ssize(corners)});
        for (const GlobalId corner : corners) words.push_back(value(corner));
      }
    }
    exchange::Outbox to_users;
    for_each_side(exchange::route(context_, to_homes.parcels()).items,
                  [&](std::span<const std::int64_t> words, const Belonging&, std::span<const GlobalId> corners) {
                    const auto users =
                        std::ranges::equal_range(users_, *std::ranges::min_element(corners), {}, &User::vertex);
                    for (const User& user : users) {
                      auto& out = to_users.begin(user.rank);
                      out.insert(out.end(), words.begin(), words.end());
                    }
                  });
    const std::vector<std::int64_t> offered = exchange::route(context_, to_users.parcels()).items;
    return send_home(claim(offered));
  }

  /// Call `visit(words, side, corners)` for each side in a message.
  template <class Visit>
  static void for_each_side(std::span<const std::int64_t> words, Visit&& visit) {
    std::vector<GlobalId> corners;
    while (!words.empty()) {
      const std::size_t n = words[2];
      corners.clear();
      for (const std::int64_t corner : words.subspan(3, n)) corners.push_back(GlobalId{corner});
      visit(words.first(3 + n), Belonging{Dim{static_cast<int>(words[0])}, words[1], -1},
            std::span<const GlobalId>(corners));
      words = words.subspan(3 + n);
    }
  }

  /// Select the offered sides that belong to this rank's cells.
  [[nodiscard]] std::vector<Belonging> claim(const std::vector<std::int64_t>& offered) const {
    std::vector<GlobalId> anchors;
    for_each_side(offered, [&](auto, const Belonging&, std::span<const GlobalId> corners) {
      anchors.push_back(*std::ranges::min_element(corners));
    });
    sort_unique(anchors);
    struct Around {
      GlobalId vertex;
      const TopCell* cell;
    };
    std::vector<Around> around;
    for (const TopCell& cell : cells_)
      for (const GlobalId node : cell.nodes)
        if (std::ranges::binary_search(anchors, node)) around.push_back({node, &cell});
    std::ranges::stable_sort(around, {}, &Around::vertex);
    std::vector<Belonging> claims;
    for_each_side(offered, [&](auto, Belonging side, std::span<const GlobalId> corners) {
      for (const Around& one :
           std::ranges::equal_range(around, *std::ranges::min_element(corners), {}, &Around::vertex)) {
        if (!is_side_of(corners, side.dim, one.cell->type, one.cell->nodes)) continue;
        side.part = one.cell->part;
        claims.push_back(side);
      }
    });
    sort_unique(claims);
    return claims;
  }

  [[nodiscard]] std::vector<Belonging> send_home(const std::vector<Belonging>& claims) const {
    std::vector<Rank> to;
    for (const Belonging& claim : claims) to.push_back(tables_.home(claim.dim, claim.row));
    return exchange::route(context_, exchange::pack_by_rank<Belonging>(to, claims)).items;
  }

  mpi::Context& context_;
  const MeshTables& tables_;
  std::vector<TopCell> cells_;
  std::vector<User> users_;  // at the homes of the vertices
};

/// Find the sets whose own entities all lie in one part; the same on every rank.
std::vector<Inclusion> sets_within_parts(mpi::Context& context, const std::vector<Membership>& members,
                                         const std::vector<Belonging>& belongings,
                                         const std::vector<std::int64_t>& n_members) {
  struct Count {
    Inclusion where;
    std::int64_t n;
  };
  std::vector<Inclusion> once;
  for (const Membership& member : members) {
    const auto parts = std::ranges::equal_range(belongings, std::pair(member.dim, member.row), {},
                                                [](const Belonging& b) { return std::pair(b.dim, b.row); });
    for (const Belonging& belonging : parts) once.push_back({belonging.part, member.set});
  }
  std::sort(once.begin(), once.end());
  std::vector<Count> counts;
  std::vector<Rank> to;
  for (const Inclusion& where : once) {
    if (counts.empty() || counts.back().where != where) {
      counts.push_back({where, 0});
      to.push_back(where.set % context.size());
    }
    counts.back().n += 1;
  }
  counts = exchange::route(context, exchange::pack_by_rank<Count>(to, counts)).items;
  std::ranges::sort(counts, {}, &Count::where);
  std::vector<Inclusion> whole;
  for (std::size_t i = 0; i < counts.size();) {
    std::int64_t n = 0;
    const Inclusion where = counts[i].where;
    for (; i < counts.size() && counts[i].where == where; ++i) n += counts[i].n;
    if (n == n_members[where.set]) whole.push_back(where);
  }
  const std::vector<Rank> to_root(whole.size(), 0);
  whole = exchange::route(context, exchange::pack_by_rank<Inclusion>(to_root, whole)).items;
  mpi::broadcast(context, whole);
  return whole;
}

/// Find the parts that contain each set completely, with its nested sets. @param own  parts with all own members of a
/// set
std::vector<Inclusion> whole_sets(const MeshTables& tables, const std::vector<Inclusion>& own,
                                  const std::vector<std::int64_t>& n_members) {
  std::vector<std::vector<std::int32_t>> parts_of(tables.sets.size());
  for (const Inclusion& where : own) parts_of[where.set].push_back(where.part);
  const NestedSets nested(tables.sets);
  std::vector<Inclusion> whole;
  for (std::size_t g = 0; g < nested.n_groups(); ++g) {
    std::vector<std::int32_t> parts;
    bool is_first = true;
    const auto keep = [&](std::vector<std::int32_t> others) {
      std::ranges::sort(others);
      std::vector<std::int32_t> both;
      std::ranges::set_intersection(is_first ? others : parts, others, std::back_inserter(both));
      parts = std::move(both);
      is_first = false;
    };
    for (const std::int32_t s : nested.group(g)) {
      const std::size_t set = s;
      if (n_members[set] > 0) keep(parts_of[set]);  // a set without own entities follows its nested sets
      for (const SetInSet& inner : tables.sets[set].contained)
        if (nested.group_of(inner.set) != nested.group_of(s)) keep(parts_of[inner.set]);
    }
    for (const std::int32_t s : nested.group(g)) {
      parts_of[s] = parts;
      for (const std::int32_t part : parts) whole.push_back({part, s});
    }
  }
  std::sort(whole.begin(), whole.end());
  return whole;
}

}  // namespace

PartContents compute_part_contents(mpi::Context& context, const MeshTables& tables) {
  const std::vector<Belonging> belongings = Finder(context, tables).find();
  PartContents contents;
  std::vector<Membership> of_parts;
  for (const Belonging& one : belongings)
    if (one.dim != Dim::vertex && one.dim != tables.top_dim()) of_parts.push_back({one.dim, one.part, one.row});
  contents.rows = as_runs(of_parts);

  std::vector<Membership> members = memberships_at_home(context, tables);
  const auto is_same = [](const Membership& a, const Membership& b) {  // a list may repeat an entity
    return a.dim == b.dim && a.row == b.row && a.set == b.set;
  };
  members.erase(std::unique(members.begin(), members.end(), is_same), members.end());
  std::vector<std::int64_t> n_members(tables.sets.size(), 0);
  for (const Membership& member : members) n_members[member.set] += 1;
  mpi::all_reduce(context, std::span<std::int64_t>(n_members), MPI_SUM);
  contents.sets = whole_sets(tables, sets_within_parts(context, members, belongings, n_members), n_members);
  return contents;
}

}  // namespace barrio::mesh
