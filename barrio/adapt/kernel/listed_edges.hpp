#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>

namespace barrio::adapt::detail {

/// Memberships of listed edges, by the slots of their ends: of those with an end of this rank, which sees all changes
/// there. They are feature edges. Local.
class ListedEdges {
 public:
  using Slot = std::int32_t;
  using Number = std::uint16_t;

  [[nodiscard]] bool is_empty() const noexcept { return of_.empty(); }
  /// Return the membership of an edge; 0: it is not listed.
  [[nodiscard]] Number membership_of(Slot a, Slot b) const {
    if (is_empty()) return 0;
    const auto at = of_.find(code_of(a, b));
    return at == of_.end() ? Number{0} : at->second;
  }
  void set(Slot a, Slot b, Number membership) { of_[code_of(a, b)] = membership; }
  void erase(Slot a, Slot b) { of_.erase(code_of(a, b)); }
  /// Give vertices other slots. @param slots  old and new ones, ascending
  void rename(std::span<const std::pair<Slot, Slot>> slots) {
    std::unordered_map<std::uint64_t, Number> renamed;
    const auto name_of = [&](Slot v) {
      const auto at = std::ranges::lower_bound(slots, v, {}, &std::pair<Slot, Slot>::first);
      return at != slots.end() && at->first == v ? at->second : v;
    };
    for (const auto& [code, membership] : of_)
      renamed[code_of(name_of(static_cast<Slot>(code >> half)), name_of(static_cast<Slot>(code)))] = membership;
    of_ = std::move(renamed);
  }

 private:
  static constexpr unsigned half = 32;
  static std::uint64_t code_of(Slot a, Slot b) noexcept {
    const auto [low, high] = std::minmax(a, b);
    return static_cast<std::uint64_t>(low) << half | static_cast<std::uint32_t>(high);
  }

  std::unordered_map<std::uint64_t, Number> of_;
};

}  // namespace barrio::adapt::detail
