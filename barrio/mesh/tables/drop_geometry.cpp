#include "barrio/mesh/drop_geometry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "barrio/base/error.hpp"
#include "barrio/exchange/outbox.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/memberships.hpp"
#include "barrio/mesh/tables/move_tags.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

/// New place of each set, or its heirs; the same on every rank.
struct SetPlan {
  std::vector<std::int32_t> new_place;           ///< -1: dropped
  std::vector<std::vector<std::int32_t>> heirs;  ///< new places of the sets that get the entities of a dropped set
};

/// Remove the geometry roles of a set. @return whether the set has other roles
bool take_geometry_from(SetInfo& set) {
  std::vector<SetRole> roles{{set.kind, set.id, set.geometry_dim}};
  roles.insert(roles.end(), set.more_roles.begin(), set.more_roles.end());
  const auto n_geometry = std::erase_if(roles, [](const SetRole& role) { return role.kind == SetKind::geometry; });
  if (n_geometry == 0) return true;
  if (roles.empty()) return false;
  set.kind = roles[0].kind;
  set.id = roles[0].id;
  set.geometry_dim = roles[0].geometry_dim;
  set.more_roles.assign(roles.begin() + 1, roles.end());
  return true;
}

/// Drop the geometry sets from a list.
SetPlan drop_sets(std::vector<SetInfo>& sets) {
  SetPlan plan;
  std::vector<SetInfo> left;
  std::int32_t n_left = 0;
  for (SetInfo& set : sets) {
    const bool stays = take_geometry_from(set);
    plan.new_place.push_back(stays ? n_left++ : -1);
    if (stays) left.push_back(set);
  }
  plan.heirs.resize(sets.size());
  const auto place = [&](std::int32_t set) { return plan.new_place[set]; };
  const auto renumber = [&](std::vector<std::int32_t>& others) {
    std::erase_if(others, [&](std::int32_t other) { return place(other) < 0; });
    std::ranges::transform(others, others.begin(), place);
  };
  for (std::int32_t heir = 0; heir < n_left; ++heir) {
    SetInfo& set = left[heir];
    renumber(set.children);
    renumber(set.parents);
    std::vector<SetInSet> inner;
    std::vector<std::int32_t> gone;  // dropped sets in this one, directly or through other dropped sets
    const auto take = [&](const SetInSet& one) {
      if (place(one.set) >= 0) {
        if (std::ranges::find(inner, place(one.set), &SetInSet::set) == inner.end() || set.is_ordered)
          inner.push_back({place(one.set), one.position});
      } else if (std::ranges::find(gone, one.set) == gone.end()) {
        gone.push_back(one.set);
      }
    };
    for (const SetInSet& one : set.contained) take(one);
    for (std::size_t i = 0; i < gone.size(); ++i) {
      plan.heirs[gone[i]].push_back(heir);
      for (const SetInSet& one : sets[gone[i]].contained) take({one.set, -1});
    }
    if (!gone.empty() && set.is_ordered) {
      throw AgreedError(
          ErrorCode::bad_input,
          {.subject = fmt::format("set {} '{}'", set.id, set.name),
           .cause = "is an ordered list that contains geometry sets, whose entities have no position in it",
           .remedy = "keep the geometry"});
    }
    set.contained = std::move(inner);
  }
  sets = std::move(left);
  return plan;
}

/// The rows to drop, which only geometry sets contain, and the remaining memberships. Rows are old ones at their homes.
struct RowPlan {
  std::vector<Membership> members;
  std::vector<std::pair<Dim, std::int64_t>> gone;  // ascending
};

RowPlan drop_rows(const std::vector<Membership>& members, const SetPlan& sets, Dim top) {
  RowPlan plan;
  for (std::size_t i = 0; i < members.size();) {
    const Membership row = members[i];
    const std::size_t n_before = plan.members.size();
    std::vector<std::int32_t> heirs;
    for (; i < members.size() && members[i].dim == row.dim && members[i].row == row.row; ++i) {
      const std::size_t set = members[i].set;
      if (sets.new_place[set] >= 0)
        plan.members.push_back({row.dim, sets.new_place[set], row.row, members[i].position});
      heirs.insert(heirs.end(), sets.heirs[set].begin(), sets.heirs[set].end());
    }
    for (const std::int32_t heir : heirs) {
      const auto of_row = std::span(plan.members).subspan(n_before);
      if (std::ranges::find(of_row, heir, &Membership::set) == of_row.end())
        plan.members.push_back({row.dim, heir, row.row});
    }
    const bool stays = row.dim == Dim::vertex || row.dim == top || plan.members.size() > n_before;
    if (!stays) plan.gone.emplace_back(row.dim, row.row);
  }
  return plan;
}

