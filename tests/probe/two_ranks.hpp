#pragma once

#include <functional>
#include <optional>

#include "barrio/probe/experiments/overlap.hpp"
#include "barrio/probe/experiments/pair.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::probe::test {

/// Call `body` on the two ranks of a pair, while the others sleep. Does nothing on one rank. Collective.
inline void on_pair(const std::function<void(Pair&)>& body) {
  if (barrio::test::world().size() < 2) return;
  Pair pair(barrio::test::world());
  if (pair.takes_part()) body(pair);
  rest(barrio::test::world(), pair);
}

/// Tell whether a measurement is right in one of four attempts. Attempts while other work uses the cores do not count,
/// for at most 15 s. Both sides of the pair.
inline bool in_one_of_four(Pair& pair, const std::function<bool()>& is_right) {
  constexpr double max_seconds = 15.0;
  constexpr double max_lost = 0.02;
  constexpr int n_attempts = 4;
  const double start = pair.now();
  for (int n_failed = 0; n_failed < n_attempts;) {
    if (pair.max(is_right() ? 0.0 : 1.0) == 0.0) return true;
    if (find_lost_time(pair) < max_lost || pair.max(pair.now() - start) > max_seconds) ++n_failed;
  }
  return false;
}

}  // namespace barrio::probe::test
