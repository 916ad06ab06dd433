#include <algorithm>
#include <numeric>
#include <tuple>

#include "barrio/exchange/ask.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/files/h5m.hpp"
#include "barrio/io/h5m/h5m_sets.hpp"
#include "barrio/mesh/memberships.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io {
namespace {

using detail::WrittenIds;
using files::H5mFile;
using mesh::CellBlock;
using mesh::Dim;
using mesh::MeshTables;
using mesh::SetRows;

/// One run of ids in one set.
struct Run {
  std::int64_t set;
  std::size_t table;  // 0: vertices, 1 + b: block b, then sets; runs of a set are in this order
  std::int64_t first_id;
  std::int64_t count;
  std::int64_t position;  // in an ordered set
};

/// Add a run of rows of a dimension, which may extend over several blocks.
void add_rows(const MeshTables& tables, const WrittenIds& ids, std::int64_t set, const SetRows& rows,
              std::vector<Run>& runs) {
  if (rows.dim == Dim::vertex) {
    runs.push_back({set, 0, ids.first_vertex + rows.first, rows.count, rows.position});
    return;
  }
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    if (topology(tables.blocks[b].type).dim != rows.dim) continue;
    const std::int64_t low = std::max(rows.first, tables.first_row(b));
    const std::int64_t high = std::min(rows.first + rows.count, tables.first_row(b) + tables.blocks[b].rows.n_rows);
    if (low >= high) continue;
    const std::int64_t position = rows.position < 0 ? -1 : rows.position + low - rows.first;
    runs.push_back({set, b + 1, ids.first_of_block[b] + low - tables.first_row(b), high - low, position});
  }
}

/// Collect all runs of this rank: parts precede the mesh's own sets.
std::vector<Run> collect_runs(mpi::Context& context, const MeshTables& tables, const WrittenIds& ids,
                              const mesh::PartContents& contents) {
  std::vector<Run> runs;
  std::size_t at = 0;
  for (std::size_t b = 0; b < tables.blocks.size() && tables.n_parts > 0; ++b) {
    const CellBlock& block = tables.blocks[b];
    if (topology(block.type).dim != tables.top_dim()) continue;
    const std::int64_t first = ids.first_of_block[b] + block.rows.first(context.rank());
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i, ++at) {
      const std::int64_t id = first + i;
      if (!runs.empty() && runs.back().set == tables.parts[at] && runs.back().table == b + 1 &&
          runs.back().first_id + runs.back().count == id) {
        runs.back().count += 1;
      } else {
        runs.push_back({tables.parts[at], b + 1, id, 1, -1});
      }
    }
  }
  for (const SetRows& rows : contents.rows) add_rows(tables, ids, rows.set, rows, runs);
  auto members = mesh::memberships_at_home(context, tables);
  for (const SetRows& rows : mesh::as_runs(members)) add_rows(tables, ids, tables.n_parts + rows.set, rows, runs);
  const auto add_set = [&](std::int64_t outer, std::int32_t inner, std::int64_t position) {
    runs.push_back({outer, 1 + tables.blocks.size(), ids.first_set + inner, 1, position});
  };
  if (context.is_root()) {
    for (const auto& [part, set] : contents.sets) add_set(part, set, -1);
    for (std::size_t s = 0; s < tables.sets.size(); ++s)
      for (const mesh::SetInSet& inner : tables.sets[s].contained)
        add_set(tables.n_parts + s, inner.set, inner.position);
  }
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return std::tuple(a.set, a.table, a.first_id) < std::tuple(b.set, b.table, b.first_id);
  });
  return runs;
}

