#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "barrio/base/assert.hpp"
#include "barrio/exchange/detail/gather_core.hpp"
#include "barrio/exchange/gather_method.hpp"
#include "barrio/mpi/datatype.hpp"

namespace barrio::exchange {

/// Operations of `GatherScatter::apply`; anything that combines two values into a third is one.
struct Sum {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};
struct Product {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a * b);
  }
};
struct Min {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  constexpr T operator()(const T& a, const T& b) const {
    return a < b ? b : a;
  }
};

struct GatherScatterOptions {
  GatherMethod method = GatherMethod::automatic;
  /// `automatic` leaves `pairwise` out if more ranks than this share one id: its tables are quadratic in that number.
  std::uint64_t most_pairwise_ranks = 64;
};

/// Combine the values of all positions, on all ranks, that have the same id, and give every one of them the result: a
/// persistent plan. The values of an id are combined in one fixed order, first the positions of each rank in ascending
/// order, then the ranks in ascending order; so all sharers hold the same bits, on every run and with every method.
/// On another number of ranks, integers, minima and maxima are the same, and sums of floating point differ by rounding.
/// Buffers are reused: once the largest row has been seen, only the router of `crystal` allocates. With `owner` and
/// `crystal` a rank's memory is O(its ids, plus the sharers of those it combines); with `pairwise` O(the sharers of its
/// ids). Source: Tautges et al. 2012, section III; Fischer, gslib, for timing the methods.
class GatherScatter {
 public:
  /// Collective. @param[in] ids  of the positions, in any order, with any repetition; values at negative ones stay as
  /// they are; borrowed during the call. Cost: O(n log n), two transfers and a reduction; `automatic` runs each method
  /// some times on dummy values and takes the one whose slowest rank was the fastest.
  GatherScatter(mpi::Context& context, std::span<const GlobalId> ids, GatherScatterOptions options = {});
  ~GatherScatter();
  GatherScatter(GatherScatter&&) noexcept;
  GatherScatter& operator=(GatherScatter&&) = delete;

  /// begin() and end() in one. All ranks take part.
  template <mpi::Trivial T, class Combine>
  void apply(std::span<T> values, int n_components, Combine&& combine) {
    begin(values, n_components, combine);
    end(values, n_components, combine);
  }

  /// Combine what this rank has of each id and send it. Local (`crystal` waits with it). Until `end()`, values with ids
  /// that are shared may be read, and what is written to them is lost.
  /// @param values  shape (n_positions, n_components), contiguous by position
  /// @param combine  T(T, T), applied to each component; the same on all ranks
  /// @throws Error{usage} if the shape is wrong
  template <mpi::Trivial T, class Combine>
  void begin(std::span<T> values, int n_components, Combine&& combine);
  /// Wait for the others, combine and write the results. Blocks. The arguments are those of `begin()`.
  /// @throws Error{usage} on the ranks that find it, when all is done, if another rank gave values of another type or
  /// another number of components; `values` stay as they were then. Of a message that is too long MPICH itself ends the
  /// job
  template <mpi::Trivial T, class Combine>
  void end(std::span<T> values, int n_components, Combine&& combine);

  /// The method in use; never automatic.
  [[nodiscard]] GatherMethod method() const noexcept;
  struct Timing {
    GatherMethod method;
    double seconds;  ///< of one exchange of a double per position, on the slowest rank
  };
  /// What `automatic` has found out, the same on all ranks; empty if it had no choice.
  [[nodiscard]] std::span<const Timing> timings() const& noexcept { return timings_; }
  std::span<const Timing> timings() const&& = delete;
  /// Other ranks that this one exchanges values with, ascending; with `crystal` by way of others.
  [[nodiscard]] std::span<const Rank> neighbours() const& noexcept;
  std::span<const Rank> neighbours() const&& = delete;
  /// Ids of this rank that have another position, here or elsewhere.
  [[nodiscard]] std::size_t n_shared() const noexcept;
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  [[nodiscard]] std::size_t checked_components(std::size_t n_values, int n_components) const;
  void choose_fastest();

  std::unique_ptr<detail::GatherCore> core_;
  std::size_t n_positions_;
  std::vector<Timing> timings_;
};

namespace detail {

/// Combine what came with what this rank has, in the order of the fold.
template <class T, class Combine>
void fold_contributions(GatherCore& core, const GatherFold& fold, std::size_t n_components, Combine&& combine) {
  T* const partials = reinterpret_cast<T*>(core.partials());
  const auto contributions = core.contributions();
  for (std::size_t i = 0; i < fold.slots.size(); ++i) {
    T* const own = partials + index(fold.slots[i]) * n_components;
    const auto value = [&](std::size_t k, std::size_t c) {
      return contributions[k] == nullptr ? own[c] : reinterpret_cast<const T*>(contributions[k])[c];
    };
    for (std::size_t c = 0; c < n_components; ++c) {
      T result = value(fold.offsets[i], c);
      for (std::size_t k = fold.offsets[i] + 1; k < fold.offsets[i + 1]; ++k) result = combine(result, value(k, c));
      own[c] = result;
    }
  }
}

}  // namespace detail

template <mpi::Trivial T, class Combine>
void GatherScatter::begin(std::span<T> values, int n_components, Combine&& combine) {
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  const std::size_t n = checked_components(values.size(), n_components);
  core_->start(detail::kind_of<T>(detail::RoundCall::gather_scatter), n);
  const detail::GatherPlan& plan = core_->plan();
  T* partial = reinterpret_cast<T*>(core_->partials());
  for (std::size_t slot = 0; slot < plan.n_slots(); ++slot) {
    for (std::size_t c = 0; c < n; ++c) {
      std::size_t k = plan.position_offsets[slot];
      T result = values[index(plan.positions[k]) * n + c];
      while (++k < plan.position_offsets[slot + 1]) result = combine(result, values[index(plan.positions[k]) * n + c]);
      *partial++ = result;
    }
  }
  core_->send();
}

template <mpi::Trivial T, class Combine>
void GatherScatter::end(std::span<T> values, int n_components, Combine&& combine) {
  const std::size_t n = checked_components(values.size(), n_components);
  BARRIO_ASSERT(cheap, core_->is_travelling() && core_->slot_bytes() == n * sizeof(T), n_components);
  detail::fold_contributions<T>(*core_, core_->receive(), n, combine);
  core_->finish();
  const detail::GatherPlan& plan = core_->plan();
  const T* result = reinterpret_cast<const T*>(core_->partials());
  for (std::size_t slot = 0; slot < plan.n_slots(); ++slot, result += n)
    for (std::size_t k = plan.position_offsets[slot]; k < plan.position_offsets[slot + 1]; ++k)
      for (std::size_t c = 0; c < n; ++c) values[index(plan.positions[k]) * n + c] = result[c];
}

}  // namespace barrio::exchange
