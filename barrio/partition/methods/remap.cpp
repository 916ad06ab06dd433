#include "barrio/partition/remap.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/exchange/ask.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::partition {
namespace {

using Part = std::int32_t;

/// A part, and the amount of its weight on a rank.
struct Wish {
  Part part;
  std::int64_t weight;
};

/// List the parts of this rank's items, the heaviest first.
std::vector<Wish> wishes_of(std::span<const Part> part, std::span<const std::int64_t> weights) {
  std::vector<Wish> wishes;
  wishes.reserve(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) wishes.push_back({part[i], weights.empty() ? 1 : weights[i]});
  std::ranges::sort(wishes, {}, &Wish::part);
  std::size_t n = 0;
  for (const Wish& wish : wishes) {
    if (n > 0 && wishes[n - 1].part == wish.part)
      wishes[n - 1].weight += wish.weight;
    else
      wishes[n++] = wish;
  }
  wishes.resize(n);
  std::ranges::stable_sort(wishes, std::ranges::greater{}, &Wish::weight);
  return wishes;
}

/// The matching of ranks and parts. The rank with the number of a part decides for that part.
class Pairs {
 public:
  Pairs(mpi::Context& context, std::vector<Wish> wishes, int max_passes)
      : context_(context), wishes_(std::move(wishes)) {
    for (int pass = 0; pass < max_passes && propose(); ++pass) {
    }
    pair_what_is_left();
  }

  /// Look up the rank that each of these parts goes to. Collective.
  [[nodiscard]] std::vector<Rank> ranks_of(std::span<const Part> parts) const {
    return exchange::ask(context_, parts, parts, [&](Part) { return holder_->rank; });
  }

 private:
  struct Holder {
    Rank rank;
    std::int64_t weight;
  };

  /// Propose for the next part on each rank whose last proposal was refused. Collective. @return false if there was no
  /// such rank: the matching is stable
  bool propose();
  /// Choose the best proposal for this rank's part. @return the refused ranks, ascending
  [[nodiscard]] std::vector<Rank> choose_among(const exchange::Parcels<std::int64_t>& proposals);
  void pair_what_is_left();

  mpi::Context& context_;
  std::vector<Wish> wishes_;
  std::size_t n_refused_ = 0;     // number of refused wishes
  bool is_waiting_ = false;       // the next wish has been proposed and not refused so far
  std::optional<Holder> holder_;  // holder of the part with this rank's number
};

bool Pairs::propose() {
  const bool proposes = !is_waiting_ && n_refused_ < wishes_.size();
  if (mpi::sum(context_, proposes ? 1 : 0) == 0) return false;
  exchange::Parcels<std::int64_t> proposals;
  if (proposes) proposals.add(wishes_[n_refused_].part, std::span(&wishes_[n_refused_].weight, 1));
  is_waiting_ = is_waiting_ || proposes;
  exchange::Parcels<Part> refusals;
  const Part own = context_.rank();
  for (const Rank rank : choose_among(exchange::route(context_, proposals))) refusals.add(rank, std::span(&own, 1));
  const auto refused = exchange::route(context_, refusals);
  BARRIO_ASSERT(cheap, refused.items.size() <= 1, refused.items.size());
  if (!refused.items.empty()) {
    n_refused_ += 1;
    is_waiting_ = false;
  }
  return true;
}

std::vector<Rank> Pairs::choose_among(const exchange::Parcels<std::int64_t>& proposals) {
  std::vector<Rank> refused;
  for (std::size_t i = 0; i < proposals.n_peers(); ++i) {
    const Holder one{proposals.peers[i], proposals.of(i)[0]};
    const bool is_better =
        !holder_ || one.weight > holder_->weight || (one.weight == holder_->weight && one.rank < holder_->rank);
    if (!is_better) {
      refused.push_back(one.rank);
      continue;
    }
    if (holder_) refused.push_back(holder_->rank);
    holder_ = one;
  }
  std::ranges::sort(refused);
  return refused;
}

/// Pair the remaining parts and ranks in order: the k-th of both meet on rank k.
void Pairs::pair_what_is_left() {
  enum Side : std::int32_t { of_part, of_rank };
  std::array<std::int64_t, 2> places{holder_ ? 0 : 1, is_waiting_ ? 0 : 1};
  mpi::exclusive_sum(context_, std::span<std::int64_t>(places));
  std::vector<Rank> to;
  std::vector<std::int32_t> sides;
  if (!holder_) to.push_back(static_cast<Rank>(places[of_part])), sides.push_back(of_part);
  if (!is_waiting_) to.push_back(static_cast<Rank>(places[of_rank])), sides.push_back(of_rank);
  const auto met = exchange::route(context_, exchange::pack_by_rank(to, sides));
  Rank part = -1;
  Rank rank = -1;
  for (std::size_t i = 0; i < met.n_peers(); ++i)
    for (const std::int32_t side : met.of(i)) (side == of_part ? part : rank) = met.peers[i];
  BARRIO_ASSERT(cheap, (part < 0) == (rank < 0), part, rank);
  exchange::Parcels<Rank> found;
  if (part >= 0) found.add(part, std::span(&rank, 1));
  for (const Rank one : exchange::route(context_, found).items) holder_ = Holder{one, 0};
}

}  // namespace

std::vector<std::int32_t> remap(mpi::Context& context, std::vector<std::int32_t> part,
                                std::span<const std::int64_t> weights, int max_passes) {
  if (context.size() == 1) return part;
  std::vector<Wish> wishes = wishes_of(part, weights);
  std::vector<Part> parts;
  parts.reserve(wishes.size());
  for (const Wish& wish : wishes) parts.push_back(wish.part);
  std::ranges::sort(parts);
  const std::vector<Rank> ranks = Pairs(context, std::move(wishes), max_passes).ranks_of(parts);
  for (Part& one : part) one = ranks[std::ranges::lower_bound(parts, one) - parts.begin()];
  return part;
}

}  // namespace barrio::partition
