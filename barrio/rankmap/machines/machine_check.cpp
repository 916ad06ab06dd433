#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "barrio/base/assert.hpp"
#include "barrio/base/error.hpp"
#include "barrio/rankmap/machine.hpp"

namespace barrio::rankmap {
namespace {

std::string wrong_way_round(double inner, double outer, std::string_view inside, std::string_view outside) {
  return fmt::format(
      "the distances look as if they were the wrong way round: {:.4g} {}, {:.4g} {}; those of a tree are given from "
      "the "
      "inside out, as in 1:10",
      inner, inside, outer, outside);
}

}  // namespace

void Machine::set_core_costs(std::vector<double> costs) {
  BARRIO_ASSERT(cheap, is_dense());
  if (costs.size() != group_of_.size() ||
      !std::ranges::all_of(costs, [](double cost) { return std::isfinite(cost) && cost >= 0.0; }))
    throw Error(ErrorCode::usage, {.subject = "costs of cores",
                                   .cause = fmt::format("are {}, or one is not a number >= 0", costs.size()),
                                   .remedy = fmt::format("give {}, one for each core", group_of_.size())});
  core_costs_ = std::move(costs);
}

std::string Machine::fault_of_distances() const {
  if (kind_ == Kind::tree) {
    // The distance of a level that joins nothing never occurs.
    std::vector<std::size_t> n_branches{group_of_.size(), at(n_groups())};
    for (const std::vector<int>& begins : branch_begin_) n_branches.push_back(begins.size() - 1);
    n_branches.push_back(1);
    const double* inner = nullptr;
    for (std::size_t level = 0; level < distances_.size(); ++level) {
      if (n_branches[level] == n_branches[level + 1]) continue;
      if (inner != nullptr && distances_[level] < *inner)
        return wrong_way_round(*inner, distances_[level], "on an inner level", "on the next one outside");
      inner = &distances_[level];
    }
    return {};
  }
  if (n_nodes() < 2 || n_nodes() == n_cores()) return {};
  if (kind_ == Kind::torus)
    return distances_[1] < distances_[0]
               ? wrong_way_round(distances_[0], distances_[1], "inside a node", "from node to node")
               : std::string();
  double inside = 0.0, between = 0.0, n_inside = 0.0, n_between = 0.0;
  for (int core = 0; core < n_cores(); ++core) {
    for (int other = 0; other < core; ++other) {
      const bool is_inside = node_of(core) == node_of(other);
      (is_inside ? inside : between) += distance(core, other);
      (is_inside ? n_inside : n_between) += 1;
    }
  }
  return between / n_between < inside / n_inside
             ? wrong_way_round(inside / n_inside, between / n_between, "inside nodes in the mean", "between nodes")
             : std::string();
}

}  // namespace barrio::rankmap
