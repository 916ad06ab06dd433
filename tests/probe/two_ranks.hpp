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

/// Whether something that is measured comes out right at least once: other work on the host may disturb it. Both sides
/// of the pair.
inline bool in_one_of_four(Pair& pair, const std::function<bool()>& is_right) {
  for (int attempt = 0; attempt < 4; ++attempt)
    if (pair.max(is_right() ? 0.0 : 1.0) == 0.0) return true;
  return false;
}

}  // namespace barrio::probe::test
