#pragma once

/// @file Distinct values of a long sequence.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace barrio {

/// Collector of the distinct values of a long sequence, with memory for about twice as many as there are: it sorts
/// whenever what is new has doubled what is known.
/// @tparam Less  order of values @tparam Same  which values count as one: neighbours in that order, of which the first
/// is kept
/// Cost: O(n log d) for n values, of which d are distinct
template <class T, class Less = std::less<>, class Same = std::equal_to<>>
class Distinct {
 public:
  /// Make an empty collector. @param less, same  as the template parameters
  explicit Distinct(Less less = {}, Same same = {}) : less_(std::move(less)), same_(std::move(same)) {}
  /// Add a value, in any order and with any repetition.
  void add(const T& item) {
    items_.push_back(item);
    if (items_.size() >= limit_) sort();
  }
  /// Return the values in order.
  [[nodiscard]] std::vector<T> take() {
    sort();
    return std::exchange(items_, {});
  }

 private:
  static constexpr std::size_t min_limit = std::size_t{1} << 16U;
  void sort() {
    std::sort(items_.begin(), items_.end(), less_);
    items_.erase(std::unique(items_.begin(), items_.end(), same_), items_.end());
    limit_ = std::max(min_limit, 2 * items_.size());
  }
  Less less_;
  Same same_;
  std::vector<T> items_;
  std::size_t limit_ = min_limit;
};

}  // namespace barrio
