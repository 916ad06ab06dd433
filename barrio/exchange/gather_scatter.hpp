#pragma once

/// @file Combine values with the same global id over all ranks: sum, min, max or any operator.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "barrio/base/assert.hpp"
#include "barrio/exchange/detail/gather_core.hpp"
#include "barrio/exchange/options.hpp"
#include "barrio/mpi/datatype.hpp"

namespace barrio::exchange {

/// Operators of `GatherScatter::apply`; any function that combines two values into a third will do.
struct Sum {
  /// Return the sum.
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};
/// Operator: the product of two values.
struct Product {
  /// Return the product.
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a * b);
  }
};
/// Operator: the smaller of two values; the first if neither is smaller.
struct Min {
  /// Return the smaller value.
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
/// Operator: the larger of two values; the first if neither is larger.
struct Max {
  /// Return the larger value.
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

/// Options of a GatherScatter; the same on all ranks.
struct GatherScatterOptions {
  GatherMethod method = GatherMethod::automatic;  ///< `automatic` times them once, when the plan is made
  /// `automatic` does not try `pairwise` if more ranks than this share one id: its tables are quadratic in that number.
  std::uint64_t max_pairwise_ranks = 64;
};

/// Persistent plan that combines the values of all positions with the same id, over all ranks, and gives each position
/// the result. The values of an id are combined in a fixed order: first the positions within each rank, then the ranks,
/// both ascending. All sharers therefore hold the same bits, on every run and with every method. On another number of
/// ranks, integers, minima and maxima are the same; floating-point sums differ by rounding.
/// Buffers are reused: after the largest row, only the router of `crystal` allocates. With `owner` and `crystal` a
/// rank's memory is O(its ids, plus the sharers of those it combines); with `pairwise` O(the sharers of its ids).
/// Source: Tautges et al. 2012, section III; Fischer, gslib, for timing the methods.
class GatherScatter {
 public:
  /// Plan the exchange. Collective. @param[in] ids  of the positions, in any order, with any repetition; values at
  /// negative ids stay unchanged; borrowed during the call. Cost: O(n log n), two transfers and a reduction.
  /// `automatic` times each method on dummy values and chooses the one whose slowest rank was fastest.
  GatherScatter(mpi::Context& context, std::span<const GlobalId> ids, GatherScatterOptions options = {});
  ~GatherScatter();
  GatherScatter(GatherScatter&&) noexcept;
  GatherScatter& operator=(GatherScatter&&) = delete;

  /// Call begin() and end(). All ranks take part.
  template <std::ranges::contiguous_range Values, class Combine>
  void apply(Values&& values, int n_components, Combine&& combine) {
    begin(values, n_components, combine);
    end(values, n_components, combine);
  }

  /// Send this rank's contribution to each id. Local (`crystal` sends in `end()`). Until `end()`, values with shared
  /// ids may be read; values written to them are lost.
  /// @param values  a vector or span of shape (n_positions, n_components), contiguous by position
  /// @param combine  T(T, T), applied to each component; the same on all ranks
  /// @throws Error{usage} if the shape is wrong
  template <std::ranges::contiguous_range Values, class Combine>
  void begin(Values&& values, int n_components, Combine&& combine) {
    begin_span(std::span(values), n_components, combine);
  }
  /// Wait for the others, combine and write the results. Blocks. The arguments are those of `begin()`.
  /// @throws Error{usage} at the end, on the ranks that find it, if another rank passed values of another type or
  /// another number of components, or combines them by another operator; `values` are unchanged then. If a message is
  /// too long, MPICH itself ends the job
  template <std::ranges::contiguous_range Values, class Combine>
  void end(Values&& values, int n_components, Combine&& combine) {
    end_span(std::span(values), n_components, combine);
  }

