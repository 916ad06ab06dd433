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

/// What the parts of a case are parts of.
enum class Shape { wing, box, scrambled };

/// A mesh in parts, and a machine.
struct Case {
  std::string part;  ///< of the benchmark: paper, goals, zoltan, more, large, huge
  Shape shape = Shape::wing;
  Cut cut = Cut::scattered;
  int n_parts = 0;
  std::string machine;
  std::optional<EvenTree> tree;  ///< the machine for peers; they know no tori
  std::vector<double> seconds;   ///< barrio's time to search, in runs of their own

  [[nodiscard]] std::string name() const;
};

/// All cases of these parts.
std::vector<Case> cases_of(const std::vector<std::string>& parts);

/// Make their traffic; meshes are made once, and kept.
class Workshop {
 public:
  rankmap::TrafficMatrix make(mpi::Context& context, const Case& one);

 private:
  std::optional<PointGrid> wing_, box_;
};

}  // namespace barrio::bench
