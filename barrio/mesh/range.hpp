#pragma once

/// @file Sets of local ids, held as ascending runs.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <vector>

#include "barrio/base/ids.hpp"

namespace barrio::mesh {

/// Local ids first .. last - 1.
struct LocalRange {
  LocalId first{0};  ///< of the ids, if there are any
  LocalId last{0};   ///< one beyond the ids

  /// Iterates over the ids.
  class Iterator {
   public:
    using value_type = LocalId;
    using difference_type = std::ptrdiff_t;
    constexpr Iterator() = default;
    /// Construct an iterator that is at an id.
    constexpr explicit Iterator(LocalId at) noexcept : at_(at) {}
    constexpr LocalId operator*() const noexcept { return at_; }
    constexpr Iterator& operator++() noexcept {
      at_ = LocalId{barrio::value(at_) + 1};
      return *this;
    }
    constexpr Iterator operator++(int) noexcept {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    constexpr bool operator==(const Iterator&) const = default;

   private:
    LocalId at_{0};
  };
  [[nodiscard]] constexpr Iterator begin() const noexcept { return Iterator(first); }
  [[nodiscard]] constexpr Iterator end() const noexcept { return Iterator(last); }
  /// Return the number of ids.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return index(last) - index(first); }
  /// Tell whether there are no ids.
  [[nodiscard]] constexpr bool empty() const noexcept { return first == last; }
  constexpr bool operator==(const LocalRange&) const = default;
};

/// Set of local ids of one dimension, held as ascending runs. Functions take and return lists of entities in this form.
/// A run costs 8 bytes, whatever its length. All members are local.
class Range {
 public:
  Range() = default;
  /// Construct a set from runs.
  /// @param runs  in any order; they may overlap or be empty
  Range(std::initializer_list<LocalRange> runs) : Range(std::vector<LocalRange>(runs)) {}
  /// Construct a set from runs. Cost: O(n) if ascending, else O(n log n).
  /// @param runs  in any order; they may overlap or be empty
  explicit Range(std::vector<LocalRange> runs);
  /// Make a set of ids.
  /// @param[in] ids  in any order; repetitions count once. Cost: O(n) if ascending, else O(n log n)
  static Range of(std::span<const LocalId> ids);

  /// Return the number of ids.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Tell whether there are no ids in the set.
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// Return the runs: ascending, not empty, with a gap between any two.
  [[nodiscard]] std::span<const LocalRange> runs() const& noexcept { return runs_; }
  /// Refuse a temporary: its runs end with it.
  std::span<const LocalRange> runs() const&& = delete;
  /// Tell whether an id is in the set. Cost: O(log runs).
  [[nodiscard]] bool contains(LocalId id) const noexcept;
  /// Return the number of lower ids in the set; -1 if the id is not in it. Cost: O(runs).
  [[nodiscard]] std::ptrdiff_t place_of(LocalId id) const noexcept;
  /// Return all ids, ascending.
  [[nodiscard]] std::vector<LocalId> ids() const;

  /// Add ids first .. last - 1. Cost: O(1) at the end, else O(runs).
  void insert(LocalRange run);
  /// Add one id. Cost: O(1) at the end, else O(runs).
  void insert(LocalId id) { insert({id, id + 1}); }

  /// Return the ids in either set. Cost: O(runs of both).
  [[nodiscard]] Range united(const Range& other) const;
  /// Return the ids in both sets. Cost: O(runs of both).
  [[nodiscard]] Range intersected(const Range& other) const;
  /// Return the ids in this set but not in the other. Cost: O(runs of both).
  [[nodiscard]] Range without(const Range& other) const;
  /// Return the ids of this set in a run. Cost: O(runs).
  [[nodiscard]] Range intersected(LocalRange run) const { return intersected(Range({run})); }

  /// Return the bytes of the runs.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
  bool operator==(const Range&) const = default;

  /// Forward iterator over the ids, ascending; valid until the set changes.
  class Iterator {
   public:
    using value_type = LocalId;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::forward_iterator_tag;
    using reference = LocalId;
    using pointer = const LocalId*;
    Iterator() = default;
    /// Construct an iterator at the first id of a run, or at the end if run == end.
    /// @param end  behind the last run; runs are borrowed
    Iterator(const LocalRange* run, const LocalRange* end)
        : run_(run), end_(end), id_(run == end ? LocalId{0} : run->first) {}
    LocalId operator*() const noexcept { return id_; }
    Iterator& operator++() noexcept {
      id_ = id_ + 1;
      if (id_ == run_->last) {
        ++run_;
        id_ = run_ == end_ ? LocalId{0} : run_->first;
      }
      return *this;
    }
    Iterator operator++(int) noexcept {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const noexcept { return run_ == other.run_ && id_ == other.id_; }

   private:
    const LocalRange* run_ = nullptr;
    const LocalRange* end_ = nullptr;
    LocalId id_{0};
  };
  [[nodiscard]] Iterator begin() const& noexcept { return {runs_.data(), runs_.data() + runs_.size()}; }
  [[nodiscard]] Iterator end() const& noexcept { return {runs_.data() + runs_.size(), runs_.data() + runs_.size()}; }
  void begin() const&& = delete;

 private:
  std::vector<LocalRange> runs_;
  std::size_t size_ = 0;
};

}  // namespace barrio::mesh
