#include "benchmarks/exchange/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"

namespace barrio::bench {
namespace {

constexpr int ranks_of_a_tile = 16;

void sort_and_keep_one_of_each(std::vector<Rank>& ranks) {
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
}

}  // namespace

const std::vector<std::string>& Pattern::names() {
  static const std::vector<std::string> all{"ring", "tile", "meet"};
  return all;
}

Pattern::Pattern(std::string name, Rank rank, int n_ranks, std::uint64_t seed)
    : name_(std::move(name)), rank_(rank), n_ranks_(n_ranks), seed_(seed) {
  if (name_ == "tile" && n_ranks < ranks_of_a_tile)
    throw AgreedError(ErrorCode::usage,
                      {.subject = "pattern tile",
                       .cause = fmt::format("a tile has {} ranks, and there are {}", ranks_of_a_tile, n_ranks),
                       .remedy = "barrio --ranks 16 bench exchange --pattern tile"});
  if (name_ != "ring" && n_ranks >= ranks_of_a_tile) tiles_ = exchange::TileGraph::semi_regular();
  neighbours_ = neighbours_of(rank);
}

std::vector<Rank> Pattern::neighbours_of(Rank rank) const {
  if (tiles_) return tiles_->neighbours(rank, n_ranks_);
  std::vector<Rank> ring{(rank + 1) % n_ranks_, (rank + n_ranks_ - 1) % n_ranks_};
  sort_and_keep_one_of_each(ring);
  std::erase(ring, rank);
  return ring;
}

std::vector<Rank> Pattern::two_away_from(Rank rank) const {
  const std::vector<Rank> near = neighbours_of(rank);
  std::vector<Rank> found;
  for (const Rank middle : near)
    for (const Rank far : neighbours_of(middle))
      if (far != rank && !std::ranges::binary_search(near, far)) found.push_back(far);
  sort_and_keep_one_of_each(found);
  return found;
}

std::vector<Rank> Pattern::strangers_of(Rank rank, std::uint64_t round) const {
  if (!has_strangers()) return {};
  const std::vector<Rank> choice = two_away_from(rank);
  if (choice.empty()) return {};
  const std::uint64_t random = Hash64(seed_).add(round).add(static_cast<std::uint64_t>(rank)).value();
  const std::uint64_t n_wanted = 1 + random % 2;
  std::vector<Rank> chosen;
  for (std::uint64_t i = 0; i < n_wanted; ++i) chosen.push_back(choice[mix64(random + i) % choice.size()]);
  sort_and_keep_one_of_each(chosen);
  return chosen;
}

std::vector<Rank> Pattern::strangers_from(std::uint64_t round) const {
  std::vector<Rank> from;
  if (!has_strangers()) return from;
  for (const Rank rank : two_away_from(rank_))  // being two away is mutual
    if (std::ranges::binary_search(strangers_of(rank, round), rank_)) from.push_back(rank);
  return from;
}

}  // namespace barrio::bench