  /// Return the method in use; never automatic.
  [[nodiscard]] GatherMethod method() const noexcept;
  /// Duration of one method, as `automatic` measured it.
  struct Timing {
    GatherMethod method;  ///< never `automatic`
    double seconds;       ///< of one exchange of a double per position, on the slowest rank
  };
  /// Return the timings of `automatic`, the same on all ranks; empty if it had no choice.
  [[nodiscard]] std::span<const Timing> timings() const& noexcept { return timings_; }
  /// Refuse a temporary, whose timings would be gone.
  std::span<const Timing> timings() const&& = delete;
  /// Return the other ranks that this one exchanges values with, ascending; with `crystal` the values pass through
  /// further ranks.
  [[nodiscard]] std::span<const Rank> neighbours() const& noexcept;
  /// Refuse a temporary, whose neighbours would be gone.
  std::span<const Rank> neighbours() const&& = delete;
  /// Count the ids of this rank that have another position, here or elsewhere.
  [[nodiscard]] std::size_t n_shared() const noexcept;
  /// Count the bytes of plan and buffers on this rank.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  template <mpi::Trivial T, class Combine>
  void begin_span(std::span<T> values, int n_components, Combine& combine);
  template <mpi::Trivial T, class Combine>
  void end_span(std::span<T> values, int n_components, Combine& combine);
  [[nodiscard]] std::size_t checked_components(std::size_t n_values, int n_components) const;
  void choose_fastest();

