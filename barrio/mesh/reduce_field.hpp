#pragma once

/// @file Reduction of a field over the sharers of each entity.

#include <algorithm>
#include <limits>

#include "barrio/exchange/halo.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh {

/// Return the neutral element of a reduction.
template <class T>
constexpr T neutral(exchange::Reduction reduction) noexcept {
  using Limits = std::numeric_limits<T>;
  switch (reduction) {
    case exchange::Reduction::min: return Limits::has_infinity ? Limits::infinity() : Limits::max();
    case exchange::Reduction::max: return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    case exchange::Reduction::sum:
    case exchange::Reduction::any: return T{};
  }
  return T{};
}

/// Combine the values that the sharers of each entity hold, and give the result to all of them and to all ghosts. A
/// finite element code does this with its own cells' contributions to vertices. All ranks take part; messages go to
/// neighbours only. Values held by ghosts do not count.
/// @param halo  of the field, not between begin and end
/// Cost: one message to each owner and one back; O(copies). Sums of reals add the owner's value first, then those of
/// the other sharers by ascending rank.
template <class T>
void reduce_over_sharers(const Mesh& mesh, const Field<T>& field, exchange::HaloExchange<T>& halo,
                         exchange::Reduction reduction) {
  const std::size_t width = field.n_components();
  const std::vector<LocalId>& shared = mesh.sharing(field.dim()).shared;
  auto next = std::ranges::lower_bound(shared, local_id(mesh.n_owned(field.dim())));
  for (std::size_t i = mesh.n_owned(field.dim()); i < mesh.n_local(field.dim()); ++i) {
    if (next != shared.end() && *next == local_id(i)) {
      ++next;
    } else {
      std::ranges::fill(field.values().subspan(i * width, width), neutral<T>(reduction));
    }
  }
  halo.reduce(reduction);
  halo.exchange();
}

}  // namespace barrio::mesh
