#include "barrio/exchange/router.hpp"

#include <algorithm>
#include <numeric>

#include "barrio/base/assert.hpp"
#include "barrio/exchange/rounds/packet.hpp"
#include "barrio/mpi/point_to_point.hpp"

namespace barrio::exchange {

std::vector<std::size_t> order_by_rank(std::span<const Rank> ranks) {
  std::vector<std::size_t> order(ranks.size());
  if (ranks.empty()) return order;
  const auto [low, high] = std::ranges::minmax(ranks);
  const auto n_ranks = static_cast<std::size_t>(high - low) + 1;
  if (n_ranks > ranks.size()) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return ranks[i]; });
    return order;
  }
  std::vector<std::size_t> next(n_ranks + 1, 0);
  for (const Rank rank : ranks) next[static_cast<std::size_t>(rank - low) + 1] += 1;
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t i = 0; i < ranks.size(); ++i) order[next[ranks[i] - low]++] = i;
  return order;
}

namespace detail {

void append(std::vector<std::uint64_t>& words, std::vector<std::uint64_t> more) {
  if (words.empty()) {
    words = std::move(more);
    return;
  }
  words.reserve(words.size() + more.size());
  words.insert(words.end(), more.begin(), more.end());
}

namespace {

// Tag of the router, below those of objects; each stage has one partner, and message order keeps calls apart.
constexpr int router_tag = 2;

/// Entries that stay in this half of the ranks, and those for the other half.
struct Halves {
  std::vector<std::uint64_t> kept;
  std::vector<std::uint64_t> leaving;
};

/// Split entries by destination. @param stays  tells whether a destination is in this half
template <class Stays>
Halves split(std::vector<std::uint64_t> words, int n_ranks, Stays&& stays) {
  const auto for_each_entry = [&](auto&& visit) {
    for (std::size_t at = 0; at < words.size();) {
      const auto destination = static_cast<Rank>(words[at] >> 32U);
      BARRIO_ASSERT(cheap, destination >= 0 && destination < n_ranks, destination);
      const std::size_t size = n_head_words + words_of(entry_bytes(words[at + 1]));
      visit(at, size, stays(destination));
      at += size;
    }
  };
  std::size_t n_kept = 0;
  for_each_entry([&](std::size_t /*at*/, std::size_t size, bool stay) { n_kept += stay ? size : 0; });
  Halves halves;
  if (n_kept == words.size()) {
    halves.kept = std::move(words);
  } else if (n_kept == 0) {
    halves.leaving = std::move(words);
  } else {
    halves.kept.reserve(n_kept);
    halves.leaving.reserve(words.size() - n_kept);
    for_each_entry([&](std::size_t at, std::size_t size, bool stay) {
      const auto entry = std::span(words).subspan(at, size);
      std::vector<std::uint64_t>& half = stay ? halves.kept : halves.leaving;
      half.insert(half.end(), entry.begin(), entry.end());
    });
  }
  return halves;
}

}  // namespace

std::vector<std::uint64_t> route_words(mpi::Context& context, std::vector<std::uint64_t> words) {
  const Rank rank = context.rank();
  Rank low = 0;
  int n = context.size();
  while (n > 1) {
    // Ranks [low, low + n) split at `middle`; entries for the other half go to the mirror image of this rank.
    const int n_low = (n + 1) / 2;
    const Rank middle = low + n_low;
    const bool is_low = rank < middle;
    Rank partner = low + (n - 1) - (rank - low);
    int n_receives = 1;
    if (partner == rank) {  // the middle one of an odd number has no mirror image
      partner = middle;
      n_receives = 0;
    } else if (n % 2 == 1 && rank == middle) {
      n_receives = 2;
    }
    Halves halves =
        split(std::move(words), context.size(), [&](Rank destination) { return (destination < middle) == is_low; });
    auto sending = mpi::begin_send(context, std::move(halves.leaving), partner, router_tag);
    for (int i = 0; i < n_receives; ++i) {
      // The second one comes from the rank without a mirror image, which is the last of the low half.
      const Rank from = i == 0 ? partner : middle - 1;
      append(halves.kept, mpi::receive<std::uint64_t>(context, from, router_tag));
    }
    sending.wait();
    words = std::move(halves.kept);
    if (is_low) {
      n = n_low;
    } else {
      low = middle;
      n -= n_low;
    }
  }
  return words;
}

}  // namespace detail
}  // namespace barrio::exchange
