#include "barrio/io/medit/medit_references.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "barrio/io/medit/medit_keywords.hpp"
#include "barrio/mesh/memberships.hpp"
#include "barrio/mesh/nested_sets.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

using mesh::Dim;
using mesh::Membership;
using mesh::MeshTables;
using mesh::SetInfo;
using mesh::SetKind;

constexpr std::int32_t no_set = INT32_MAX;

/// For each dimension the first set that gives references there, among a set and those that contain it; `no_set`
/// without.
using MeditGivers = std::array<std::int32_t, 4>;

const MeditKeyword* list_of(const SetInfo& set) {
  const MeditKeyword* const keyword = set.kind == SetKind::other ? find_medit_keyword(set.name) : nullptr;
  return keyword != nullptr && keyword->use == MeditUse::list && keyword->name == set.name ? keyword : nullptr;
}

class MeditChooser {
 public:
  MeditChooser(mpi::Context& context, const MeshTables& tables)
      : context_(context), tables_(tables), lost_of_set_(tables.sets.size(), 0) {}

  MeditSets run() {
    for (const MeditKeyword& keyword : medit_keywords())
      if (keyword.use == MeditUse::list) result_.lists.push_back({std::string(keyword.name)});
    result_.references.emplace_back(tables_.vertices.size(context_.rank()), 0);
    for (const mesh::CellBlock& block : tables_.blocks)
      result_.references.emplace_back(block.rows.size(context_.rank()), 0);
    find_givers();
    const std::vector<Membership> members = mesh::memberships_at_home(context_, tables_);
    for (std::size_t first = 0, end = 0; first < members.size(); first = end) {
      while (end < members.size() && members[end].dim == members[first].dim && members[end].row == members[first].row)
        ++end;
      take_entity(std::span(members).subspan(first, end - first));
    }
    say_what_is_lost();
    return std::move(result_);
  }

 private:
  /// Return the kind of set whose id is the reference of entities of a dimension.
  [[nodiscard]] SetKind kind_at(Dim dim) const {
    if (dim == tables_.top_dim()) return SetKind::material;
    return dim == Dim::vertex ? SetKind::dirichlet : SetKind::neumann;
  }
  /// Return the reference that a set gives entities of a dimension; 0 means none, as in the file.
  [[nodiscard]] std::int32_t given(std::int32_t set, Dim dim) const {
    return tables_.sets[set].id_as(kind_at(dim)).value_or(0);
  }

  void find_givers() {
    const mesh::NestedSets nested(tables_.sets);
    std::vector<MeditGivers> of_group(nested.n_groups(), {no_set, no_set, no_set, no_set});
    givers_.resize(tables_.sets.size());
    for (std::size_t g = nested.n_groups(); g-- > 0;) {  // containing sets come before contained ones
      MeditGivers& givers = of_group[g];
      for (const std::int32_t set : nested.group(g))
        for (int d = 0; d < std::ssize(givers); ++d)
          if (given(set, Dim{d}) != 0) givers[d] = std::min(givers[d], set);
      for (const std::int32_t set : nested.group(g)) {
        givers_[set] = givers;
        for (const mesh::SetInSet& inner : tables_.sets[set].contained) {
          MeditGivers& below = of_group[nested.group_of(inner.set)];
          for (std::size_t d = 0; d < givers.size(); ++d) below[d] = std::min(below[d], givers[d]);
        }
      }
    }
  }

  /// Return the block of a row and its index in this rank's slab; block -1 means the vertices.
  [[nodiscard]] std::pair<std::int32_t, std::int64_t> place_of(Dim dim, std::int64_t row) const {
    if (dim == Dim::vertex) return {-1, row - tables_.vertices.first(context_.rank())};
    for (std::int32_t b = 0; b < std::ssize(tables_.blocks); ++b) {
      const mesh::CellBlock& block = tables_.blocks[b];
      const std::int64_t in_block = row - tables_.first_row(b);
      if (mesh::topology(block.type).dim == dim && in_block >= 0 && in_block < block.rows.n_rows)
        return {b, in_block - block.rows.first(context_.rank())};
    }
    return {-1, -1};
  }

  /// Use the memberships of one entity. @param members  all of them, ascending by set
  void take_entity(std::span<const Membership> members) {
    const Dim dim = members[0].dim;
    const auto [block, at] = place_of(dim, members[0].row);
    if (at < 0) return;
    std::int32_t giver = no_set;
    for (const Membership& member : members) giver = std::min(giver, givers_[member.set][index(dim)]);
    const std::int32_t reference = giver == no_set ? 0 : given(giver, dim);
    result_.references[block + 1][at] = reference;
    for (const Membership& member : members) {
      const MeditKeyword* const list = list_of(tables_.sets[member.set]);
      const bool is_listed = list != nullptr && list->type == (block < 0 ? mesh::CellType::vertex : type_of(block));
      if (is_listed) {
        std::vector<std::int64_t>& rows = std::ranges::find(result_.lists, list->name, &MeditSets::List::name)->rows;
        if (rows.empty() || rows.back() != member.row) rows.push_back(member.row);
      }
      const bool is_given = reference != 0 && given(member.set, dim) == reference;
      if (!is_listed && !is_given) lost_of_set_[member.set] = 1;
    }
  }
  [[nodiscard]] mesh::CellType type_of(std::int32_t block) const { return tables_.blocks[block].type; }

  void say_what_is_lost() {
    if (lost_of_set_.empty()) return;
    mpi::all_reduce(context_, std::span<int>(lost_of_set_), MPI_MAX);
    std::vector<std::string> sets;
    std::size_t n_lost = 0;
    bool has_names = false;
    for (std::size_t s = 0; s < tables_.sets.size(); ++s) {
      const SetInfo& set = tables_.sets[s];
      has_names = has_names || (lost_of_set_[s] == 0 && !set.name.empty() && list_of(set) == nullptr);
      if (lost_of_set_[s] == 0) continue;
      n_lost += 1;
      constexpr std::size_t max_shown = 5;
      if (sets.size() < max_shown)
        sets.push_back(set.name.empty() ? fmt::format("{} {}", mesh::name(set.kind), set.id)
                                        : fmt::format("'{}'", set.name));
    }
    if (n_lost > 0)
      result_.lost.push_back(fmt::format("members of {} set{} ({}{})", n_lost, n_lost == 1 ? "" : "s",
                                         fmt::join(sets, ", "), n_lost > sets.size() ? ", ..." : ""));
    if (has_names) result_.lost.emplace_back("names of sets");
  }

  mpi::Context& context_;
  const MeshTables& tables_;
  std::vector<MeditGivers> givers_;  // by set
  std::vector<int> lost_of_set_;     // 1 if a member of the set does not show that it is one
  MeditSets result_;
};

}  // namespace

MeditSets medit_sets(mpi::Context& context, const MeshTables& tables) { return MeditChooser(context, tables).run(); }

}  // namespace barrio::io::detail