/// Renumber the members of ordered sets 0, 1, 2, ...: positions are missing where the file that was read listed ids it
/// did not have. Collective. One rank puts each ordered set in order; it sees the set's runs, not its members.
void close_holes(mpi::Context& context, const MeshTables& tables, std::vector<Run>& runs) {
  struct Piece {
    std::int64_t set;
    std::int64_t position;
    std::int64_t count;
  };
  const auto is_ordered = [&](const Run& run) {
    return run.set >= tables.n_parts && tables.sets[run.set - tables.n_parts].is_ordered;
  };
  std::vector<Rank> to;
  std::vector<Piece> pieces;
  for (const Run& run : runs) {
    if (!is_ordered(run)) continue;
    to.push_back(static_cast<Rank>(run.set % context.size()));
    pieces.push_back({run.set, run.position, run.count});
  }
  const auto place_all = [](const exchange::Parcels<Piece>& asked) {
    std::vector<std::size_t> order(asked.items.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {},
                             [&](std::size_t i) { return std::tuple(asked.items[i].set, asked.items[i].position); });
    std::vector<std::int64_t> positions(order.size());
    std::int64_t next = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Piece& piece = asked.items[order[i]];
      if (i == 0 || asked.items[order[i - 1]].set != piece.set) next = 0;
      positions[order[i]] = next;
      next += piece.count;
    }
    return positions;
  };
  const std::vector<std::int64_t> position_of = exchange::ask_together(context, to, pieces, place_all);
  std::size_t at = 0;
  for (Run& run : runs)
    if (is_ordered(run)) run.position = position_of[at++];
}

/// The file's list of sets, and the places of this rank's words of their contents.
///
/// A set's contents are a list of ids or, where that is shorter, pairs of first id and count. A run that reaches the
/// end of a slab may continue on a higher rank. Even then it is one pair, so the file does not depend on the number of
/// ranks.
class SetLayout {
 public:
  /// Lay out the contents. Collective.
  SetLayout(mpi::Context& context, const MeshTables& tables, const std::vector<Run>& runs)
      : tables_(tables),
        n_parts_(tables.n_parts),
        n_sets_(n_parts_ + tables.sets.size()),
        n_tables_(2 + tables.blocks.size()),
        place_(n_sets_ * n_tables_),
        is_ranged_(n_sets_),
        start_of_set_(n_sets_) {
    find_ends(context, runs);
    Counts here{std::vector<std::int64_t>(place_.size(), 0), std::vector<std::int64_t>(place_.size(), 0)};
    for (const Run& run : runs) {
      here.as_list[key_of(run)] += run.count;
      here.as_pairs[key_of(run)] += goes_on(run) ? 0 : 2;
    }
    lay_out(context, here);
  }

  [[nodiscard]] std::size_t n_sets() const noexcept { return n_sets_; }
  [[nodiscard]] std::int64_t n_words() const noexcept { return n_words_; }
  /// Return the list of sets, without their parents and children.
  [[nodiscard]] files::H5mSetList& list() & noexcept { return list_; }

  /// Call `put(place, value)` for the words of the runs of this rank. The caller adds values at the same place. @pre
  /// called once
  template <class Put>
  void for_each_word(const std::vector<Run>& runs, Put&& put) {
    for (const Run& run : runs) {
      const std::size_t set = run.set;
      std::int64_t& place = place_[key_of(run)];
      if (is_ordered(set)) place = start_of_set_[set] + run.position;
      if (is_ranged_[set] != 0) {
        if (!goes_on(run)) put(place++, run.first_id);
        put(goes_on(run) ? place - 1 : place++, run.count);  // adds to the count of the previous pair
      } else {
        for (std::int64_t i = 0; i < run.count; ++i) put(place++, run.first_id + i);
      }
    }
  }

 private:
  /// Numbers of words of each (set, table).
  struct Counts {
    std::vector<std::int64_t> as_list;
    std::vector<std::int64_t> as_pairs;
  };
  [[nodiscard]] bool is_ordered(std::size_t set) const {
    return set >= n_parts_ && tables_.sets[set - n_parts_].is_ordered;
  }
  /// Return the key; an ordered set is one list across all tables.
  [[nodiscard]] std::size_t key_of(const Run& run) const {
    const std::size_t set = run.set;
    return set * n_tables_ + (is_ordered(set) ? 0 : run.table);
  }
  /// Tell whether a run continues one of a lower rank.
  [[nodiscard]] bool goes_on(const Run& run) const { return end_below_[key_of(run)] == run.first_id; }

