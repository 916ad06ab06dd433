#pragma once

#include <functional>
#include <optional>

#include "barrio/probe/pair.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::probe::test {

/// Do something with a pair, on its two ranks; nothing with one rank. Collective.
inline void on_pair(const std::function<void(Pair&)>& body) {
  if (barrio::test::world().size() < 2) return;
  Pair pair(barrio::test::world());
  if (pair.takes_part()) body(pair);
}

}  // namespace barrio::probe::test