/// Remove rows from a block; the others keep their order. Collective.
/// @return new row of each of this rank's old rows, -1 for removed ones
std::vector<std::int64_t> shrink(mpi::Context& context, const std::vector<std::pair<Dim, std::int64_t>>& gone,
                                 std::int64_t first_row, CellBlock& block) {
  const std::int64_t first = first_row + block.rows.first(context.rank());
  std::vector<std::int64_t> new_rows(block.rows.size(context.rank()));
  std::int64_t n_left = 0;
  for (std::int64_t i = 0; i < std::ssize(new_rows); ++i) {
    const std::pair row(topology(block.type).dim, first + i);
    new_rows[i] = std::ranges::binary_search(gone, row) ? -1 : n_left++;
  }
  const std::int64_t n_before = mpi::exclusive_sum(context, n_left);
  const Slabs rows{mpi::sum(context, n_left), context.size()};
  exchange::Outbox outbox;
  for (std::size_t i = 0; i < new_rows.size(); ++i) {
    if (new_rows[i] < 0) continue;
    new_rows[i] += n_before;
    const std::span<const GlobalId> nodes = block.cell(i);
    auto& words = outbox.begin(rows.rank_of(new_rows[i]));
    words.push_back(std::ssize(nodes));
    for (const GlobalId node : nodes) words.push_back(value(node));
  }
  // Senders ascend with rows, so the cells arrive in the order of rows.
  const std::vector<std::int64_t> cells = exchange::route(context, outbox.parcels()).items;
  block.rows = rows;
  block.nodes.clear();
  if (block.nodes_per_cell == 0) block.offsets.assign(1, 0);
  for (exchange::WordReader in(cells); !in.done();) {
    for (const std::int64_t node : in.get(in.get())) block.nodes.push_back(GlobalId{node});
    if (block.nodes_per_cell == 0) block.offsets.push_back(block.nodes.size());
  }
  return new_rows;
}

/// Drop the values on removed sets, and renumber values that are sets.
void drop_from_tag(const SetPlan& plan, TagTable& tag) {
  const auto renumber_codes = [&](std::vector<std::byte>& bytes) {
    std::vector<EntityCode> codes(bytes.size() / sizeof(EntityCode));
    if (codes.empty()) return;
    std::memcpy(codes.data(), bytes.data(), bytes.size());
    for (EntityCode& code : codes) {
      if (code == EntityCode::none || !is_set(code)) continue;
      const std::int32_t place = plan.new_place[row_of(code)];
      code = place < 0 ? EntityCode::none : code_of_set(place);
    }
    std::memcpy(bytes.data(), codes.data(), bytes.size());
  };
  TagOnSets left;
  for (std::size_t i = 0; i < tag.on_sets.sets.size(); ++i) {
    const std::int32_t place = plan.new_place[tag.on_sets.sets[i]];
    if (place < 0) continue;
    left.sets.push_back(place);
    left.items.add(tag.on_sets.items.value(i, tag.info.value_bytes()), tag.info.length_varies);
  }
  tag.on_sets = std::move(left);
  if (tag.info.type != TagType::entity) return;
  renumber_codes(tag.info.default_value);
  renumber_codes(tag.info.mesh_value);
  renumber_codes(tag.on_sets.items.bytes);
  for (TagColumn& column : tag.columns) renumber_codes(column.items.bytes);
}

}  // namespace

MeshTables drop_geometry(mpi::Context& context, MeshTables tables) {
  MeshTables before;  // slabs and types only, to locate rows
  before.vertices = tables.vertices;
  for (const CellBlock& block : tables.blocks) before.blocks.push_back({block.type, block.rows, 0, {}, {}});
  const std::vector<Membership> members = memberships_at_home(context, tables);
  const Dim top = tables.top_dim();
  const SetPlan sets = drop_sets(tables.sets);
  RowPlan rows = drop_rows(members, sets, top);

  detail::Moves moves{before, tables, {}};
  std::vector<CellBlock> left;
  std::int32_t n_left = 0;
  for (std::int32_t b = 0; b < std::ssize(tables.blocks); ++b) {
    CellBlock& block = tables.blocks[b];
    if (topology(block.type).dim != top) moves.new_rows[b] = shrink(context, rows.gone, before.first_row(b), block);
    const bool stays = block.rows.n_rows > 0;
    moves.new_blocks.push_back(stays ? n_left++ : detail::Moves::no_block);
    if (stays) left.push_back(std::move(block));
  }
  tables.blocks = std::move(left);

  for (Membership& member : rows.members) {
    if (member.dim == Dim::vertex || member.dim == top) continue;
    for (const auto& [block, new_rows] : moves.new_rows) {
      const CellBlock& old = before.blocks[block];
      const std::int64_t first = before.first_row(block) + old.rows.first(context.rank());
      if (topology(old.type).dim != member.dim || member.row < first || member.row >= first + std::ssize(new_rows))
        continue;
      member.row = moves.first_row_after(block) + new_rows[member.row - first];
      break;
    }
  }
  tables.members = as_runs(rows.members);
  for (TagTable& tag : tables.tags) drop_from_tag(sets, tag);
  detail::move_tags(context, moves, tables.tags);
  return tables;
}

}  // namespace barrio::mesh
