#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/base/trace.hpp"
#include "barrio/mesh/mesh.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::bench {

/// Categories of time, for both methods of adaptation.
enum class Share : std::uint8_t {
  modification,  ///< cavities
  exchange,      ///< messages on cavities that other ranks see
  migration,     ///< migration of cells to the rank of their cavity, with the agreement on it
  waiting,       ///< for ranks that still work on their cavities
  view,          ///< conversion between the mesh and the kernel's view
  balance,
  rest,
};
inline constexpr std::size_t n_shares = 7;

/// Measures a call on all ranks: its time by category, and its messages. Records events during its lifetime.
class Watch {
 public:
  /// Start to measure. Collective.
  explicit Watch(mpi::Context& context);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  /// Return the measurements since the start, and figures of the part boundaries. Collective.
  [[nodiscard]] Json result(const mesh::Mesh& mesh) const;

 private:
  [[nodiscard]] std::array<double, n_shares> seconds_of_shares() const;

  mpi::Context& context_;
  Trace::Mode mode_;
  std::size_t n_events_before_;
  mpi::Counters before_;
};

}  // namespace barrio::bench
