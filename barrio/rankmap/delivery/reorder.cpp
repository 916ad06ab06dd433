#include "barrio/rankmap/reorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/node.hpp"
#include "barrio/rankmap/solve.hpp"

namespace barrio::rankmap {
namespace {

/// Message of one rank to rank 0: an entry of its row, or, with itself as partner, its node.
struct Row {
  Rank to = 0;
  int node = -1;
  double weight = 0.0;
};

struct Figures {
  double cost_before = 0.0, cost_after = 0.0, share_before = 0.0, share_after = 0.0;
  int n_moved = 0;
};

Status check_rows(int n_ranks, std::span<const Rank> neighbours, std::span<const double> weights) {
  return capture([&] {
    for (std::size_t i = 0; i < neighbours.size(); ++i) {
      if (neighbours[i] < 0 || neighbours[i] >= n_ranks)
        throw Error(ErrorCode::bad_input, {.subject = fmt::format("reorder: neighbour {}", neighbours[i]),
                                           .cause = fmt::format("must be a rank in 0..{}", n_ranks - 1)});
      if (!(weights[i] >= 0.0 && weights[i] < 1e18))
        throw Error(ErrorCode::bad_input, {.subject = fmt::format("reorder: weight of neighbour {}", neighbours[i]),
                                           .cause = fmt::format("is {}", weights[i]),
                                           .remedy = "give finite numbers >= 0"});
    }
  });
}

Status check_options(std::span<const Rank> neighbours, std::span<const double> weights, const ReorderOptions& options) {
  return capture([&] {
    const auto refuse = [](const char* what, const std::string& cause, const char* remedy) {
      throw Error(ErrorCode::usage, {.subject = std::string("reorder: ") + what, .cause = cause, .remedy = remedy});
    };
    if (neighbours.size() != weights.size())
      refuse("weights", fmt::format("are {} for {} neighbours", weights.size(), neighbours.size()),
             "give one for each neighbour");
    if (!(options.inside >= 0.0 && options.outside >= options.inside && options.outside < 1e18))
      refuse("distances", fmt::format("are {} inside and {} outside of a node", options.inside, options.outside),
             "use 0 <= inside <= outside");
    if (!(options.seconds >= 0.0 && options.seconds <= 1e6))
      refuse("time", fmt::format("is {} s", options.seconds), "use 0 to a million seconds");
    if (options.node && *options.node < 0) refuse("node", fmt::format("is {}", *options.node), "use numbers >= 0");
    if (!(options.min_gain >= 0.0 && options.min_gain <= 1.0))
      refuse("min gain", fmt::format("is {}", options.min_gain), "use a part, 0 to 1");
  });
}

/// Processes, node after node, and a machine with a core for each.
class Seating {
 public:
  explicit Seating(std::vector<int> node_of_process, const ReorderOptions& options)
      : process_at_(node_of_process.size()), core_of_(node_of_process.size()) {
    std::iota(process_at_.begin(), process_at_.end(), 0);
    std::ranges::stable_sort(process_at_, {}, [&](Rank process) { return node_of_process[process]; });
    std::vector<int> sizes;
    int last = -1;
    for (int core = 0; core < std::ssize(process_at_); ++core) {
      core_of_[process_at_[core]] = core;
      const int node = node_of_process[process_at_[core]];
      if (sizes.empty() || node != last) sizes.push_back(0);
      ++sizes.back();
      last = node;
    }
    machine_.emplace(Machine::uneven_tree(
        {.group_sizes = std::move(sizes), .levels = {}, .distances = {options.inside, options.outside}}));
  }
  [[nodiscard]] const Machine& machine() const noexcept { return *machine_; }
  /// Return the placement of rank i on process i.
  [[nodiscard]] Placement as_it_is() const { return {core_of_, machine_->n_cores()}; }
  [[nodiscard]] Rank process_at(int core) const noexcept { return process_at_[core]; }

 private:
  std::vector<Rank> process_at_;
  std::vector<int> core_of_;
  std::optional<Machine> machine_;
};

/// Find on rank 0 the new rank of each process. @return empty if all stay
std::vector<Rank> solve(int n_ranks, const exchange::Parcels<Row>& rows, const ReorderOptions& options,
                        Figures& figures) {
  std::vector<int> node_of_process(n_ranks, 0);
  std::vector<TrafficEntry> entries;
  for (std::size_t i = 0; i < rows.n_peers(); ++i) {
    const Rank from = rows.peers[i];
    for (const Row& row : rows.of(i)) {
      if (row.node >= 0) {
        node_of_process[from] = row.node;
      } else {
        entries.push_back({.from = from, .to = row.to, .points = 0.0, .bytes = row.weight, .messages = 0.0});
      }
    }
  }
  const Seating seating(std::move(node_of_process), options);
  const TrafficMatrix traffic(n_ranks, std::move(entries));
  if (!traffic.has(Weight::bytes)) return {};
  const MapResult result =
      map(traffic, seating.machine(), {.seed = options.seed, .seconds = options.seconds, .given = seating.as_it_is()});
  figures = {.cost_before = result.cost_before,
             .cost_after = result.cost_before,
             .share_before = result.before.inter_node_share(),
             .share_after = result.before.inter_node_share()};
  if (result.cost_after >= (1.0 - options.min_gain) * result.cost_before) return {};
  figures.cost_after = result.cost_after;
  figures.share_after = result.after.inter_node_share();
  std::vector<Rank> new_rank(n_ranks);
  for (Rank rank = 0; rank < n_ranks; ++rank) {
    const Rank process = seating.process_at(result.placement.core_of(rank));
    new_rank[process] = rank;
    figures.n_moved += process != rank ? 1 : 0;
  }
  return new_rank;
}

}  // namespace

Reordered reorder(mpi::Context& context, std::span<const Rank> neighbours, std::span<const double> weights,
                  const ReorderOptions& options) {
  agree(context, check_options(neighbours, weights, options));
  agree(context, check_rows(context.size(), neighbours, weights));
  const int has_node = options.node ? 1 : 0;
  if (mpi::min(context, has_node) != mpi::max(context, has_node))
    throw AgreedError(ErrorCode::usage, {.subject = "reorder: node",
                                         .cause = "is given by some ranks only",
                                         .remedy = "give it on all ranks or on none"});
  exchange::Parcels<Row> mine;
  std::vector<Row> rows{{.to = context.rank(), .node = mpi::find_node_ranks(context, options.node).node}};
  for (std::size_t i = 0; i < neighbours.size(); ++i) rows.push_back({.to = neighbours[i], .weight = weights[i]});
  mine.add(0, rows);
  const exchange::Parcels<Row> all = exchange::route(context, mine);

  Figures figures;
  std::vector<Rank> new_rank;
  agree(context, capture([&] {
          if (context.is_root()) new_rank = solve(context.size(), all, options, figures);
        }));
  // Back along the same path: each process gets its rank.
  exchange::Parcels<Rank> answers;
  for (Rank process = 0; process < std::ssize(new_rank); ++process)
    answers.add(process, std::span(&new_rank[process], 1));
  const exchange::Parcels<Rank> told = exchange::route(context, answers);
  mpi::broadcast(context, std::span(&figures, 1));
  const Rank rank = told.items.empty() ? context.rank() : told.items.front();
  return {.comm = mpi::Comm::split(context.comm(), 0, rank),
          .cost_before = figures.cost_before,
          .cost_after = figures.cost_after,
          .share_before = figures.share_before,
          .share_after = figures.share_after,
          .n_moved = figures.n_moved};
}

}  // namespace barrio::rankmap
