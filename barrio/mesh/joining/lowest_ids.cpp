#include "barrio/mesh/joining/lowest_ids.hpp"

#include <algorithm>

#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/ask.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh::detail {
namespace {

/// Spreads lower ids until all ids of a class know the lowest one. Every known id belongs to the class.
class Spread {
 public:
  Spread(mpi::Context& context, std::span<const IdLink> links, const std::function<Rank(std::int64_t)>& home_of)
      : context_(context), links_(links), home_of_(home_of) {
    for (std::size_t i = 0; i < links.size(); ++i) {
      if (i > 0 && links[i - 1].id == links[i].id) continue;
      known_.push_back({links[i].id, links[i].id});
      first_link_.push_back(i);
    }
    first_link_.push_back(links.size());
    has_news_.assign(known_.size(), true);
  }

  std::vector<LowestId> run() {
    while (mpi::sum(context_, tell_others()) > 0) halve_ways();
    return std::move(known_);
  }

 private:
  /// @return number of lower ids that this rank heard of
  std::int64_t tell_others() {
    std::vector<Rank> to;
    std::vector<LowestId> news = std::move(hooks_);
    hooks_.clear();
    for (const LowestId& hook : news) to.push_back(home_of_(hook.id));
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (!has_news_[i]) continue;
      has_news_[i] = false;
      for (const IdLink& link : links_.subspan(first_link_[i], first_link_[i + 1] - first_link_[i])) {
        if (known_[i].lowest >= link.other) continue;
        to.push_back(home_of_(link.other));
        news.push_back({link.other, known_[i].lowest});
      }
    }
    std::int64_t n_changed = 0;
    for (const LowestId& one : exchange::route(context_, exchange::pack_by_rank<LowestId>(to, news)).items) {
      LowestId& mine = known_[at(one.id)];
      if (one.lowest >= mine.lowest) continue;
      n_changed += 1;
      has_news_[at(one.id)] = true;
      if (mine.lowest != mine.id) hooks_.push_back({mine.lowest, one.lowest});
      mine.lowest = one.lowest;
    }
    return n_changed;
  }
  /// Replace each known id by the one that it knows itself.
  void halve_ways() {
    std::vector<std::int64_t> wanted;
    for (const LowestId& one : known_)
      if (one.lowest != one.id) wanted.push_back(one.lowest);
    sort_unique(wanted);
    std::vector<Rank> to;
    for (const std::int64_t id : wanted) to.push_back(home_of_(id));
    const std::vector<std::int64_t> answers =
        exchange::ask(context_, to, wanted, [&](std::int64_t id) { return known_[at(id)].lowest; });
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (known_[i].lowest == known_[i].id) continue;
      const std::int64_t lowest = answers[std::ranges::lower_bound(wanted, known_[i].lowest) - wanted.begin()];
      if (lowest < known_[i].lowest) has_news_[i] = true;
      known_[i].lowest = lowest;
    }
  }
  [[nodiscard]] std::size_t at(std::int64_t id) const {
    return std::ranges::lower_bound(known_, id, {}, &LowestId::id) - known_.begin();
  }

  mpi::Context& context_;
  std::span<const IdLink> links_;
  const std::function<Rank(std::int64_t)>& home_of_;
  std::vector<LowestId> known_;          // by id
  std::vector<std::size_t> first_link_;  // of each of these, and the end
  std::vector<bool> has_news_;
  std::vector<LowestId> hooks_;  // news for the ids that were the lowest known here before
};

}  // namespace

std::vector<LowestId> lowest_ids(mpi::Context& context, std::span<const IdLink> links,
                                 const std::function<Rank(std::int64_t)>& home_of) {
  return Spread(context, links, home_of).run();
}

}  // namespace barrio::mesh::detail
