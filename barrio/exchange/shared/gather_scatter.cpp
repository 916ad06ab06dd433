#include "barrio/exchange/gather_scatter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "barrio/base/error.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::exchange {
namespace {

constexpr std::uint64_t max_pairwise(const GatherScatterOptions& options) {
  if (options.method == GatherMethod::pairwise) return std::numeric_limits<std::uint64_t>::max();
  return options.method == GatherMethod::automatic ? options.max_pairwise_ranks : 0;
}

}  // namespace

GatherScatter::GatherScatter(mpi::Context& context, std::span<const GlobalId> ids, GatherScatterOptions options)
    : core_(std::make_unique<detail::GatherCore>(context, detail::plan_gather(context, ids, max_pairwise(options)),
                                                 options.method)),
      n_positions_(ids.size()) {
  if (options.method == GatherMethod::automatic) choose_fastest();
  core_->drop_other_methods();
}

GatherScatter::~GatherScatter() = default;
GatherScatter::GatherScatter(GatherScatter&&) noexcept = default;

void GatherScatter::choose_fastest() {
  mpi::Context& context = core_->context();
  const std::uint64_t n_max_ranks = core_->plan().n_max_ranks;
  std::vector<GatherMethod> methods{GatherMethod::owner, GatherMethod::crystal};
  if (core_->has_pairwise()) methods.insert(methods.begin(), GatherMethod::pairwise);
  core_->set_method(methods.front());
  if (n_max_ranks == 1) return;  // nothing is ever sent

  std::vector<double> values(n_positions_, 0.0);
  const auto exchange = [&](GatherMethod method) {
    core_->set_method(method);
    apply(values, 1, Sum{});
  };
  // Short blocks in turn: a disturbance then does not hit one method alone. The best block of each counts.
  constexpr std::size_t n_blocks = 3;
  constexpr int n_exchanges = 4;
  for (const GatherMethod method : methods) exchange(method);
  std::vector<double> seconds;
  for (std::size_t block = 0; block < n_blocks; ++block) {
    for (const GatherMethod method : methods) {
      mpi::barrier(context);
      const double start = MPI_Wtime();
      for (int i = 0; i < n_exchanges; ++i) exchange(method);
      seconds.push_back((MPI_Wtime() - start) / n_exchanges);
    }
  }
  mpi::all_reduce(context, std::span<double>(seconds), MPI_MAX);
  for (std::size_t i = 0; i < methods.size(); ++i) {
    double best = seconds[i];
    for (std::size_t block = 1; block < n_blocks; ++block) best = std::min(best, seconds[block * methods.size() + i]);
    timings_.push_back({methods[i], best});
  }
  core_->set_method(std::ranges::min_element(timings_, {}, &Timing::seconds)->method);
}

GatherMethod GatherScatter::method() const noexcept { return core_->method(); }
std::span<const Rank> GatherScatter::neighbours() const& noexcept { return core_->plan().neighbours; }
std::size_t GatherScatter::n_shared() const noexcept { return core_->plan().n_slots(); }
std::uint64_t GatherScatter::memory_bytes() const noexcept {
  return core_->memory_bytes() + barrio::memory_bytes(timings_);
}

std::size_t GatherScatter::checked_components(std::size_t n_values, int n_components) const {
  if (n_components > 0 && n_values == n_positions_ * static_cast<std::size_t>(n_components)) return n_components;
  throw Error(ErrorCode::usage, {.subject = "gather-scatter",
                                 .cause = fmt::format("{} values of {} components do not fit {} positions", n_values,
                                                      n_components, n_positions_)});
}

}  // namespace barrio::exchange
