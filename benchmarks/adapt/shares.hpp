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

/// What time goes to, in either way of adapting.
enum class Share : std::uint8_t {
  modification,  ///< cavities
  exchange,      ///< what is told of cavities that others see
  migration,     ///< cells that go to where their cavity is, and what is agreed on for that
  waiting,       ///< for ranks that are still at their cavities
  view,          ///< making the kernel's view of the mesh, and the mesh again
  balance,
  rest,
};
inline constexpr std::size_t n_shares = 7;

/// Watch a call on all ranks: where its time goes, and what it sends. Records events while it lives.
class Watch {
 public:
  /// Collective.
  explicit Watch(mpi::Context& context);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  /// Say what there was since, and what the mesh is like at the boundaries of its parts. Collective.
  [[nodiscard]] Json result(const mesh::Mesh& mesh) const;

 private:
  [[nodiscard]] std::array<double, n_shares> seconds_of_shares() const;

  mpi::Context& context_;
  Trace::Mode mode_;
  std::size_t n_events_before_;
  mpi::Counters before_;
};

}  // namespace barrio::bench
