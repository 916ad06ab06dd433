#include "barrio/partition/rcb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "barrio/base/error.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::partition {
namespace {

struct Item {
  std::array<double, 3> x;
  std::int64_t id;
  std::int64_t weight;
  Rank home;           // rank the point came from
  std::int32_t place;  // its place there
};

struct Answer {
  std::int32_t place;
  std::int32_t part;
};

constexpr int digit_bits = 8;
constexpr std::size_t n_digits = 1U << digit_bits;

/// Order of doubles as an order of unsigned integers.
std::uint64_t key_of(double x) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);
  constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

struct Key {
  std::uint64_t coordinate;
  std::uint64_t id;
  auto operator<=>(const Key&) const = default;
};

Key key_of(const Item& item, std::size_t axis) noexcept {
  return {key_of(item.x[axis]), static_cast<std::uint64_t>(item.id)};
}

std::size_t longest_axis(mpi::Context* context, std::span<const Item> items) {
  std::array<double, 6> box;  // minima, then negated maxima, so that one reduction does
  box.fill(std::numeric_limits<double>::infinity());
  for (const Item& item : items) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      box[axis] = std::min(box[axis], item.x[axis]);
      box[axis + 3] = std::min(box[axis + 3], -item.x[axis]);
    }
  }
  if (context != nullptr) mpi::all_reduce(*context, std::span<double>(box), MPI_MIN);
  std::size_t longest = 0;
  for (std::size_t axis = 1; axis < 3; ++axis)
    if (-box[axis + 3] - box[axis] > -box[longest + 3] - box[longest]) longest = axis;
  return longest;
}

std::int64_t total_weight(std::span<const Item> items) noexcept {
  std::int64_t total = 0;
  for (const Item& item : items) total += item.weight;
  return total;
}

/// Share of the lower side; exact for totals up to 2^63 / n_parts.
std::int64_t lower_share(std::int64_t total, int n_low, int n_parts) noexcept {
  return total / n_parts * n_low + total % n_parts * n_low / n_parts;
}

/// Find the first key, in global order, that is not on the lower side any more.
Key find_cut(mpi::Context& context, std::span<const Item> items, std::size_t axis, std::int64_t share) {
  std::vector<const Item*> candidates;
  candidates.reserve(items.size());
  for (const Item& item : items) candidates.push_back(&item);
  Key cut{0, 0};
  std::int64_t before = 0;  // weight of keys below the prefix found so far
  for (int word = 0; word < 2; ++word) {
    for (int shift = 64 - digit_bits; shift >= 0; shift -= digit_bits) {
      const auto digit_of = [&](const Item& item) {
        const Key key = key_of(item, axis);
        const std::uint64_t w = word == 0 ? key.coordinate : key.id;
        return static_cast<std::size_t>(w >> static_cast<unsigned>(shift)) & (n_digits - 1);
      };
      std::array<std::int64_t, n_digits> weight{};
      for (const Item* item : candidates) weight[digit_of(*item)] += item->weight;
      mpi::all_reduce(context, std::span<std::int64_t>(weight), MPI_SUM);
      std::size_t digit = 0;
      while (digit + 1 < n_digits && before + weight[digit] <= share) before += weight[digit++];
      (word == 0 ? cut.coordinate : cut.id) |= static_cast<std::uint64_t>(digit) << static_cast<unsigned>(shift);
      std::erase_if(candidates, [&](const Item* item) { return digit_of(*item) != digit; });
    }
  }
  return cut;
}

void label_locally(std::span<Item> items, int first_part, int n_parts, std::vector<std::int32_t>& parts,
                   const Item* base) {
  if (n_parts == 1 || items.empty()) {
    for (const Item& item : items) parts[static_cast<std::size_t>(&item - base)] = first_part;
    return;
  }
  const std::size_t axis = longest_axis(nullptr, items);
  std::sort(items.begin(), items.end(),
            [&](const Item& a, const Item& b) { return key_of(a, axis) < key_of(b, axis); });
  const int n_low = n_parts / 2;
  const std::int64_t share = lower_share(total_weight(items), n_low, n_parts);
  std::int64_t before = 0;
  std::size_t n = 0;
  while (n < items.size() && before + items[n].weight <= share) before += items[n++].weight;
  label_locally(items.first(n), first_part, n_low, parts, base);
  label_locally(items.subspan(n), first_part + n_low, n_parts - n_low, parts, base);
}

