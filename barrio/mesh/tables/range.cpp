#include "barrio/mesh/range.hpp"

#include <algorithm>

#include "barrio/base/memory.hpp"

namespace barrio::mesh {

Range::Range(std::vector<LocalRange> runs) {
  if (!std::ranges::is_sorted(runs, {}, &LocalRange::first)) std::ranges::sort(runs, {}, &LocalRange::first);
  // Merge adjacent runs in place.
  std::size_t n = 0;
  for (const LocalRange& run : runs) {
    if (run.empty()) continue;
    if (n > 0 && run.first <= runs[n - 1].last) {
      runs[n - 1].last = std::max(runs[n - 1].last, run.last);
    } else {
      runs[n++] = run;
    }
  }
  runs.resize(n);
  runs.shrink_to_fit();
  runs_ = std::move(runs);
  for (const LocalRange& run : runs_) size_ += run.size();
}

Range Range::of(std::span<const LocalId> ids) {
  std::vector<LocalRange> runs;
  for (const LocalId id : ids) {
    if (!runs.empty() && runs.back().last == id) {
      runs.back().last = id + 1;
    } else {
      runs.push_back({id, id + 1});
    }
  }
  return Range(std::move(runs));
}

bool Range::contains(LocalId id) const noexcept {
  const auto after = std::ranges::upper_bound(runs_, id, {}, &LocalRange::first);
  return after != runs_.begin() && id < std::prev(after)->last;
}

std::ptrdiff_t Range::place_of(LocalId id) const noexcept {
  std::size_t n_before = 0;
  for (const LocalRange& run : runs_) {
    if (id < run.first) break;
    if (id < run.last) return n_before + index(id) - index(run.first);
    n_before += run.size();
  }
  return -1;
}

std::vector<LocalId> Range::ids() const {
  std::vector<LocalId> all;
  all.reserve(size_);
  for (const LocalId id : *this) all.push_back(id);
  return all;
}

void Range::insert(LocalRange run) {
  if (run.empty()) return;
  if (runs_.empty() || runs_.back().last <= run.first) {
    if (!runs_.empty() && runs_.back().last == run.first) {
      runs_.back().last = run.last;
    } else {
      runs_.push_back(run);
    }
    size_ += run.size();
    return;
  }
  *this = united(Range({run}));
}

Range Range::united(const Range& other) const {
  std::vector<LocalRange> all;
  all.reserve(runs_.size() + other.runs_.size());
  std::ranges::merge(runs_, other.runs_, std::back_inserter(all), {}, &LocalRange::first, &LocalRange::first);
  return Range(std::move(all));
}

Range Range::intersected(const Range& other) const {
  Range both;
  auto a = runs_.begin();
  auto b = other.runs_.begin();
  while (a != runs_.end() && b != other.runs_.end()) {
    const LocalRange common{std::max(a->first, b->first), std::min(a->last, b->last)};
    if (common.first < common.last) both.insert(common);
    (a->last < b->last ? a : b)++;
  }
  return both;
}

Range Range::without(const Range& other) const {
  Range rest;
  auto b = other.runs_.begin();
  for (LocalRange run : runs_) {
    while (b != other.runs_.end() && b->last <= run.first) ++b;
    for (auto cut = b; cut != other.runs_.end() && cut->first < run.last; ++cut) {
      if (run.first < cut->first) rest.insert({run.first, cut->first});
      run.first = std::min(run.last, std::max(run.first, cut->last));
    }
    rest.insert(run);
  }
  return rest;
}

std::uint64_t Range::memory_bytes() const noexcept { return barrio::memory_bytes(runs_); }

}  // namespace barrio::mesh
