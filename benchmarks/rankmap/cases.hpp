#pragma once

#include <optional>
#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"
#include "barrio/rankmap/machine.hpp"
#include "barrio/rankmap/traffic.hpp"
#include "benchmarks/rankmap/instances.hpp"
#include "benchmarks/rankmap/peers.hpp"

namespace barrio::bench {

/// The mesh of a case.
enum class Shape { wing, box, scrambled };

/// A mesh in parts, and a machine.
struct Case {
  std::string part;  ///< of the benchmark: paper, goals, zoltan, more, large, huge
  Shape shape = Shape::wing;
  Cut cut = Cut::scattered;
  int n_parts = 0;
  std::string machine;
  std::optional<EvenTree> tree;  ///< the machine for peers, which do not support tori
  std::vector<double> seconds;   ///< time limits of barrio's search, a run for each

  [[nodiscard]] std::string name() const;
};

/// Return all cases of these parts.
std::vector<Case> cases_of(const std::vector<std::string>& parts);

/// Makes the traffic of cases; meshes are made once and kept.
class Workshop {
 public:
  rankmap::TrafficMatrix make(mpi::Context& context, const Case& one);

 private:
  std::optional<PointGrid> wing_, box_;
};

}  // namespace barrio::bench
