#include "barrio/mesh/tables/row_numbers.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "barrio/exchange/router.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh::detail {
namespace {

/// Append a run, or extend the last one.
void append(std::vector<KindRun>& runs, const KindRun& run) {
  if (!runs.empty() && runs.back().kind == run.kind && runs.back().first + runs.back().count == run.first) {
    runs.back().count += run.count;
  } else {
    runs.push_back(run);
  }
}

std::string to_text(const std::vector<KindRun>& runs) {
  std::string text(runs.size() * sizeof(KindRun), '\0');
  if (!runs.empty()) std::memcpy(text.data(), runs.data(), text.size());
  return text;
}

std::vector<KindRun> from_text(const std::string& text) {
  std::vector<KindRun> runs(text.size() / sizeof(KindRun));
  if (!runs.empty()) std::memcpy(runs.data(), text.data(), text.size());
  return runs;
}

}  // namespace

RowNumbers::RowNumbers(mpi::Context& context, std::span<const GlobalId> ids, std::span<const std::int64_t> kinds,
                       bool has_kinds)
    : context_(&context), has_kinds_(has_kinds) {
  n_rows_ = mpi::sum(context, std::ssize(ids));
  n_ids_ = mpi::max(context, ids.empty() ? std::int64_t{0} : value(*std::ranges::max_element(ids)) + 1);
  if (!has_holes() && !has_kinds) return;
  slabs_ = {n_ids_, context.size()};
  std::vector<Rank> to;
  std::vector<KindRun> sent;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const KindRun one{value(ids[i]), 1, has_kinds ? kinds[i] : 0};
    if (!sent.empty() && sent.back().kind == one.kind && sent.back().first + sent.back().count == one.first &&
        one.first < slabs_.first(to.back() + 1)) {
      sent.back().count += 1;
      continue;
    }
    sent.push_back(one);
    to.push_back(slabs_.rank_of(one.first));
  }
  std::vector<KindRun> heard =
      exchange::route(context, exchange::pack_by_rank<KindRun>(to, sent), exchange::Route::automatic).items;
  std::ranges::sort(heard, {}, &KindRun::first);
  std::int64_t n_here = 0;
  for (const KindRun& run : heard) {
    append(home_, run);
    n_here += run.count;
  }
  std::int64_t row = mpi::exclusive_sum(context, n_here);
  for (const KindRun& run : home_) {
    rows_.push_back(row);
    row += run.count;
  }
}

std::vector<GlobalId> RowNumbers::rows_of(std::span<const GlobalId> ids) const {
  std::vector<GlobalId> rows(ids.begin(), ids.end());
  for (GlobalId& id : rows)
    if (value(id) < 0 || value(id) >= n_ids_) id = no_global_id;
  if (!has_holes()) return rows;
  std::vector<Rank> to;
  std::vector<GlobalId> wanted;
  for (const GlobalId id : rows) {
    if (id == no_global_id) continue;
    to.push_back(slabs_.rank_of(id));
    wanted.push_back(id);
  }
  const std::vector<std::size_t> order = exchange::order_by_rank(to);
  auto asked = exchange::route(*context_, exchange::pack_by_rank<GlobalId>(to, wanted), exchange::Route::automatic);
  for (GlobalId& id : asked.items) {
    const auto after = std::ranges::upper_bound(home_, value(id), {}, &KindRun::first) - home_.begin();
    const auto at = after - 1;
    const std::int64_t place = after == 0 ? -1 : value(id) - home_[at].first;
    id = after == 0 || place >= home_[at].count ? no_global_id : GlobalId{rows_[at] + place};
  }
  const std::vector<GlobalId> answers = exchange::route(*context_, asked, exchange::Route::automatic).items;
  for (std::size_t i = 0; i < order.size(); ++i) wanted[order[i]] = answers[i];
  auto next = wanted.begin();
  for (GlobalId& id : rows)
    if (id != no_global_id) id = *next++;
  return rows;
}

std::vector<KindRun> RowNumbers::runs() const {
  if (n_rows_ == 0) return {};
  if (!has_kinds_) return {{0, n_rows_, 0}};
  std::vector<KindRun> here;  // runs of this rank's rows
  for (std::size_t i = 0; i < home_.size(); ++i) append(here, {rows_[i], home_[i].count, home_[i].kind});
  std::string all = mpi::reduce_to_root(*context_, to_text(here), [](const std::string& low, const std::string& high) {
    std::vector<KindRun> runs = from_text(low);
    for (const KindRun& run : from_text(high)) append(runs, run);
    return to_text(runs);
  });
  mpi::broadcast(*context_, all);
  return from_text(all);
}

}  // namespace barrio::mesh::detail
