#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/base/hash.hpp"
#include "barrio/delaunay/size/box_tree.hpp"
#include "barrio/delaunay/size/core.hpp"

namespace barrio::delaunay::detail {
namespace {

/// Quadtree of samples: positions and the sizes there. Each cell knows the smallest size in it.
class SampleTree {
 public:
  struct Cell {
    Point low;
    double side;
    double min_size;
    std::uint32_t first_child = 0;  // of four; 0: none
    std::uint32_t first_sample = no_sample;
    std::uint32_t n_samples = 0;
    std::int32_t depth = 0;
    double size = std::numeric_limits<double>::infinity();  // of the function at one position in it
    bool is_like_parent = false;
  };
  static constexpr std::int32_t max_depth = 40;
  SampleTree(const Rectangle& domain, double growth) : domain_(domain), growth_(growth) {
    double side = 0.0;
    for (std::size_t k = 0; k < 2; ++k) side = std::max(side, domain.high[k] - domain.low[k]);
    cells_.push_back({.low = domain.low, .side = side, .min_size = nothing});
  }
  /// Return the part of a cell in the domain; its low corner is not below its high one, unless the part is empty.
  [[nodiscard]] Rectangle part_in_domain(const Cell& cell) const noexcept {
    Rectangle part;
    for (std::size_t k = 0; k < 2; ++k) {
      part.low[k] = cell.low[k];
      part.high[k] = std::min(cell.low[k] + cell.side, domain_.high[k]);
    }
    return part;
  }

  /// Return the size at a position that growth from all samples allows, to a hundredth.
  /// @param own  size at the position without them
  [[nodiscard]] double limit(const Point& p, double own) const {
    double best = own;
    if (lowest(cells_[0], p) < best) descend(0, p, best);
    return best;
  }

  /// Add a sample to the leaf around it, which divides when it has many.
  void add(const Point& place, double size) {
    constexpr std::size_t max_samples = std::size_t{1} << 24U;
    if (samples_.size() >= max_samples)
      refuse(ErrorCode::bad_input, "growth of sizes", "needs more than 2^24 samples of the sizes",
             "use larger sizes, or sizes by distance, which need none");
    samples_.push_back({place, size, no_sample});
    const std::uint32_t leaf = put(0, static_cast<std::uint32_t>(samples_.size() - 1));
    constexpr std::uint32_t usual_samples = 16;
    if (cells_[leaf].n_samples > usual_samples && cells_[leaf].depth < max_depth) divide(leaf);
  }
  /// Give a leaf four children, which take its samples.
  void divide(std::uint32_t at) {
    const Cell cell = cells_[at];
    cells_[at].first_child = static_cast<std::uint32_t>(cells_.size());
    cells_[at].first_sample = no_sample;
    const double side = 0.5 * cell.side;
    for (std::uint32_t i = 0; i < 4; ++i)
      cells_.push_back({.low = {cell.low[0] + ((i & 1U) != 0 ? side : 0), cell.low[1] + ((i & 2U) != 0 ? side : 0)},
                        .side = side,
                        .min_size = nothing,
                        .depth = cell.depth + 1});
    for (std::uint32_t s = cell.first_sample; s != no_sample;) {
      const std::uint32_t next = samples_[s].next;
      put(at, s);
      s = next;
    }
  }
  /// Sample a function in a leaf. @param of_parent  size at a position in the cell around it
  void sample(std::uint32_t at, const std::function<double(const Point&)>& function, double of_parent) {
    constexpr double alike = 1.25;
    const Point place = place_in(at);
    const double size = usable(function(place));
    cells_[at].size = size;
    cells_[at].is_like_parent = size <= alike * of_parent && of_parent <= alike * size;
    if (std::isfinite(size)) add(place, size);
  }
  /// Return a position in the part of a cell in the domain, so that those of several cells do not lie on a line.
  [[nodiscard]] Point place_in(std::uint32_t at) const noexcept {
    const std::uint64_t chance = mix64(at);
    constexpr double unit = 1.0 / 4294967296.0;
    const double x = unit * static_cast<double>(chance & 0xffffffffU);
    const double y = unit * static_cast<double>(chance >> 32U);
    const Rectangle part = part_in_domain(cells_[at]);
    return {part.low[0] + x * (part.high[0] - part.low[0]), part.low[1] + y * (part.high[1] - part.low[1])};
  }
  /// Tell whether a cell has no part in the domain.
  [[nodiscard]] bool is_outside(std::uint32_t at) const noexcept {
    const Rectangle part = part_in_domain(cells_[at]);
    return part.low[0] > part.high[0] || part.low[1] > part.high[1];
  }
  /// Return a size, or infinity for none: outside of the triangles a function may have no value above 0.
  static double usable(double size) noexcept { return size > 0 ? size : nothing; }
  [[nodiscard]] const std::vector<Cell>& cells() const noexcept { return cells_; }

