#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "barrio/rankmap/assignment.hpp"

namespace barrio::rankmap::detail {

/// A placement in the form that searches change. Vertices are the ranks, followed by one silent vertex for each free
/// core, so every move is an exchange of two vertices.
class Seats {
 public:
  /// @param[in] is_fixed  by rank, whether it stays where it is; empty: no rank is fixed
  Seats(const Machine& machine, const Placement& placement, const std::vector<bool>& is_fixed = {})
      : machine_(&machine), n_ranks_(placement.n_ranks()), is_fixed_(is_fixed) {
    core_of_.assign(placement.core_of_rank().begin(), placement.core_of_rank().end());
    vertex_at_.resize(machine.n_cores());
    for (int core = 0; core < machine.n_cores(); ++core) {
      int vertex = placement.rank_at(core);
      if (vertex == no_rank) {
        vertex = static_cast<int>(core_of_.size());
        core_of_.push_back(core);
      }
      vertex_at_[at(core)] = vertex;
    }
    for (const int core : core_of_) group_of_.push_back(machine.group_of(core));
    is_fixed_.resize(core_of_.size(), false);
  }

  [[nodiscard]] int n_ranks() const noexcept { return n_ranks_; }
  [[nodiscard]] int n_vertices() const noexcept { return static_cast<int>(core_of_.size()); }
  [[nodiscard]] bool is_rank(int vertex) const noexcept { return vertex < n_ranks_; }
  [[nodiscard]] bool is_fixed(int vertex) const noexcept { return is_fixed_[at(vertex)]; }
  [[nodiscard]] int core_of(int vertex) const noexcept { return core_of_[at(vertex)]; }
  [[nodiscard]] int group_of(int vertex) const noexcept { return group_of_[at(vertex)]; }
  [[nodiscard]] int vertex_at(int core) const noexcept { return vertex_at_[at(core)]; }

  void exchange(int vertex, int other) noexcept {
    std::swap(core_of_[at(vertex)], core_of_[at(other)]);
    std::swap(group_of_[at(vertex)], group_of_[at(other)]);
    std::swap(vertex_at_[at(core_of_[at(vertex)])], vertex_at_[at(core_of_[at(other)])]);
  }

  [[nodiscard]] Placement placement() const {
    return {{core_of_.begin(), core_of_.begin() + n_ranks_}, machine_->n_cores()};
  }

 private:
  static std::size_t at(int i) noexcept { return i; }
  const Machine* machine_;
  int n_ranks_;
  std::vector<int> core_of_, group_of_, vertex_at_;
  std::vector<bool> is_fixed_;
};

}  // namespace barrio::rankmap::detail
