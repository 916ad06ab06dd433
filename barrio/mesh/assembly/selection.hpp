#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "barrio/mesh/range.hpp"
#include "barrio/mesh/tags.hpp"

namespace barrio::mesh::detail {

/// A choice among the entities 0 .. n - 1, ascending. The place of a chosen entity is its position among the chosen
/// ones. Held as runs, so that arrays are copied run by run. All members are local.
class Selection {
 public:
  Selection() = default;
  /// Choose entities by a predicate.
  /// @param has  tells for each of 0 .. n - 1 whether it is chosen
  template <class Has>
  static Selection where(std::size_t n, Has&& has) {
    Selection chosen;
    for (std::size_t i = 0; i < n;) {
      const std::size_t first = i;
      while (i < n && has(i)) ++i;
      chosen.add({local_id(first), local_id(i)});
      while (i < n && !has(i)) ++i;
    }
    return chosen;
  }

  void add(LocalId id) { add({id, id + 1}); }
  /// @pre the run lies behind all earlier ones
  void add(LocalRange run) {
    if (run.empty()) return;
    if (!runs_.empty() && runs_.back().last == run.first) {
      runs_.back().last = run.last;
    } else {
      runs_.push_back(run);
      first_places_.push_back(size_);
    }
    size_ += run.size();
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::span<const LocalRange> runs() const& noexcept { return runs_; }

  /// Call `visit(id, place)` for each chosen entity.
  template <class Visit>
  void for_each(Visit&& visit) const {
    std::int32_t place = 0;
    for (const LocalRange& run : runs_)
      for (std::size_t id = index(run.first); id < index(run.last); ++id) visit(id, place++);
  }
  /// Return the place of each of n entities, -1 if it is not chosen.
  [[nodiscard]] std::vector<std::int32_t> places(std::size_t n) const {
    std::vector<std::int32_t> place(n, -1);
    for_each([&](std::size_t id, std::int32_t at) { place[id] = at; });
    return place;
  }

  /// Drop the entries of an array whose entities are not chosen; capacity stays.
  /// @param width  items for each entity
  template <class T>
  void keep(std::vector<T>& items, std::size_t width = 1) const {
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const auto begin = items.begin();
      const auto [first, last] = std::pair(index(runs_[r].first), index(runs_[r].last));
      if (first != first_places_[r])
        std::copy(begin + first * width, begin + last * width, begin + first_places_[r] * width);
    }
    items.resize(size_ * width);
  }
  template <class T>
  void copy(std::span<const T> items, std::span<T> to, std::size_t width = 1) const {
    for (std::size_t r = 0; r < runs_.size(); ++r)
      std::ranges::copy(items.subspan(index(runs_[r].first) * width, runs_[r].size() * width),
                        to.begin() + first_places_[r] * width);
  }
  template <class T>
  void append(std::vector<T>& to, std::span<const T> items, std::size_t width = 1) const {
    for (const LocalRange& run : runs_) {
      const auto of_run = items.subspan(index(run.first) * width, run.size() * width);
      to.insert(to.end(), of_run.begin(), of_run.end());
    }
  }
  /// Return the places of those members that are chosen.
  [[nodiscard]] Range keep(const Range& members) const {
    Range kept;
    for_each_common(members, [&](std::size_t /*item*/, LocalRange places) { kept.insert(places); });
    return kept;
  }
  /// Return the values of those entities that are chosen.
  [[nodiscard]] MeshTag::Values keep(const MeshTag::Values& values, const TagInfo& info) const {
    MeshTag::Values kept;
    const std::size_t width = info.value_bytes();
    for_each_common(values.entities, [&](std::size_t item, LocalRange places) {
      kept.entities.insert(places);
      if (info.length_varies) {
        for (std::size_t i = item; i < item + places.size(); ++i) kept.items.add(values.items.value(i, width), true);
      } else {
        const auto begin = values.items.bytes.begin();
        kept.items.bytes.insert(kept.items.bytes.end(), begin + item * width, begin + (item + places.size()) * width);
      }
    });
    return kept;
  }

 private:
  /// Call `visit(number of the first one among the members, places)` for runs of members that are chosen. Cost: a
  /// search for each run of members, whatever the number of runs here
  template <class Visit>
  void for_each_common(const Range& members, Visit&& visit) const {
    std::size_t first_item = 0;
    for (const LocalRange& run : members.runs()) {
      const auto behind = std::ranges::upper_bound(runs_, run.first, {}, &LocalRange::last);
      for (std::size_t i = behind - runs_.begin(); i < runs_.size() && runs_[i].first < run.last; ++i) {
        const LocalRange common{std::max(run.first, runs_[i].first), std::min(run.last, runs_[i].last)};
        const std::size_t place = first_places_[i] + (index(common.first) - index(runs_[i].first));
        visit(first_item + (index(common.first) - index(run.first)),
              LocalRange{local_id(place), local_id(place + common.size())});
      }
      first_item += run.size();
    }
  }

  std::vector<LocalRange> runs_;
  std::vector<std::size_t> first_places_;
  std::size_t size_ = 0;
};

/// Chosen entities of each dimension.
using Selections = std::array<Selection, 4>;

}  // namespace barrio::mesh::detail