  std::unique_ptr<detail::GatherCore> core_;
  std::size_t n_positions_;
  std::vector<Timing> timings_;
};

namespace detail {

template <class Combine>
constexpr Combines combines_of() noexcept {
  if constexpr (std::is_same_v<Combine, Sum>) return Combines::sum;
  if constexpr (std::is_same_v<Combine, Product>) return Combines::product;
  if constexpr (std::is_same_v<Combine, Min>) return Combines::min;
  if constexpr (std::is_same_v<Combine, Max>) return Combines::max;
  return Combines::function;
}

/// Call `f` with the number of components, as a compile-time constant if it is small.
template <class F>
void with_components(std::size_t n, F&& f) {
  switch (n) {
    case 1: return f(std::integral_constant<std::size_t, 1>{});
    case 2: return f(std::integral_constant<std::size_t, 2>{});
    case 3: return f(std::integral_constant<std::size_t, 3>{});
    case 4: return f(std::integral_constant<std::size_t, 4>{});
    case 5: return f(std::integral_constant<std::size_t, 5>{});
    default: return f(n);
  }
}

/// Pack the values of slots into the messages to all sharers. @param from  n values per slot, by the slots of `all`
template <class T, class N>
void pack_slots(GatherCore& core, const T* from, N n) {
  const GatherEdges& edges = core.plan().all;
  for (std::size_t peer = 0; peer < edges.peers.size(); ++peer) {
    T* to = reinterpret_cast<T*>(core.out_slots(peer));
    for (std::size_t row = edges.offsets[peer]; row < edges.offsets[peer + 1]; ++row) {
      const T* const value = from + index(edges.slots[row]) * n;
      for (std::size_t c = 0; c < n; ++c) *to++ = value[c];
    }
  }
}

/// Combine the values of slots that two ranks share. @param to  n values per slot, by the slots of `all_pairs`
template <class T, class N, class Combine>
void fold_pairs(GatherCore& core, T* to, N n, Combine& combine) {
  const GatherPairs& pairs = core.plan().all_pairs;
  for (std::size_t peer = 0; peer + 1 < pairs.offsets.size(); ++peer) {
    const T* lower = reinterpret_cast<const T*>(core.in_slots(peer));
    const T* upper = reinterpret_cast<const T*>(core.out_slots(peer));
    if (core.plan().all.peers[peer] > core.context().rank()) std::swap(lower, upper);
    for (std::size_t k = pairs.offsets[peer]; k < pairs.offsets[peer + 1]; ++k) {
      const std::size_t row = index(pairs.rows[k]) * n;
      T* const result = to + index(pairs.slots[k]) * n;
      for (std::size_t c = 0; c < n; ++c) result[c] = combine(lower[row + c], upper[row + c]);
    }
  }
}

/// Combine received values with those of this rank, in the order of the fold. @param to  n values per slot of the fold
template <class T, class N, class Combine>
void fold_contributions(GatherCore& core, const GatherFold& fold, T* to, N n, Combine& combine) {
  const auto contributions = core.contributions();
  for (std::size_t i = 0; i < fold.slots.size(); ++i) {
    T* const own = to + index(fold.slots[i]) * n;
    const auto value = [&](std::size_t k, std::size_t c) {
      return contributions[k] == nullptr ? own[c] : reinterpret_cast<const T*>(contributions[k])[c];
    };
    for (std::size_t c = 0; c < n; ++c) {
      T result = value(fold.offsets[i], c);
      for (std::size_t k = fold.offsets[i] + 1; k < fold.offsets[i + 1]; ++k) result = combine(result, value(k, c));
      own[c] = result;
    }
  }
}

/// Combine the values of the positions of each slot.
template <class T, class N, class Combine>
void fold_positions(const GatherPlan& plan, const T* values, T* partials, N n, Combine& combine) {
  for (std::size_t slot = 0; slot < plan.n_slots(); ++slot) {
    for (std::size_t c = 0; c < n; ++c) {
      std::size_t k = plan.position_offsets[slot];
      T result = values[index(plan.positions[k]) * n + c];
      while (++k < plan.position_offsets[slot + 1]) result = combine(result, values[index(plan.positions[k]) * n + c]);
      *partials++ = result;
    }
  }
}

/// Copy the result of each slot to all its positions.
template <class T, class N>
void spread_results(const GatherPlan& plan, const T* results, T* values, N n) {
  for (std::size_t slot = 0; slot < plan.n_slots(); ++slot, results += n)
    for (std::size_t k = plan.position_offsets[slot]; k < plan.position_offsets[slot + 1]; ++k)
      for (std::size_t c = 0; c < n; ++c) values[index(plan.positions[k]) * n + c] = results[c];
}

}  // namespace detail

template <mpi::Trivial T, class Combine>
void GatherScatter::begin_span(std::span<T> values, int n_components, Combine& combine) {
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  const std::size_t n_values = checked_components(values.size(), n_components);
  detail::GatherCore& core = *core_;
  core.start(detail::kind_of<T>(detail::RoundCall::gather_scatter), n_values,
             detail::combines_of<std::remove_cvref_t<Combine>>());
  detail::with_components(n_values, [&](auto n) {
    T* const partials = reinterpret_cast<T*>(core.partials());
    if (!core.is_direct()) detail::fold_positions(core.plan(), values.data(), partials, n, combine);
    if (core.method() == GatherMethod::pairwise)
      detail::pack_slots<T>(core, core.is_direct() ? values.data() : partials, n);
  });
  core.send();
}

template <mpi::Trivial T, class Combine>
void GatherScatter::end_span(std::span<T> values, int n_components, Combine& combine) {
  const std::size_t n_values = checked_components(values.size(), n_components);
  detail::GatherCore& core = *core_;
  BARRIO_ASSERT(cheap, core.is_travelling() && core.slot_bytes() == n_values * sizeof(T), n_components);
  const detail::GatherFold& fold = core.receive();
  T* const partials = reinterpret_cast<T*>(core.partials());
  T* const results = core.is_direct() ? values.data() : partials;
  if (core.is_direct() && core.has_misfit()) return core.finish();  // finish() throws it
  detail::with_components(n_values, [&](auto n) {
    if (core.method() == GatherMethod::pairwise) detail::fold_pairs(core, results, n, combine);
    detail::fold_contributions(core, fold, results, n, combine);
  });
  core.finish();
  if (core.is_direct()) return;
  detail::with_components(n_values, [&](auto n) { detail::spread_results(core.plan(), partials, values.data(), n); });
}

}  // namespace barrio::exchange
