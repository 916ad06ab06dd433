#pragma once

#include <vector>

#include "barrio/mpi/collectives.hpp"

namespace barrio::test {

/// Gather all ranks' items, in rank order, on every rank. Collective. For oracles that need the whole.
template <class T>
std::vector<T> collect(mpi::Context& context, const std::vector<T>& mine) {
  std::vector<T> all;
  for (Rank root = 0; root < context.size(); ++root) {
    std::vector<T> copy = mine;
    mpi::broadcast(context, copy, root);
    all.insert(all.end(), copy.begin(), copy.end());
  }
  return all;
}

}  // namespace barrio::test
