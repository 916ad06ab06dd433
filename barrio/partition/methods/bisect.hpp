#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "barrio/base/memory.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/partition/methods/select.hpp"

namespace barrio::partition::detail {

/// A range of parts that a group of points is still to be divided into.
struct Run {
  int first_part;
  int n_parts;
  std::int64_t weight_before;  ///< total weight of the points in lower parts
};

/// Rule that halves a run of parts: the order of the points and the position of the cut.
template <class Rule, class Point>
concept BisectionRule = mpi::Trivial<Point> && requires(Rule rule, const Rule& fixed, const Point& point,
                                                        mpi::Context* group, std::span<const Point> points) {
  /// Called before each cut. Collective over the group; local if the group is null.
  rule.look(group, points);
  { fixed.key(point) } -> std::same_as<Key>;
  /// Weight available to the lower `n_low` parts of a run, out of its total weight.
  { fixed.lower_share(Run{}, 0, std::int64_t{}) } -> std::same_as<std::int64_t>;
  { point.weight } -> std::convertible_to<std::int64_t>;
  { point.home } -> std::convertible_to<Rank>;      // rank the point came from
  { point.place } -> std::convertible_to<LocalId>;  // its place there
};

template <class Point>
std::int64_t total_weight(std::span<const Point> points) noexcept {
  std::int64_t total = 0;
  for (const Point& point : points) total += point.weight;
  return total;
}

/// Bisect on one rank. @param label  called with each point and its part
template <class Point, class Rule, class Label>
void bisect_locally(std::span<Point> points, Run run, Rule& rule, Label&& label) {
  if (run.n_parts == 1 || points.empty()) {
    for (const Point& point : points) label(point, run.first_part);
    return;
  }
  rule.look(nullptr, points);
  std::sort(points.begin(), points.end(), [&](const Point& a, const Point& b) { return rule.key(a) < rule.key(b); });
  const int n_low = run.n_parts / 2;
  const std::int64_t share = rule.lower_share(run, n_low, total_weight<Point>(points));
  std::int64_t below = 0;
  std::size_t n = 0;
  while (n < points.size() && below + points[n].weight <= share) below += points[n++].weight;
  bisect_locally(points.first(n), {run.first_part, n_low, run.weight_before}, rule, label);
  bisect_locally(points.subspan(n), {run.first_part + n_low, run.n_parts - n_low, run.weight_before + below}, rule,
                 label);
}

/// Choose the rank of a point, so that points spread evenly over a range of ranks in the order of their senders.
inline Rank target_rank(std::int64_t place, std::int64_t total, Rank first, int n_ranks) {
  return first + static_cast<Rank>(place * n_ranks / std::max<std::int64_t>(total, 1));
}

/// Cut points into parts by recursive bisection. Collective.
/// At each level both the run of parts and the group of ranks that works on it are halved. Once a group has a single
/// rank, that rank cuts the rest alone.
/// @return part of each point, in the order given
template <class Point, class Rule>
  requires BisectionRule<Rule, Point>
std::vector<std::int32_t> bisect(mpi::Context& context, std::vector<Point> points, int n_parts, Rule rule) {
  const std::size_t n_mine = points.size();
  Run run{0, n_parts, 0};
  std::unique_ptr<mpi::Context> own;  // context of the group, except of the outermost one: that is the caller's
  mpi::Context* group = &context;
  while (group->size() > 1 && run.n_parts > 1) {
    rule.look(group, std::span<const Point>(points));
    const std::int64_t total = mpi::sum(*group, total_weight<Point>(points));
    const int n_low_parts = run.n_parts / 2;
    std::vector<WeightedKey> keys;
    keys.reserve(points.size());
    for (const Point& point : points) keys.push_back({rule.key(point), point.weight});
    const Cut cut = find_cut(*group, std::move(keys), rule.lower_share(run, n_low_parts, total));
    const auto is_low = [&](const Point& point) { return rule.key(point) < cut.key; };
    const int n_low_ranks = std::clamp(group->size() * n_low_parts / run.n_parts, 1, group->size() - 1);

    std::array<std::int64_t, 2> n_side{0, 0};
    for (const Point& point : points) n_side[is_low(point) ? 0 : 1] += 1;
    std::array<std::int64_t, 2> at{};
    std::array<std::int64_t, 2> n_total{};
    for (std::size_t side = 0; side < 2; ++side) {
      at[side] = mpi::exclusive_sum(*group, n_side[side]);
      n_total[side] = mpi::sum(*group, n_side[side]);
    }
    std::vector<Rank> to(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      to[i] = is_low(points[i]) ? target_rank(at[0]++, n_total[0], 0, n_low_ranks)
                                : target_rank(at[1]++, n_total[1], n_low_ranks, group->size() - n_low_ranks);
    }
    exchange::Parcels<Point> leaving = exchange::pack_by_rank<Point>(to, points);
    free_memory(points);
    free_memory(to);
    points = exchange::route(*group, std::move(leaving)).items;

    const bool goes_low = group->rank() < n_low_ranks;
    mpi::Comm half = mpi::Comm::split(group->comm(), goes_low ? 0 : 1, group->rank());
    auto next = std::make_unique<mpi::Context>(
        half.get(), mpi::ContextOptions{.wait = context.wait_policy(), .trace = Trace::Mode::off});
    own = std::move(next);
    group = own.get();
    run = goes_low ? Run{run.first_part, n_low_parts, run.weight_before}
                   : Run{run.first_part + n_low_parts, run.n_parts - n_low_parts, run.weight_before + cut.weight_below};
  }

  struct Answer {
    LocalId place;
    std::int32_t part;
  };
  std::vector<Rank> to;
  std::vector<Answer> answers;
  to.reserve(points.size());
  answers.reserve(points.size());
  bisect_locally(std::span<Point>(points), run, rule, [&](const Point& point, std::int32_t part) {
    to.push_back(point.home);
    answers.push_back({point.place, part});
  });
  free_memory(points);
  exchange::Parcels<Answer> back = exchange::pack_by_rank<Answer>(to, answers);
  free_memory(to);
  free_memory(answers);
  std::vector<std::int32_t> parts(n_mine);
  for (const Answer& answer : exchange::route(context, std::move(back)).items) parts[index(answer.place)] = answer.part;
  return parts;
}

}  // namespace barrio::partition::detail
