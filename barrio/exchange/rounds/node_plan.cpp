#include "barrio/exchange/rounds/node_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "barrio/base/error.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/neighborhood.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/mpi/node.hpp"

namespace barrio::exchange::detail {
namespace {

/// Exchange one value with each neighbour, in the order of the neighbours.
std::vector<int> swap_with_neighbours(Neighborhood& hood, std::span<const int> mine) {
  auto round = hood.begin_round<int>();
  for (std::size_t i = 0; i < mine.size(); ++i) round.channel(i).allocate() = mine[i];
  round.close();
  std::vector<int> theirs;
  for (const auto& [from, value] : round.collect()) theirs.push_back(value);
  return theirs;
}

/// Choose the rank of a node that is responsible for another node. Ranks take turns, for consecutive nodes as well as
/// for nodes at the strides of a grid.
std::size_t turn_of(int node, std::size_t n_ranks) {
  std::size_t sum = 0;
  for (auto rest = static_cast<std::size_t>(node); n_ranks > 1 && rest > 0; rest /= n_ranks) sum += rest % n_ranks;
  return sum % n_ranks;
}

}  // namespace

NodePlan make_node_plan(mpi::Context& context, std::span<const Rank> neighbours, std::optional<int> node) {
  const bool is_given = node.has_value();
  const int n_given = mpi::sum(context, is_given ? 1 : 0);
  mpi::agree_after(context, [&] {
    if (is_given && *node < 0)
      throw Error(ErrorCode::usage, {.subject = fmt::format("node {}", *node), .cause = "must be at least 0"});
    if (!is_given && n_given > 0)
      throw Error(ErrorCode::usage, {.subject = "node",
                                     .cause = fmt::format("is given on {} of {} ranks", n_given, context.size()),
                                     .remedy = "give it on all ranks, or on none"});
  });
  const mpi::NodeRanks mine = mpi::find_node_ranks(context, node);
  const Rank me = context.rank();
  Neighborhood hood(context, neighbours);
  hood.validate();  // lists that are not mutual would leave their ranks waiting below
  const std::vector<int> nodes = swap_with_neighbours(hood, std::vector<int>(neighbours.size(), mine.node));
  std::vector<int> agents(neighbours.size(), me);
  for (std::size_t i = 0; i < neighbours.size(); ++i)
    if (nodes[i] != mine.node) agents[i] = mine.ranks[turn_of(nodes[i], mine.ranks.size())];
  const std::vector<int> their_agents = swap_with_neighbours(hood, agents);

  NodePlan plan;
  std::vector<Rank> to;
  std::vector<Rank> peers;  // for the agents: the agents that they exchange with for this rank
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    if (nodes[i] == mine.node) {
      plan.near.push_back(neighbours[i]);
    } else {
      plan.far.push_back({neighbours[i], agents[i], their_agents[i]});
      to.push_back(agents[i]);
      peers.push_back(their_agents[i]);
    }
  }
  const Parcels<Rank> told = route(context, pack_by_rank<Rank>(to, peers));
  plan.locals = told.peers;
  plan.locals.insert(plan.locals.end(), to.begin(), to.end());
  sort_unique(plan.locals);
  std::erase(plan.locals, me);
  plan.peers = told.items;
  sort_unique(plan.peers);
  return plan;
}

bool is_cheaper_by_node(mpi::Context& context, const NodePlan& plan) {
  // The two extra steps take as long as about two messages each. Fitted on simulated fat trees of 2 to 8 nodes of 16.
  constexpr double cost_of_steps = 4;
  const double near_cost = context.profile().near_cost;
  const auto cost = [near_cost](double n_near, std::size_t n_far) {
    return near_cost * n_near + static_cast<double>(n_far);
  };
  const auto n_near = static_cast<double>(plan.near.size());
  const auto n_passed_on = 2 * static_cast<double>(plan.locals.size());
  std::array<double, 2> costs{cost(n_near, plan.far.size()),
                              cost(n_near + n_passed_on + cost_of_steps, plan.peers.size())};
  mpi::all_reduce(context, std::span<double>(costs), MPI_MAX);
  return costs[1] < costs[0];
}

}  // namespace barrio::exchange::detail
