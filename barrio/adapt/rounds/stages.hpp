#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

namespace barrio::adapt::detail {

/// Estimate of the part of the work that is done, told to a user's function. It never decreases. Local.
class Stages {
 public:
  /// @param tell  may be empty
  explicit Stages(const std::function<void(double)>& tell) : tell_(tell) {}

  /// Begin a stage, from one part of the whole to another.
  void begin(double from, double to) {
    from_ = from;
    to_ = to;
    update(0.0);
  }
  /// Set the part of this stage that is done.
  void update(double part) {
    const double now = from_ + (to_ - from_) * std::clamp(part, 0.0, 1.0);
    if (!tell_ || now <= done_) return;
    done_ = now;
    tell_(now);
  }

 private:
  const std::function<void(double)>& tell_;
  double from_ = 0.0;
  double to_ = 0.0;
  double done_ = 0.0;
};

/// Estimate of the part of a series of sweeps that is done: the first half is for the growth of the number of cells to
/// the expected one, the second for the number of changes, which falls from sweep to sweep until it is small.
class SweepEstimate {
 public:
  /// @param n_first, n_expected  cells before, and as predicted
  SweepEstimate(double n_first, double n_expected)
      : n_first_(n_first), growth_(n_expected - n_first), grows_(n_expected > 1.5 * n_first) {}

  /// Return the part after some rounds of a sweep.
  [[nodiscard]] double grown_to(double n_cells) const {
    return std::max(part_, grows_ ? 0.5 * std::clamp((n_cells - n_first_) / growth_, 0.0, 1.0) : 0.0);
  }
  /// Return the part after a sweep. @param changes  of the sweep, in units of those that end the sweeps
  double swept(double n_cells, double changes) {
    const double left = std::log(std::max(changes, 1.0));
    const double grown = grows_ ? grown_to(n_cells) : 0.0;
    max_left_ = std::max(max_left_, left);
    const double shrunk = max_left_ > 0.0 ? 1.0 - left / max_left_ : 1.0;
    part_ = std::max(part_, grows_ ? grown + 0.5 * shrunk : shrunk);
    return part_;
  }

 private:
  double n_first_;
  double growth_;
  bool grows_;
  double max_left_ = 0.0;
  double part_ = 0.0;
};

}  // namespace barrio::adapt::detail