 private:
  struct Sample {
    Point place;
    double size;
    std::uint32_t next;
  };
  static constexpr std::uint32_t no_sample = 0xffffffffU;
  static constexpr double nothing = std::numeric_limits<double>::infinity();
  /// Put a sample into the leaf around it, from a cell on. @return the leaf
  std::uint32_t put(std::uint32_t at, std::uint32_t sample) {
    Sample& own = samples_[sample];
    for (;; at = child_with(cells_[at], own.place)) {
      cells_[at].min_size = std::min(cells_[at].min_size, own.size);
      if (cells_[at].first_child == 0) break;
    }
    own.next = std::exchange(cells_[at].first_sample, sample);
    ++cells_[at].n_samples;
    return at;
  }
  void descend(std::uint32_t at, const Point& p, double& best) const {
    const Cell& cell = cells_[at];
    for (std::uint32_t s = cell.first_sample; s != no_sample; s = samples_[s].next)
      best = std::min(best, samples_[s].size + growth_ * distance(samples_[s].place, p));
    if (cell.first_child == 0) return;
    std::array<std::pair<double, std::uint32_t>, 4> children;
    for (std::uint32_t i = 0; i < 4; ++i) children[i] = {lowest(cells_[cell.first_child + i], p), cell.first_child + i};
    std::ranges::sort(children);
    constexpr double worthwhile = 0.99;
    for (const auto& [low, child] : children)
      if (low < worthwhile * best) descend(child, p, best);
  }
  static double distance(const Point& a, const Point& b) noexcept { return std::hypot(a[0] - b[0], a[1] - b[1]); }
  [[nodiscard]] double lowest(const Cell& cell, const Point& p) const noexcept {
    const Rectangle box{cell.low, {cell.low[0] + cell.side, cell.low[1] + cell.side}};
    return cell.min_size + growth_ * std::sqrt(squared_distance_to(box, p));
  }
  static std::uint32_t child_with(const Cell& cell, const Point& place) noexcept {
    const double half = 0.5 * cell.side;
    return cell.first_child + (place[0] >= cell.low[0] + half ? 1U : 0U) + (place[1] >= cell.low[1] + half ? 2U : 0U);
  }

  Rectangle domain_;
  double growth_;
  std::vector<Cell> cells_;
  std::vector<Sample> samples_;
};

class LimitedCore final : public SmoothCore {
 public:
  LimitedCore(std::function<double(const Point&)> size, double growth, SampleTree samples)
      : SmoothCore(growth), size_(std::move(size)), samples_(std::move(samples)) {}
  [[nodiscard]] double at(const Point& place) const override {
    return samples_.limit(place, checked_size(size_(place), place));
  }
  [[nodiscard]] std::shared_ptr<const Core> limited(double growth, const Rectangle& domain) const override {
    if (growth >= this->growth()) return nullptr;
    return limit_by_samples([self = shared_from_this()](const Point& place) { return self->at(place); }, growth, domain,
                            {});
  }

 private:
  std::function<double(const Point&)> size_;
  SampleTree samples_;
};

}  // namespace

std::shared_ptr<const SizeField::Core> limit_by_samples(const std::function<double(const Point&)>& size, double growth,
                                                        const Rectangle& domain, std::span<const Point> more) {
  SampleTree tree(domain, growth);
  for (const Point& place : more) {
    const bool is_within = squared_distance_to(domain, place) == 0.0;
    if (const double here = SampleTree::usable(size(place)); is_within && std::isfinite(here)) tree.add(place, here);
  }
  // Cells divide while they are larger than the limited size in them, so those around a narrow place follow it. A pass
  // may find smaller sizes, which the next one brings to larger cells.
  constexpr double coarser = 4;  // cells where the size is much the same around may be
  constexpr double usual_samples = 1 << 16;
  const double first_side =
      std::sqrt(domain.high[0] - domain.low[0]) * std::sqrt(domain.high[1] - domain.low[1]) / std::sqrt(usual_samples);
  for (bool has_changed = true; std::exchange(has_changed, false);) {
    for (std::uint32_t at = 0; at < tree.cells().size(); ++at) {
      const SampleTree::Cell cell = tree.cells()[at];
      if (cell.first_child != 0 || cell.depth >= SampleTree::max_depth || tree.is_outside(at)) continue;
      if (cell.side <= first_side) {
        const double limit = tree.limit(tree.place_in(at), cell.size);
        const bool is_smooth = cell.is_like_parent && cell.size <= limit;
        if (cell.side <= limit || (is_smooth && cell.side <= coarser * limit)) continue;
      }
      tree.divide(at);
      has_changed = true;
      const std::uint32_t first = tree.cells()[at].first_child;
      for (std::uint32_t i = first; i < first + 4; ++i)
        if (!tree.is_outside(i)) tree.sample(i, size, cell.size);
    }
  }
  return std::make_shared<LimitedCore>(size, growth, std::move(tree));
}

}  // namespace barrio::delaunay::detail
