#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "barrio/base/ids.hpp"
#include "benchmarks/exchange/work.hpp"

namespace barrio::bench {

/// Base of all gather-scatters: the vertices of one block of a box of cells, one block per rank.
class BlockVertices : public Worker {
 public:
  explicit BlockVertices(mpi::Context& context);
  void prepare(std::uint64_t n) override;
  void fill(std::uint64_t salt) override;
  bool is_right(std::uint64_t salt) override;
  [[nodiscard]] int n_in_a_row() const override { return 10; }  // sums of integers stay below 2^53

 protected:
  static constexpr int n_cells = 64;  // along each axis of the box
  /// Return the ranks that share a vertex, ascending.
  [[nodiscard]] std::vector<Rank> sharers_of(GlobalId vertex) const;

  mpi::Context& context_;
  std::vector<GlobalId> ids_;  // x fastest
  std::size_t n_components_ = 0;
  std::vector<double> values_;

 private:
  struct Range {
    int first, last;  // blocks along an axis
  };
  [[nodiscard]] Range blocks_at(int axis, int vertex) const;
  [[nodiscard]] static double value_of(Rank rank, GlobalId vertex, std::size_t component, std::uint64_t salt);
  std::array<int, 3> grid_{1, 1, 1};  // of blocks
};

}  // namespace barrio::bench