/// Spread items over a range of ranks of the group, evenly over the senders' order.
Rank target_rank(std::int64_t place, std::int64_t total, Rank first, int n_ranks) {
  return first + static_cast<Rank>(place * n_ranks / std::max<std::int64_t>(total, 1));
}

}  // namespace

std::vector<std::int32_t> rcb(mpi::Context& context, std::span<const double> points, std::span<const GlobalId> ids,
                              std::span<const std::int64_t> weights, int n_parts) {
  if (n_parts < 1) {
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("{} parts", n_parts),
                                         .cause = "is not a number of parts",
                                         .remedy = "ask for 1 or more"});
  }
  std::vector<Item> items(ids.size());
  agree_after(context, [&] {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const std::int64_t weight = weights.empty() ? 1 : weights[i];
      items[i] = {{points[3 * i], points[3 * i + 1], points[3 * i + 2]},
                  value(ids[i]),
                  weight,
                  context.rank(),
                  static_cast<std::int32_t>(i)};
      if (std::isnan(items[i].x[0]) || std::isnan(items[i].x[1]) || std::isnan(items[i].x[2]) || weight < 0) {
        throw Error(ErrorCode::bad_input,
                    {.subject = fmt::format("point {}", value(ids[i])),
                     .cause = weight < 0 ? "has a negative weight" : "has a coordinate that is not a number"});
      }
    }
  });

  // The group of ranks that works on the same set of parts halves at each level, and so does the set.
  int first_part = 0;
  int n_group_parts = n_parts;
  std::unique_ptr<mpi::Context> own;  // of the group; the outermost group is the caller's context
  mpi::Context* group = &context;
  while (group->size() > 1 && n_group_parts > 1) {
    const std::size_t axis = longest_axis(group, items);
    const std::int64_t total = mpi::sum(*group, total_weight(items));
    const int n_low_parts = n_group_parts / 2;
    const Key cut = find_cut(*group, items, axis, lower_share(total, n_low_parts, n_group_parts));
    const auto is_low = [&](const Item& item) { return key_of(item, axis) < cut; };
    const int n_low_ranks = std::clamp(group->size() * n_low_parts / n_group_parts, 1, group->size() - 1);

    std::array<std::int64_t, 2> n_side{0, 0};
    for (const Item& item : items) n_side[is_low(item) ? 0 : 1] += 1;
    std::array<std::int64_t, 2> at{};
    std::array<std::int64_t, 2> n_total{};
    for (std::size_t side = 0; side < 2; ++side) {
      at[side] = mpi::exclusive_sum(*group, n_side[side]);
      n_total[side] = mpi::sum(*group, n_side[side]);
    }
    std::vector<Rank> to(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      to[i] = is_low(items[i]) ? target_rank(at[0]++, n_total[0], 0, n_low_ranks)
                               : target_rank(at[1]++, n_total[1], n_low_ranks, group->size() - n_low_ranks);
    }
    items = exchange::route(*group, exchange::pack_by_rank<Item>(to, items)).items;

    const bool goes_low = group->rank() < n_low_ranks;
    mpi::Comm half = mpi::Comm::split(group->comm(), goes_low ? 0 : 1, group->rank());
    auto next = std::make_unique<mpi::Context>(
        half.get(), mpi::ContextOptions{.wait = context.wait_policy(), .trace = Trace::Mode::off});
    own = std::move(next);
    group = own.get();
    if (goes_low) {
      n_group_parts = n_low_parts;
    } else {
      first_part += n_low_parts;
      n_group_parts -= n_low_parts;
    }
  }

  std::vector<std::int32_t> labels(items.size());
  label_locally(items, first_part, n_group_parts, labels, items.data());
  std::vector<Rank> to(items.size());
  std::vector<Answer> answers(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    to[i] = items[i].home;
    answers[i] = {items[i].place, labels[i]};
  }
  std::vector<std::int32_t> parts(ids.size());
  for (const Answer& answer : exchange::route(context, exchange::pack_by_rank<Answer>(to, answers)).items)
    parts[static_cast<std::size_t>(answer.place)] = answer.part;
  return parts;
}

}  // namespace barrio::partition
