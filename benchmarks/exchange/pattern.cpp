#include "benchmarks/exchange/pattern.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <numeric>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/base/sort_unique.hpp"

namespace barrio::bench {
namespace {

constexpr int ranks_of_a_tile = 16;

void sort_and_keep_one_of_each(std::vector<Rank>& ranks) { sort_unique(ranks); }

}  // namespace

const std::vector<std::string>& Pattern::names() {
  static const std::vector<std::string> all{"ring", "tile", "meet", "cube", "all"};
  return all;
}

Pattern::Pattern(std::string name, Rank rank, int n_ranks, std::uint64_t seed)
    : name_(std::move(name)), rank_(rank), n_ranks_(n_ranks), seed_(seed) {
  if (name_ == "tile" && n_ranks < ranks_of_a_tile)
    throw AgreedError(ErrorCode::usage, {.subject = "pattern tile",
                                         .cause = fmt::format("needs at least {} ranks for a tile, but there are {}",
                                                              ranks_of_a_tile, n_ranks),
                                         .remedy = "barrio --ranks 16 bench exchange --pattern tile"});
  if (name_ == "cube") MPI_Dims_create(n_ranks, n_axes, sides_.data());
  if ((name_ == "tile" || name_ == "meet") && n_ranks >= ranks_of_a_tile) tiles_ = TileGraph::semi_regular();
  neighbours_ = neighbours_of(rank);
}

std::vector<Rank> Pattern::neighbours_of(Rank rank) const {
  if (tiles_) return tiles_->neighbours(rank, n_ranks_);
  if (name_ == "cube") return around(rank);
  if (name_ == "all") {
    std::vector<Rank> others(n_ranks_);
    std::iota(others.begin(), others.end(), 0);
    others.erase(others.begin() + rank);
    return others;
  }
  std::vector<Rank> ring{(rank + 1) % n_ranks_, (rank + n_ranks_ - 1) % n_ranks_};
  sort_and_keep_one_of_each(ring);
  std::erase(ring, rank);
  return ring;
}

std::vector<Rank> Pattern::around(Rank rank) const {
  const auto [a, b, c] = sides_;
  const std::array<int, n_axes> place{rank / (b * c), rank / c % b, rank % c};
  std::vector<Rank> ranks;
  for (int step = 0; step < 27; ++step) {
    const std::array<int, n_axes> steps{step / 9 - 1, step / 3 % 3 - 1, step % 3 - 1};
    Rank other = 0;
    for (std::size_t axis = 0; axis < n_axes; ++axis)
      other = other * sides_[axis] + (place[axis] + steps[axis] + sides_[axis]) % sides_[axis];
    ranks.push_back(other);
  }
  sort_and_keep_one_of_each(ranks);
  std::erase(ranks, rank);
  return ranks;
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
  for (const Rank rank : two_away_from(rank_))  // distance two is mutual
    if (std::ranges::binary_search(strangers_of(rank, round), rank_)) from.push_back(rank);
  return from;
}

}  // namespace barrio::bench
