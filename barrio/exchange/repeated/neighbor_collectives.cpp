#include "barrio/exchange/neighbor_collectives.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"

namespace barrio::exchange::detail {
namespace {

[[noreturn]] void refuse(RoundCall call, std::string cause, const char* remedy) {
  throw Error(ErrorCode::usage, {.subject = std::string(name(call)), .cause = std::move(cause), .remedy = remedy});
}

constexpr const char* same_call =
    "neighbours must make the same calls in the same order, with the same number of values";

}  // namespace

Tally::Tally(const Neighborhood& hood, RoundCall call, std::size_t n_each)
    : call_(call),
      n_each_(n_each),
      neighbours_(hood.neighbours().begin(), hood.neighbours().end()),
      n_taken_(neighbours_.size()) {}

std::optional<std::size_t> Tally::next_place(Rank from) {
  const auto at = std::ranges::lower_bound(neighbours_, from);
  if (at == neighbours_.end() || *at != from) {
    stranger_ = std::min(stranger_.value_or(from), from);
    return {};
  }
  const std::size_t i = at - neighbours_.begin();
  const std::size_t k = n_taken_[i]++;
  if (k >= n_each_) return {};
  return i * n_each_ + k;
}

void Tally::check() const {
  if (stranger_) refuse(call_, fmt::format("rank {} sent a message but is not a neighbour", *stranger_), same_call);
  for (std::size_t i = 0; i < neighbours_.size(); ++i)
    if (n_taken_[i] != n_each_)
      refuse(call_, fmt::format("rank {} sent {} values instead of {}", neighbours_[i], n_taken_[i], n_each_),
             same_call);
}

void check_one_each(const Neighborhood& hood, RoundCall call, std::size_t n_given) {
  if (n_given != hood.neighbours().size())
    refuse(call, fmt::format("{} values for {} neighbours", n_given, hood.neighbours().size()),
           "give one for each, in the order of neighbours()");
}

void check_pieces(const Neighborhood& hood, RoundCall call, std::size_t n_given) {
  const std::size_t n = hood.neighbours().size();
  if (n == 0 ? n_given != 0 : n_given % n != 0)
    refuse(call, fmt::format("{} values cannot be divided evenly among {} neighbours", n_given, n),
           "give the same number for each; neighbor_alltoallv takes lists of different lengths");
}

void check_peers(const Neighborhood& hood, RoundCall call, std::span<const Rank> peers) {
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (!std::ranges::binary_search(hood.neighbours(), peers[i]))
      refuse(call, fmt::format("rank {} is not a neighbour of rank {}", peers[i], hood.context().rank()),
             "to reach other ranks use a round whose Termination allows it");
    if (i > 0 && peers[i - 1] >= peers[i])
      refuse(call, fmt::format("rank {} comes after rank {}", peers[i], peers[i - 1]),
             "list peers ascending, each once");
  }
}

void check_lists(RoundCall call, std::span<const Rank> ascending, std::optional<Rank> torn) {
  if (torn) refuse(call, fmt::format("the list from rank {} ends within a value", *torn), same_call);
  const auto twice = std::ranges::adjacent_find(ascending);
  if (twice != ascending.end()) refuse(call, fmt::format("rank {} sent more than once", *twice), same_call);
}

std::size_t n_neighbours_below(const Neighborhood& hood, Rank rank) noexcept {
  const auto all = hood.neighbours();
  return std::ranges::lower_bound(all, rank) - all.begin();
}

bool contains(std::span<const Rank> ranks, Rank rank) noexcept { return std::ranges::find(ranks, rank) != ranks.end(); }

std::vector<Rank> neighbours_among(const Neighborhood& hood, std::span<const Rank> ranks) {
  std::vector<Rank> near;
  for (const Rank rank : ranks)
    if (std::ranges::binary_search(hood.neighbours(), rank) && !contains(near, rank)) near.push_back(rank);
  return near;
}

}  // namespace barrio::exchange::detail
