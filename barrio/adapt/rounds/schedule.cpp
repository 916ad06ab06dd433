#include "barrio/adapt/rounds/schedule.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numbers>

#include "barrio/adapt/rounds/shape.hpp"

namespace barrio::adapt::detail {
namespace {

constexpr double many_in_range = 0.9;  // part of the edges; fewer in thin bodies, or curved ones, which keep vertices
constexpr double many_short = 0.1;     // part of the edges: as in a lattice, where all of a kind are too short

/// Return the time at which rounds end. A huge limit is clamped, or the clock would overflow.
std::chrono::steady_clock::time_point end_after(double seconds) {
  constexpr double max_seconds = 1e9;
  const std::chrono::duration<double, std::milli> rest(1000 * std::clamp(seconds, 0.0, max_seconds));
  return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::milliseconds>(rest);
}

/// Return the cubed mean ratio below which no change may make a tetrahedron: the limit that was asked for, but at most
/// a part of the present mean.
double floor_of(double mean_quality, double min_quality) {
  constexpr double min_of_all = 1e-3;  // a floor of 0 would allow flat cells, around which walks do not end
  constexpr double part = 0.6;
  return std::pow(std::max(std::min(min_quality, part * mean_quality), min_of_all), 3);
}

}  // namespace

Schedule::Schedule(mpi::Context& context, Tets& tets, const Sizes& sizes, const AdaptOptions& options, double tolerance,
                   double n_expected)
    : context_(context),
      tets_(tets),
      min_quality_(options.min_quality),
      limits_{.floor = 0.0, .flatness = tolerance},
      rounds_(context, tets, sizes, limits_, end_after(options.max_seconds)),
      collapse_(tets, sizes, limits_, Activity::collapses),
      split_(tets, sizes, limits_, Activity::splits),
      swap_(tets, sizes, limits_, Activity::swaps),
      smooth_(tets, sizes, limits_, Activity::smooths),
      stages_(options.progress),
      n_expected_(n_expected) {}

void Schedule::run() {
  // Sweeps take most of the time, except for a lattice, whose density is corrected.
  constexpr std::array ends{0.55, 0.75, 0.97, 1.0};
  const bool has_lengths = set_limits();
  stages_.begin(0.0, ends[0]);
  const int n_sweeps = sweep();
  if (rounds_.must_stop() || (has_lengths && n_sweeps == 1)) return;
  const bool is_changed = correct_density(ends[0], ends[1]);
  stages_.begin(ends[1], ends[2]);
  if (n_sweeps > 1 || is_changed) finish();
  stages_.begin(ends[2], ends[3]);
  mend();
}

const Shape& Schedule::shape() {
  if (!shape_) shape_ = shape_of(context_, tets_);
  return *shape_;
}

/// Collapse edges that are slightly too short where no longer one is made, and shape more cells than sweeps do, without
/// regard to sizes.
void Schedule::finish() {
  constexpr int n_times = 2;
  constexpr double min_density = 10.0;
  const Limits before = limits_;
  const Shape found = shape();
  const bool collapses = found.too_short <= many_short && found.density > min_density;  // else a lattice may vanish
  limits_.short_edge = 0.69;
  limits_.longest_made = std::numbers::sqrt2;
  limits_.floor = std::max(limits_.floor, 0.043);  // 0.35 cubed
  limits_.good = 0.5;
  limits_.good_star = 0.65;
  limits_.by_size = 0.0;
  limits_.by_worst = true;
  activate_all();
  for (int n = 0; n < n_times && !rounds_.must_stop(); ++n) {
    if (collapses) repeat(collapse_, counts_[0], 0.0);
    stages_.update((n + 0.3) / n_times);
    improve();
    stages_.update((n + 1.0) / n_times);
  }
  limits_ = before;
}

/// Change a part of the edges where all are slightly too short or too long, as in a lattice: sweeps would change all of
/// them, or none. @param from, to  part of the whole work that is done @return whether anything was done
bool Schedule::correct_density(double from, double to) {
  constexpr double min_mean_quality = 0.6;  // of a lattice; lower where a boundary holds cells
  constexpr double max_density = 13.0;
  constexpr double min_density = 9.5;
  constexpr double part = 0.25;
  constexpr int max_sweeps = 16;
  constexpr std::array short_edges{1 / std::numbers::sqrt2, 0.8, 0.9, 1.0};
  constexpr std::array long_edges{1.2, 1.1, 1.0};
  const Limits before = limits_;
  std::size_t n_short = 0;
  std::size_t n_long = 0;
  int n = 0;
  for (; n < max_sweeps && !rounds_.must_stop(); ++n) {
    const Shape found = shape();
    stages_.begin(from + (to - from) * n / max_sweeps, from + (to - from) * (n + 1) / max_sweeps);
    limits_ = before;
    limits_.seed = n;
    if (n == 0 && found.too_short <= many_short && found.in_range < many_in_range) break;
    if (n == 0 && found.mean_quality < min_mean_quality) break;
    if (n == 0 && found.too_short > many_short && found.density < max_density) {
      limits_.short_edge = short_edges[0];
    } else if (found.density > max_density && n_short < short_edges.size()) {
      limits_.short_edge = short_edges[n_short];
      limits_.longest_made = 1.8;
      limits_.long_edge = std::numbers::sqrt2;
      limits_.share = part;
    } else if (found.density < min_density && n_long < long_edges.size()) {
      limits_.long_edge = long_edges[n_long];
      limits_.short_edge = long_edges[n_long] / 2;
      limits_.share = part;
    } else {
      break;
    }
    const bool is_dense = found.density > max_density;
    sweep();
    const double change = std::abs(shape().density - found.density);
    if (limits_.share < 1 && change < 0.05 * found.density) (is_dense ? n_short : n_long) += 1;
  }
  limits_ = before;
  if (n > 0 && !rounds_.must_stop()) {  // the longest and shortest alone, or the density would be what it was
    limits_.long_edge = 1.8;
    limits_.short_edge = 0.5;
    sweep();
    limits_ = before;
  }
  return n > 0;
}

/// Mend what splits left: cells below the floor, and edges that were not split because of such cells.
void Schedule::mend() {
  constexpr int max_rounds = 8;
  limits_.mend = limits_.floor;
  for (int n = 0; n < max_rounds && !rounds_.must_stop(); ++n) {
    const Shape found = shape();
    if (found.n_beyond == 0 && std::pow(min_quality(context_, found), 3) >= limits_.floor) break;
    if (n == 0) activate_all();
    limits_.longest_made = 1.9;
    if (n > 0) limits_.outranked = 1e9;
    std::int64_t n_changes = repeat(collapse_, counts_[0], 0.0);
    n_changes += repeat(split_, counts_[1], 0.0);
    improve();
    if (n_changes == 0) break;
  }
}

/// Set the limits from the mesh at the start. If it has the wanted lengths, only edges above the range are split: a
/// second call does little. @return whether it has them
bool Schedule::set_limits() {
  constexpr double max_edges = 0.95;
  const Shape before = shape();
  limits_.floor = floor_of(before.mean_quality, min_quality_);
  const bool has_lengths = before.in_range >= max_edges;
  if (has_lengths) limits_.long_edge = std::numbers::sqrt2;
  return has_lengths;
}

/// Let all operators look at everything: limits have changed.
void Schedule::activate_all() {
  rounds_.activate_all();
  swap_.forget();
}

/// Sweep until edges have the wanted lengths. @return number of sweeps
int Schedule::sweep() {
  constexpr int max_sweeps = 12;
  constexpr double little = 0.004;  // splits and collapses of a sweep, for each tetrahedron
  // Fewer than these end the sweeps as well if many edges are out of range, and neither lengths nor shapes gain: a
  // boundary that stays holds them.
  constexpr double few = 0.05;
  constexpr double min_gain = 0.002;
  activate_all();
  Shape before;
  SweepEstimate estimate(static_cast<double>(tets_.n_tets()), n_expected_);
  const auto tell = [&] { stages_.update(estimate.grown_to(static_cast<double>(tets_.n_tets()))); };
  for (int n = 1; n <= max_sweeps && !rounds_.must_stop(); ++n) {
    std::int64_t n_changes = repeat(split_, counts_[1], 0.0, 4);
    tell();
    n_changes += repeat(collapse_, counts_[0], 0.0);
    tell();
    improve();
    const Shape now = shape();
    const double max_changes = little * static_cast<double>(now.n_tets);
    if (static_cast<double>(n_changes) < max_changes) return n;
    const double gain = std::max(now.in_range - before.in_range, now.mean_quality - before.mean_quality);
    if (n > 1 && now.in_range < many_in_range && gain < min_gain &&
        static_cast<double>(n_changes) < few * static_cast<double>(now.n_tets))
      return n;
    before = now;
    stages_.update(estimate.swept(static_cast<double>(tets_.n_tets()),
                                  static_cast<double>(n_changes) / std::max(max_changes, 1.0)));
  }
  return max_sweeps;
}

void Schedule::improve() {
  repeat(swap_, counts_[2], 0.03);
  repeat(smooth_, counts_[3], 0.0, 6);
}

/// Run rounds until one makes no more than a part of the changes of the first. @return number of changes
std::int64_t Schedule::repeat(Operator& op, OperatorCounts& of, double part, int max_rounds) {
  std::int64_t n_first = -1;
  std::int64_t n_all = 0;
  for (int round = 0; round < max_rounds && !rounds_.must_stop(); ++round) {
    shape_.reset();
    const std::int64_t n = rounds_.run(op, of);
    if (n_first < 0) n_first = n;
    n_all += n;
    if (static_cast<double>(n) <= part * static_cast<double>(n_first)) break;
  }
  return n_all;
}

}  // namespace barrio::adapt::detail