  void find_ends(mpi::Context& context, const std::vector<Run>& runs) {
    end_below_.assign(place_.size(), 0);
    for (const Run& run : runs) {
      std::int64_t& end = end_below_[key_of(run)];
      end = std::max(end, run.first_id + run.count);
    }
    mpi::exclusive_max(context, std::span(end_below_), std::int64_t{0});
  }

  void lay_out(mpi::Context& context, const Counts& here) {
    Counts all = here;
    mpi::all_reduce(context, std::span(all.as_list), MPI_SUM);
    mpi::all_reduce(context, std::span(all.as_pairs), MPI_SUM);
    std::vector<std::int64_t> before(place_.size());  // words of lower ranks
    for (std::size_t s = 0; s < n_sets_; ++s) {
      const std::size_t first = s * n_tables_;
      const auto sum = [&](const std::vector<std::int64_t>& words) {
        return std::reduce(&words[first], &words[first] + n_tables_);
      };
      is_ranged_[s] = sum(all.as_pairs) < sum(all.as_list) && !is_ordered(s) ? 1 : 0;
      start_of_set_[s] = n_words_;
      for (std::size_t k = first; k < first + n_tables_; ++k) {
        place_[k] = n_words_;
        n_words_ += is_ranged_[s] != 0 ? all.as_pairs[k] : all.as_list[k];
        before[k] = is_ranged_[s] != 0 ? here.as_pairs[k] : here.as_list[k];
      }
      list_.contents_end.push_back(n_words_);
      const bool tracks = s >= n_parts_ && tables_.sets[s - n_parts_].tracks_members;
      list_.flags.push_back((is_ordered(s) ? files::H5mSetList::ordered : files::H5mSetList::unique) |
                            (is_ranged_[s] != 0 ? files::H5mSetList::ranged : 0) |
                            (tracks ? files::H5mSetList::tracking : 0));
    }
    mpi::exclusive_sum(context, std::span(before));
    for (std::size_t k = 0; k < place_.size(); ++k) place_[k] += before[k];
  }

  const MeshTables& tables_;
  std::size_t n_parts_;
  std::size_t n_sets_;
  std::size_t n_tables_;
  std::int64_t n_words_ = 0;
  files::H5mSetList list_;
  std::vector<std::int64_t> place_;  // where this rank's next word of (set, table) goes
  std::vector<char> is_ranged_;
  std::vector<std::int64_t> start_of_set_;
  std::vector<std::int64_t> end_below_;  // by (set, table): the highest end of a run on lower ranks
};

}  // namespace

void detail::write_sets(mpi::Context& context, H5mFile& file, const MeshTables& tables, const WrittenIds& ids,
                        const mesh::PartContents& contents) {
  std::vector<Run> runs = collect_runs(context, tables, ids, contents);
  SetLayout layout(context, tables, runs);
  close_holes(context, tables, runs);

  // Words travel to the slabs of `contents`; each rank then writes one contiguous piece.
  struct Word {
    std::int64_t place;
    std::int64_t value;
  };
  const Slabs slabs{layout.n_words(), context.size()};
  std::vector<Rank> to;
  std::vector<Word> words;
  layout.for_each_word(runs, [&](std::int64_t place, std::int64_t value) {
    to.push_back(slabs.rank_of(place));
    words.push_back({place, value});
  });
  words = exchange::route(context, exchange::pack_by_rank<Word>(to, words)).items;
  const std::int64_t first = slabs.first(context.rank());
  std::vector<std::int64_t> entries(slabs.size(context.rank()), 0);
  for (const Word& word : words) entries[word.place - first] += word.value;

  files::H5mSetList& list = layout.list();
  for (std::size_t s = 0; s < layout.n_sets(); ++s) {
    const std::size_t n_parts = tables.n_parts;
    if (s >= n_parts) {
      for (const std::int32_t child : tables.sets[s - n_parts].children) list.children.push_back(ids.first_set + child);
      for (const std::int32_t parent : tables.sets[s - n_parts].parents) list.parents.push_back(ids.first_set + parent);
    }
    list.children_end.push_back(std::ssize(list.children));
    list.parents_end.push_back(std::ssize(list.parents));
  }
  file.make_sets(list);
  file.put_contents(first, entries);
}

}  // namespace barrio::io
